#!/usr/bin/env node

/**
 * The command as npm links it. It is committed, so that it exists when a clone is installed; what it runs is built. In a
 * clone that was not built yet, the first call builds, and the first `play` the page.
 */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const workspace = here("../../..");
const isClone = existsSync(here("../src/bin.ts"));

// The bundles are the last thing the build makes.
const built = [here("../dist/bin.js"), here("../../data/dist/bundle/node.js")];
if (isClone && !built.every((file) => existsSync(file)))
  build("build:code", "building for the first time, about half a minute");
const [command, ...rest] = process.argv.slice(2);
const isPlay = command === "play" && !rest.some((flag) => flag === "--help" || flag === "-h");
if (isClone && isPlay && !existsSync(here("../dist/playground/index.html")))
  build("build:playground", "building the page for the first time");

await import("../dist/bin.js");

/** What the build prints is no result of the command: it goes to standard error. */
function build(script, doing) {
  process.stderr.write(`ranksim: ${doing}\n`);
  const { status } = spawnSync("npm", ["run", "--silent", script], {
    cwd: workspace,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (status === 0) return;
  process.stderr.write("ranksim: the build failed; run: npm ci && npm run build\n");
  process.exit(1);
}
