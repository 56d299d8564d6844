/** Results on disk: found again by what decides them, of several runs the median and the range, written whole. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { keyOf, medianOf, Results, type RowName, summarize } from "../../src/runner/results.ts";
import { measureRows, type Planned } from "../../src/runner/turns.ts";

const row = (seed: number): RowName => ({ name: `seed ${seed}`, spec: { data: "fashion", params: { seed } } });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ranksim-results-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("tells rows apart by every value of their specification, not by the order of its keys", () => {
  expect(keyOf({ name: "another", spec: { params: { seed: 3 }, data: "fashion" } })).toBe(keyOf(row(3)));
  expect(keyOf(row(4))).not.toBe(keyOf(row(3)));
  expect(keyOf({ name: "a" })).not.toBe(keyOf({ name: "b" }));
});

it("keeps the median and the range of several runs, one number where they agree", () => {
  const runs = [3, 1, 2, 10].map((fit) => ({ figures: { fit, f1: 0.5 }, facts: { filters: fit } }));
  const found = summarize(row(0), "1234567", runs);
  expect(found).toMatchObject({ runs: 4, commit: "1234567", figures: { fit: [2.5, 1, 10], f1: 0.5 } });
  expect(found.facts).toEqual({ filters: 3 });
  expect([medianOf(found, "fit"), medianOf(found, "f1"), medianOf(found, "none")]).toEqual([2.5, 0.5, undefined]);
});

describe("Results", () => {
  it("finds in a later session what an earlier one wrote, whichever table it was for", () => {
    const first = new Results(folder);
    first.put(summarize(row(1), "1234567", [{ figures: { f1: 0.875 } }]));
    first.write("figure-9", "A figure", [row(0), row(1)], "a machine");
    expect(readdirSync(folder)).toEqual(["figure-9.json"]);

    const second = new Results(folder);
    expect(second.find(row(0))).toBeUndefined();
    expect(second.find(row(1))?.figures.f1).toBe(0.875);
    expect(second.machine("figure-9")).toBe("a machine");
    second.write("figure-8", "Another", [{ ...row(1), name: "its name there" }], undefined);
    const file = JSON.parse(readFileSync(join(folder, "figure-8.json"), "utf8"));
    expect(file).toMatchObject({ title: "Another", rows: [{ name: "its name there", figures: { f1: 0.875 } }] });
  });

  it("leaves no file for a table without results", () => {
    new Results(folder).write("figure-9", "A figure", [row(0)], undefined);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("measureRows", () => {
  const said: string[] = [];
  beforeEach(() => said.splice(0));
  const planned = (name: string, runs: number, figure: (run: number) => number): Planned => ({
    table: "table",
    name,
    runs,
    measure: async (run) => {
      said.push(`${name} ${run}`);
      return { figures: { figure: figure(run) } };
    },
  });
  const measure = (rows: readonly Planned[], more: object = {}) =>
    measureRows({ results: new Results(folder), titles: { table: "A table" }, all: rows, chosen: rows, ...more });

  it("goes in turns through the rows, late ones last, and not again to those that are there", async () => {
    const rows = [
      { ...planned("late", 1, () => 0), late: true },
      planned("a", 2, (run) => run),
      planned("b", 1, () => 7),
    ];
    await measure(rows);
    expect(said).toEqual(["a 0", "b 0", "late 0", "a 1"]);
    expect(new Results(folder).rows("table").map(({ name, figures }) => [name, figures.figure])).toEqual([
      ["late", 0],
      ["a", [0.5, 0, 1]],
      ["b", 7],
    ]);
    await measure(rows);
    expect(said).toHaveLength(4);
  });

  it("goes on where a session was stopped", async () => {
    const stopped = planned("a", 3, (run) => run);
    const measureOne = stopped.measure;
    // The process is gone in its second run: nothing comes back.
    const gone = new Promise<never>(() => {});
    const isGone = new Promise<void>((resolve) => {
      void measure([
        {
          ...stopped,
          measure: async (run) => {
            const found = await measureOne(run);
            if (run === 0) return found;
            resolve();
            return gone;
          },
        },
      ]);
    });
    await isGone;
    await measure([planned("a", 3, (run) => run)]);
    expect(said).toEqual(["a 0", "a 1", "a 1", "a 2"]);
    expect(new Results(folder).find({ name: "a" })?.figures.figure).toEqual([1, 0, 2]);
    expect(readdirSync(folder)).toEqual(["table.json"]);
  });

  it("says why a row has no result, tries it again later, and keeps what was there before", async () => {
    const failing = planned("a", 2, () => {
      throw new Error("no such package");
    });
    await measure([failing]);
    expect(new Results(folder).find({ name: "a" })).toMatchObject({ runs: 0, failure: "no such package" });
    await measure([planned("a", 1, () => 3)]);
    expect(new Results(folder).find({ name: "a" })).toMatchObject({ runs: 1, figures: { figure: 3 } });
    const results = new Results(folder);
    results.put({ ...(results.find({ name: "a" }) as never as object), commit: "0000000" } as never);
    results.write("table", "A table", [failing], undefined);
    await measure([failing], { again: true });
    expect(new Results(folder).find({ name: "a" })).toMatchObject({ runs: 1, commit: "0000000" });
  });
});
