/** The comparison on large rows, on small ones. It runs as built, because it is a program. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { execPath } from "node:process";
import { expect, it } from "vitest";
import { drawLarge } from "../../src/large/rows.ts";

const program = resolve(import.meta.dirname, "../../dist/large/large.js");

it.skipIf(!existsSync(program))("finds no difference (needs npm run build)", () => {
  const args = ["--gigabytes", "0.002", "--features", "200", "--filters", "20", "--sample", "50"];
  const report = JSON.parse(execFileSync(execPath, [program, ...args], { encoding: "utf8", stdio: "pipe" }));
  expect(report).toMatchObject({ rows: 2684, features: 200, sample: 50, wrong: [] });
  expect(report.wasm.digest).toBe(report.threads.digest);
});

it("draws the same rows again, and rows of a larger matrix begin with those of a smaller one", () => {
  const few = drawLarge(100, 12, 3);
  expect(drawLarge(5000, 12, 3).subarray(0, few.length)).toEqual(few);
  expect(drawLarge(100, 12, 4)).not.toEqual(few);
});
