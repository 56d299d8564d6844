/** All packages can be published as they are: npm packs each and stops before it would send it. */

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };

const root = resolve(import.meta.dirname, "../../..");
const script = join(root, "scripts/publish.mjs");
const built = existsSync(join(root, "packages/cli/dist/index.js"));

test.runIf(built)("npm publish --dry-run takes every package", () => {
  const printed = execFileSync(process.execPath, [script, `v${manifest.version}`, "--dry-run"], { encoding: "utf8" });
  const names = Array.from(printed.matchAll(/^\+ (\S+)@/gm), ([, name]) => name);
  expect(names.at(-1)).toBe("ranksim");
  expect(new Set(names).size).toBe(8);
});

test("a tag of another version is refused", () => {
  const { status, stderr } = spawnSync(process.execPath, [script, "v0.0.1"], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toContain(`expected the tag v${manifest.version}`);
});
