/** The benchmark on small parts. It runs as built, because every measurement is a process of its own. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execPath } from "node:process";
import { afterAll, describe, expect, it } from "vitest";
import { ROWS } from "../../src/bench/rows.ts";
import { dataFolder } from "../../src/runner/machine.ts";
import { Results } from "../../src/runner/results.ts";

const bench = resolve(import.meta.dirname, "../../dist/bench/bench.js");
const folder = mkdtempSync(join(tmpdir(), "ranksim-bench-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe.skipIf(!existsSync(bench))("the built program (needs npm run build)", () => {
  const run = (...args: string[]) => execFileSync(execPath, [bench, ...args], { encoding: "utf8", stdio: "pipe" });

  it("measures what is at hand and says what is not", { timeout: 300_000 }, () => {
    const works = ["read", "start-up", "serve", "overload"];
    const printed = run("--quick", "--results", folder, ...works.flatMap((work) => ["--only", work]));
    const rows = new Results(folder).rows("bench");
    const planned = ROWS.filter(({ work }) => works.includes(work));
    expect(rows.map(({ name }) => name)).toEqual(planned.map(({ system }) => system));
    for (const { name, runs, failure } of rows) {
      expect({ name, isKnown: runs === 1 || /not at hand/.test(failure ?? "") }).toEqual({
        name,
        isKnown: true,
      });
      expect(printed).toContain(`| ${name} |`);
    }
    expect(dataFolder(undefined) === undefined || rows.some(({ figures }) => "requests" in figures)).toBe(true);
  });

  it("counts the functions and own files of a prediction", () => {
    const found = /runs (\d+) functions of (\d+) own files/.exec(run("functions"));
    expect(Number(found?.[1])).toBeGreaterThan(100);
    expect(Number(found?.[2])).toBeGreaterThan(30);
    expect(Number(found?.[1])).toBeGreaterThan(Number(found?.[2]));
  });
});
