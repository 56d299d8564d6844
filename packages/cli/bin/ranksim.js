#!/usr/bin/env node

/**
 * The command as npm links it. It is committed, so that it exists when a clone is installed; what it runs is built. In a
 * clone that was not built yet, the first call builds.
 */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const workspace = here("../../..");
const isClone = existsSync(here("../src/bin.ts"));

// The bundles are the last thing the build makes.
const built = [here("../dist/bin.js"), here("../../data/dist/bundle/node.js")];
if (isClone && !built.every((file) => existsSync(file))) build();

await import("../dist/bin.js");

/** What the build prints is no result of the command: it goes to standard error. */
function build() {
  process.stderr.write("ranksim: building for the first time, about half a minute\n");
  const { status } = spawnSync("npm", ["run", "--silent", "build:code"], {
    cwd: workspace,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (status === 0) return;
  process.stderr.write("ranksim: the build failed; run: npm ci && npm run build\n");
  process.exit(1);
}
