/** Very wide sparse matrices: the same answers as the plain loops, with memory by what is stored, up to the limit and not beyond. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import {
  Csr,
  Dense,
  loadModel,
  MOST_FEATURES,
  openBackend,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RanksimError,
  saveModel,
} from "@ranksim/core";
import { describe, expect, it } from "vitest";
import { meanFilter } from "../../src/bank/bank.ts";
import { rankSums } from "../../src/kernels/rank-sums.ts";
import type { Groups } from "../../src/kernels/shapes.ts";
import { topFilters, topRows } from "../../src/kernels/top.ts";
import { drawBelow, generatorOf } from "../../src/random.ts";
import { platforms } from "../platforms.ts";
import { meanResponses, rankSumsOn, topFiltersOn, topRowsOn } from "./handles.ts";
import { readRows } from "./read-rows.ts";

/** Rows of up to 20 entries among some 60 features that lie anywhere below `features`, the last one among them. */
function wideRows(rows: number, features: number, seed: number, value: (below: (n: number) => number) => number): Csr {
  const generator = generatorOf(seed);
  const below = (n: number): number => drawBelow(generator, n);
  const used = [features - 1, ...Array.from({ length: 60 }, () => below(features))];
  return Csr.fromRows(
    Array.from({ length: rows }, () => {
      const entries = new Map(Array.from({ length: below(20) }, () => [used[below(used.length)], value(below)]));
      return [...entries];
    }),
    features,
  );
}

const KINDS = {
  counts: (below: (n: number) => number) => 1 + below(9),
  "whole numbers of both signs": (below: (n: number) => number) => below(9) - 4,
  fractions: (below: (n: number) => number) => (below(2 ** 24) - 2 ** 23) / 7919,
};

const groups: Groups = {
  offsets: Uint32Array.of(0, 1, 4, 5, 12, 12, 40, 41, 44),
  rows: Uint32Array.from({ length: 44 }, (_, e) => (e * 7) % 50),
};
for (let g = 0; g + 1 < groups.offsets.length; g++)
  groups.rows.subarray(groups.offsets[g], groups.offsets[g + 1]).sort();

describe.each(platforms)("wide rows on $title", ({ open }) => {
  // Just above the width where features without entries are left out: here the plain loops still fit.
  it.each(Object.entries(KINDS))("answer as the plain loops do: %s", async (_, value) => {
    const features = 2 ** 20 + 3;
    const x = wideRows(50, features, 1, value);
    const backend = await open();
    const held = await backend.hold(x);
    const distribution = Float64Array.from({ length: features }, (_, r) => Math.sqrt(r) / 3);
    for (const drawn of [undefined, distribution]) {
      const bank = rankSums(x, groups, drawn);
      expect(await rankSumsOn(held, groups, drawn)).toEqual(bank);
      expect(await topFiltersOn(held, bank, 3)).toEqual(topFilters(x, bank, 3));
      const mean = topFilters(x, meanFilter(bank), 1);
      expect(await topFiltersOn(held, meanFilter(bank), 1)).toEqual(mean);
      const few = Uint32Array.of(1, 3, 5);
      const divisors = meanResponses(x, bank);
      expect(await topRowsOn(held, bank, few, 4)).toEqual(topRows(x, bank, few, 4, divisors));
    }
    held.release();
    await backend.close();
  });

  it("may have no entries at all", async () => {
    const x = Csr.fromRows([[], []], 2 ** 20 + 3);
    const backend = await open();
    const held = await backend.hold(x);
    const each: Groups = { offsets: Uint32Array.of(0, 1, 2), rows: Uint32Array.of(0, 1) };
    const bank = rankSums(x, each, undefined);
    expect(await rankSumsOn(held, each)).toEqual(bank);
    expect(await topFiltersOn(held, bank, 2)).toEqual(topFilters(x, bank, 2));
    held.release();
    await backend.close();
  });

  it.each([RankSimilarityClassifier, RankSimilarityProbabilisticClassifier])(
    "answer as the same rows written out do, in one model: %o",
    async (Recipe) => {
      const x = wideRows(30, 2 ** 20 + 3, 5, KINDS.counts);
      const labels = Array.from({ length: 30 }, (_, r) => r % 3);
      const backend = await open();
      const model = await new Recipe({ filters: 9 }).fit(x, labels, { backend });
      const sparse = await model.predictProbabilities(x, { backend });
      const written = new Float32Array(2 * x.features);
      for (const r of [0, 1]) {
        for (let e = x.offsets[r]; e < x.offsets[r + 1]; e++) written[r * x.features + x.indices[e]] = x.values[e];
      }
      const dense = await model.predictProbabilities(Dense.of(written, 2, x.features), { backend });
      expect([...dense.values]).toEqual([...sparse.values.subarray(0, 6)]);
      await backend.close();
    },
  );

  it("train, predict, explain and save at the greatest width", async () => {
    const x = wideRows(60, MOST_FEATURES, 4, KINDS.counts);
    const labels = Array.from({ length: 60 }, (_, r) => r % 3);
    const backend = await open();
    const model = await new RankSimilarityClassifier({ filters: 12 }).fit(x, labels, { backend });
    const predicted = await model.predict(x, { backend });
    const { contributions } = await model.explain(x, 7, { backend });
    const stored = await saveModel(await loadModel(await saveModel(model)));
    const plain = await openBackend("reference");
    const reference = await new RankSimilarityClassifier({ filters: 12 }).fit(x, labels, { backend: plain });
    expect(stored).toEqual(await saveModel(reference));
    // A block has some of the rows, and of the features.
    const streamed = await new RankSimilarityClassifier({ filters: 12 }).fit(readRows(x, 2000), labels, { backend });
    expect(await saveModel(streamed)).toEqual(stored);
    expect(await model.predict(readRows(x, 2000), { backend })).toEqual(predicted);
    expect(predicted).toEqual(await reference.predict(x, { backend: plain }));
    const own = x.gather([7]);
    for (const { feature, value } of contributions) expect(own.values[own.indices.indexOf(feature)]).toBe(value);
    expect(contributions.length).toBeGreaterThan(0);
    await backend.close();
  });
});

