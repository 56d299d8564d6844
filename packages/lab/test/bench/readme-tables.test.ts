/** The tables in the README files are what the generator makes of the committed results. */

import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { growthPlots } from "../../src/bench/plots.ts";
import { withTables } from "../../src/bench/readme.ts";
import type { BenchResults } from "../../src/bench/results.ts";
import { allTables, frontPage } from "../../src/bench/tables.ts";

const lab = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(lab, path), "utf8");
const results = JSON.parse(read("results/bench.json")) as BenchResults;

describe("committed results", () => {
  it("are of a whole session", () => {
    expect(results.quick).toBe(false);
  });

  it.each([
    ["README.md", allTables],
    ["../../README.md", frontPage],
  ])("are what %s shows", (path, tables) => {
    expect(withTables(read(path), tables(results))).toBe(read(path));
  });

  it("are what the plots show", () => {
    const plots = growthPlots(results);
    expect(plots.length).toBe(3);
    for (const { name, svg } of plots) {
      expect(existsSync(join(lab, "results", name))).toBe(true);
      expect(read(`results/${name}`)).toBe(svg);
    }
  });
});
