/** Results on disk: found again by their specification, shared between figures, written whole. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Experiment } from "../../src/paper/experiment.ts";
import { keyOf, type Point, type PointResult } from "../../src/paper/spec.ts";
import { Store } from "../../src/paper/store.ts";

const point = (seed: number): Point => ({
  name: `seed ${seed}`,
  spec: { data: "fashion", rows: { seed: 0 }, task: "fit", system: "rsc", params: { seed } },
});
const result = (seed: number, macroF1: number): PointResult => ({
  name: "another name",
  spec: point(seed).spec,
  measured: { macroF1, cpu: 1 },
  date: "2000-01-01",
  commit: "0000000",
});
const experiment = (panels: string[]): Experiment => ({
  panels,
  title: "a figure",
  points: () => [point(0), point(1)],
  section: () => ({ text: "", plots: [], claims: [] }),
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ranksim-store-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("keyOf", () => {
  it("does not depend on the order of keys, and depends on every value", () => {
    const { spec } = point(3);
    expect(keyOf({ ...spec, rows: spec.rows })).toBe(keyOf(JSON.parse(JSON.stringify(spec))));
    const turned = { params: { seed: 3 }, system: "rsc", task: "fit", rows: { seed: 0 }, data: "fashion" } as const;
    expect(keyOf(turned)).toBe(keyOf(spec));
    expect(keyOf(point(4).spec)).not.toBe(keyOf(spec));
    expect(keyOf({ ...turned, rows: { seed: 0, trainParts: 2 } })).not.toBe(keyOf(spec));
  });
});

describe("Store", () => {
  it("finds in a later session what an earlier one wrote, whichever figure it was for", () => {
    const first = new Store(folder);
    first.put(result(1, 0.875));
    first.write(experiment(["figure-9a", "figure-9b"]), [point(0), point(1)]);
    expect(readdirSync(folder)).toEqual(["figure-9ab.json"]);

    const second = new Store(folder);
    expect(second.find(point(0))).toBeUndefined();
    expect(second.find(point(1))?.measured?.macroF1).toBe(0.875);
    second.write(experiment(["figure-8"]), [point(1)]);
    const file = JSON.parse(readFileSync(join(folder, "figure-8.json"), "utf8"));
    expect(file.points).toMatchObject([{ name: "seed 1", measured: { macroF1: 0.875 } }]);
  });

  it("leaves no file behind for a figure without results, and no temporary file", () => {
    const store = new Store(folder);
    store.write(experiment(["figure-9"]), [point(0)]);
    store.writeNumbers(experiment(["figure-9"]), { x: [1, 2] });
    expect(readdirSync(folder)).toEqual(["figure-9.numbers.json"]);
    expect(new Store(folder).find(point(0))).toBeUndefined();
  });
});