describe("the limit on features", () => {
  it("is one for matrices of either form", () => {
    const of = (features: number) =>
      Csr.of(Uint32Array.of(0, 1), Uint32Array.of(features - 1), Uint8Array.of(1), features);
    expect(of(MOST_FEATURES).features).toBe(2 ** 26);
    for (const make of [
      () => of(MOST_FEATURES + 1),
      () => of(2 ** 32 - 1),
      () => Dense.of(new Uint8Array(0), 0, 2 ** 29),
    ]) {
      expect(make).toThrow(RanksimError);
      expect(make).toThrow(/expected at most 67108864 features, found \d+/);
    }
    expect(() => Csr.fromRows([[[2 ** 29, 1]]], 2 ** 30)).toThrow(/at most 67108864/);
  });
});

const BUILT = new URL("../../dist/index.js", import.meta.url);

describe.skipIf(!existsSync(BUILT))("memory of the built package (npm run build:code)", () => {
  /** The peak, in bytes, of a process that trains on sparse rows, predicts and explains, in memory and where rows are read. */
  const peak = (backend: string, features: number): number =>
    Number(
      execFileSync(process.execPath, [
        "--input-type=module",
        "-e",
        `import { Csr, RankSimilarityClassifier, loadModel, openBackend, saveModel } from ${JSON.stringify(BUILT.href)};
         const rows = Array.from({ length: 60 }, (_, r) => [r % 7, r % 11, r].map((i) => [(i + 1) * ${features / 64} - 1, 1 + (r % 5)]));
         const x = Csr.fromRows(rows, ${features});
         const read = (x) => ({
           form: x.form, rows: x.rows, features: x.features, entries: x.entries, valueBytes: x.valueBytes, room: 2000,
           *blocks() { for (let r = 0; r < x.rows; r += 20) yield x.slice(r, r + 20); },
           gather: (rows) => x.gather(rows),
           slice: (from, to) => read(x.slice(from, to)),
         });
         const backend = await openBackend("${backend}");
         const model = await new RankSimilarityClassifier({ filters: 12 }).fit(x, rows.map((_, r) => r % 3), { backend });
         const loaded = await loadModel(await saveModel(model));
         await loaded.predict(x, { backend });
         await loaded.predictProbabilities(x, { backend });
         await loaded.explain(x, 7, { backend });
         await new RankSimilarityClassifier({ filters: 12 }).fit(read(x), rows.map((_, r) => r % 3), { backend });
         await loaded.predict(read(x), { backend });
         await backend.close();
         console.log(1024 * process.resourceUsage().maxRSS);`,
      ]),
    );

  it.each(["reference", "wasm", "threads"])("goes by what is stored, not by the width, on %s", (backend) => {
    // One 8-byte number for each feature would take 512 MiB.
    expect(peak(backend, MOST_FEATURES) - peak(backend, 64 * 50)).toBeLessThan(64 * 2 ** 20);
  });
});
