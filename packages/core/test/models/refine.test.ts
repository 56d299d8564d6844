/** Refinement and committees as users meet them: what is promised about held-out rows, about files, and about every back end. */

import {
  type ClassifierModel,
  Csr,
  Dense,
  loadModel,
  openBackend,
  type Progress,
  RankSimilarityClassifier,
  saveModel,
  toCsr,
} from "@ranksim/core";
import { describe, expect, it } from "vitest";
import { topFilters } from "../../src/kernels/top.ts";
import { drawBelow, drawUnit, generatorOf } from "../../src/random.ts";
import { platforms } from "../platforms.ts";

const FEATURES = 30;
const NAMES = ["ant", "bee", "cow"];

/** Rows of three classes that overlap: two of them share most of their high features. */
function overlapping(rows: number, seed: number): { x: Dense; y: string[] } {
  const generator = generatorOf(seed);
  const values = new Uint8Array(rows * FEATURES);
  const y: string[] = [];
  for (let r = 0; r < rows; r++) {
    const kind = drawBelow(generator, 3);
    y.push(NAMES[kind]);
    const shift = drawBelow(generator, 6);
    for (let i = 0; i < FEATURES; i++) {
      const high = kind === 2 ? i >= 15 : i < 15;
      const sign = kind === 1 && i % 5 === 0 ? -25 : 0;
      const near = (i + shift) % 6 === 0 ? 30 : 0;
      values[r * FEATURES + i] = 60 + (high ? 40 : 0) + sign + near + drawBelow(generator, 60);
    }
  }
  return { x: Dense.of(values, rows, FEATURES), y };
}

const { x, y } = overlapping(900, 3);
const fresh = overlapping(600, 4);
const recipe = new RankSimilarityClassifier({ filters: 24, seed: 2 });

describe("refine", () => {
  it("is better on held-out rows, by its own account and on rows it never saw", async () => {
    const plain = await recipe.fit(x, y);
    const refined = await recipe.with({ refine: true }).fit(x, y);
    const { refinement } = refined.report;
    expect(plain.report.refinement).toBeUndefined();
    expect(refinement?.refined).toBe(true);
    expect(refinement?.heldOutRows).toBeGreaterThan(80);
    expect(refinement?.after).toBeGreaterThan(refinement?.before as number);
    expect(await refined.score(fresh.x, fresh.y)).toBeGreaterThan(await plain.score(fresh.x, fresh.y));
    expect(refined.filterRows(3)).toEqual(plain.filterRows(3));
  });

  it("after fit is as refine in fit, and leaves the model as it was", async () => {
    for (const committee of [1, 2]) {
      const model = await recipe.with({ committee }).fit(x, y);
      const before = saveModel(model);
      const refined = await model.refine(x, y);
      expect(saveModel(model)).toEqual(before);
      expect(saveModel(refined)).toEqual(saveModel(await recipe.with({ committee, refine: true }).fit(x, y)));
    }
  });

  it("keeps the plain filters where nothing can be gained", async () => {
    // One feature tells the classes apart: every held-out row is right already.
    const values = Uint8Array.from({ length: 200 * 12 }, (_, at) =>
      at % 12 === Math.floor(at / 12) % 2 ? 200 : at % 7,
    );
    const easy = Dense.of(values, 200, 12);
    const labels = Array.from({ length: 200 }, (_, r) => r % 2);
    const plain = await recipe.fit(easy, labels);
    const refined = await recipe.with({ refine: true }).fit(easy, labels);
    expect(refined.report.refinement).toEqual({ refined: false, heldOutRows: 40, before: 1, after: 1 });
    expect(refined.bank).toEqual(plain.bank);
  });

  it("keeps the plain filters where there are too few rows to hold any out", async () => {
    const few = x.slice(0, 6);
    const refined = await recipe.with({ refine: true }).fit(
      few,
      Array.from({ length: 6 }, (_, r) => r % 3),
    );
    expect(refined.report.refinement).toEqual({ refined: false, heldOutRows: 0, before: 0, after: 0 });
  });

  it("says so where filters are too large to be refined, in the stored report too", async () => {
    const features = 2 ** 25;
    const rows = Csr.fromRows(
      Array.from({ length: 30 }, (_, r) => [
        [r % 2, 2],
        [features - 1 - (r % 7), 1],
      ]),
      features,
    );
    const labels = Array.from({ length: 30 }, (_, r) => r % 2);
    const large = new RankSimilarityClassifier({ filters: 6, seed: 1 });
    const refused = await large.with({ refine: true }).fit(rows, labels);
    const told = refused.report.notes.filter((note) => note.includes("not refined"));
    expect(told).toEqual([
      "filters were not refined: 6 filters of 33554432 features have more than 134217728 weights; refine at most 4 filters a bank, or fewer features",
    ]);
    expect(refused.report.refinement).toMatchObject({ refined: false });
    expect((loadModel(saveModel(refused)) as ClassifierModel).report.notes).toEqual(refused.report.notes);
    // The same by `refine`, once, however often it is asked.
    const plain = await large.fit(rows, labels);
    expect(plain.report.notes.join()).not.toContain("not refined");
    const again = await (await plain.refine(rows, labels)).refine(rows, labels);
    expect(again.report.notes).toEqual(refused.report.notes);
  });

  it("gives the same bytes on every back end, for dense rows, sparse rows and floats", async () => {
    const thin = sparse(500, 7);
    const floats = Dense.of(
      Float32Array.from(x.values, (value) => value / 64),
      x.rows,
      FEATURES,
    );
    // Few different numbers, none of them exact: sums that are equal in one order of rows are not in another.
    const coarse = Dense.of(
      Float64Array.from(x.values, (value) => Math.floor(value / 40) / 10),
      x.rows,
      FEATURES,
    );
    const estimator = recipe.with({ refine: true, refineEpochs: 4 });
    const found: (readonly Uint8Array[])[] = [];
    for (const { open } of platforms) {
      const backend = await open();
      found.push(
        await Promise.all(
          [x, toCsr(x), floats, thin.x, toCsr(thin.x), coarse, toCsr(coarse)].map(async (rows) => {
            const labels = rows.rows === 500 ? thin.y : y;
            return saveModel(await estimator.fit(rows, labels, { backend }));
          }),
        ),
      );
      await backend.close();
    }
    for (const files of found) {
      expect(files).toEqual(found[0]);
      expect(files[1]).toEqual(files[0]);
      expect(files[4]).toEqual(files[3]);
      expect(files[6]).toEqual(files[5]);
    }
  });

  it("tells its epochs, and stops when it is aborted", async () => {
    const told: Progress[] = [];
    await recipe
      .with({ refine: true, refineEpochs: 3 })
      .fit(x, y, { onProgress: (progress) => void told.push(progress) });
    const shares = told.map(({ share }) => share);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    const epochs = told.filter(({ stage }) => stage === "refine").map(({ epoch }) => epoch);
    expect(epochs.slice(-3)).toEqual([1, 2, 3]);
    expect(shares.at(-1)).toBe(1);

    const abort = new AbortController();
    const onProgress = ({ stage }: Progress) => {
      if (stage === "refine") abort.abort(new Error("enough"));
    };
    const run = { signal: abort.signal, onProgress };
    await expect(recipe.with({ refine: true }).fit(x, y, run)).rejects.toThrow("enough");
  });

  it("does with labels that are all wrong what it does with others", async () => {
    // Two kinds of rows that no filter of the other class answers to best: no row has a filter of its class among its strongest.
    const values = Uint8Array.from({ length: 200 * 40 }, (_, at) =>
      at % 40 < 20 === (Math.floor(at / 40) % 2 === 0) ? 200 + (at % 7) : at % 5,
    );
    const rows = Dense.of(values, 200, 40);
    const model = await recipe.with({ filters: 80 }).fit(
      rows,
      Array.from({ length: 200 }, (_, r) => r % 2),
    );
    const refined = await model.refine(
      rows,
      Array.from({ length: 200 }, (_, r) => (r + 1) % 2),
    );
    expect(refined.report.refinement?.before).toBe(0);
    expect((await refined.predict(rows)).every((label) => label === 0 || label === 1)).toBe(true);
  });

  it("refuses what it cannot refine", async () => {
    const wrong = [{ keepSums: true }, { filterFunction: "mean" }, { distributionPerClass: true }] as const;
    for (const params of wrong) {
      expect(() => recipe.with({ ...params, refine: true })).toThrow(/^refine: .*: expected .*, found /);
    }
    const model = await recipe.fit(x, y);
    await expect(
      model.refine(
        x,
        y.map(() => "dog"),
      ),
    ).rejects.toThrow(/"dog" is none of the model/);
    await expect(model.refine(x.slice(0, 0), [])).rejects.toMatchObject({ code: "empty-input" });
    await expect(model.refine([[1, 2]], ["ant"])).rejects.toMatchObject({ code: "wrong-width" });
  });
});

/** Rows with one feature in thirty filled, as words are. */
function sparse(rows: number, seed: number): { x: Dense; y: string[] } {
  const generator = generatorOf(seed);
  const features = 120;
  const values = new Uint8Array(rows * features);
  const y: string[] = [];
  for (let r = 0; r < rows; r++) {
    const kind = drawBelow(generator, 3);
    y.push(NAMES[kind]);
    for (let word = 0; word < 4; word++) {
      const own = drawUnit(generator) < 0.4;
      values[r * features + (own ? kind * 10 + drawBelow(generator, 10) : drawBelow(generator, features))]++;
    }
  }
  return { x: Dense.of(values, rows, features), y };
}

describe("committee", () => {
  const three = recipe.with({ committee: 3, filters: 30 });

  it("adds up the strongest response of each class in each bank", async () => {
    const model = await three.fit(x, y);
    expect(model.committee).toBe(3);
    const m = model.bank.filters; // sharing out among classes rounds down
    expect(m).toBeGreaterThan(24);
    const all = topFilters(fresh.x, model.bank, m);
    const scores = new Float64Array(fresh.x.rows * 3);
    for (let r = 0; r < fresh.x.rows; r++) {
      for (let bank = 0; bank < 3; bank++) {
        for (let c = 0; c < 3; c++) {
          for (let e = r * m; e < (r + 1) * m; e++) {
            const f = all.filter[e];
            if (model.filterBank?.[f] !== bank || model.filterClass[f] !== c) continue;
            scores[r * 3 + c] += all.response[e];
            break;
          }
        }
      }
    }
    expect((await model.classScores(fresh.x)).values).toEqual(scores);
    const best = (row: Float64Array) => NAMES[row.indexOf(Math.max(...row))];
    const labels = Array.from({ length: fresh.x.rows }, (_, r) => best(scores.subarray(r * 3, r * 3 + 3)));
    expect(await model.predict(fresh.x)).toEqual(labels);
    const { values } = await model.predictProbabilities(fresh.x);
    for (let r = 0; r < fresh.x.rows; r++) {
      const row = Float64Array.from(values.subarray(r * 3, r * 3 + 3));
      expect(row[0] + row[1] + row[2]).toBeCloseTo(1, 12);
      expect(best(row)).toBe(labels[r]);
    }
  });

  it("begins with the bank that it would be alone", async () => {
    const model = await three.fit(x, y);
    const alone = await recipe.with({ filters: 10 }).fit(x, y);
    expect(model.bank.weights.subarray(0, alone.bank.filters * FEATURES)).toEqual(alone.bank.weights);
    expect(model.report.trainings).toHaveLength(9);
    expect(model.report.rows).toBe(900);
  });

  it("decides rows that the strongest filters of the banks leave open", async () => {
    // Many filters of one class crowd out the others among the strongest, so that all classes have to be scored.
    const model = await recipe.with({ committee: 2, filters: 160, classWeight: { ant: 20, bee: 1, cow: 1 } }).fit(x, y);
    const { values } = await model.classScores(fresh.x);
    const labels = Array.from({ length: fresh.x.rows }, (_, r) => {
      const row = Array.from(values.subarray(r * 3, r * 3 + 3));
      return NAMES[row.indexOf(Math.max(...row))];
    });
    expect(await model.predict(fresh.x)).toEqual(labels);
  });

  it("explains the chosen class against the next best by all banks", async () => {
    const model = await three.fit(x, y);
    const why = await model.explain(fresh.x, 5);
    const scores = (await model.classScores(fresh.x.slice(5, 6))).values;
    expect(why.label).toBe((await model.predict(fresh.x.slice(5, 6)))[0]);
    const [first, second] = Array.from(scores).sort((a, b) => b - a);
    const parts = why.contributions.reduce((sum, { contribution }) => sum + contribution, 0);
    expect(parts).toBeCloseTo(first - second, 9);
    expect(why.rivalLabel).toBe(model.classes[scores.indexOf(second)]);
    expect(model.classes[model.filterClass[why.rival as number]]).toBe(why.rivalLabel);
  });

  it("is stored with its banks", async () => {
    const model = await three.with({ refine: true }).fit(x, y);
    const bytes = saveModel(model);
    const again = loadModel(bytes) as typeof model;
    expect(saveModel(again)).toEqual(bytes);
    expect(again.committee).toBe(3);
    expect(again.report.refinement).toEqual(model.report.refinement);
    expect(await again.predict(fresh.x)).toEqual(await model.predict(fresh.x));
  });

  it("refuses voters, rows to begin with, sums and banks without filters for every class", async () => {
    for (const params of [{ voters: 3 }, { initialRows: [[0], [1], [2]] }, { keepSums: true }]) {
      expect(() => three.with(params)).toThrow(/^committee: .*: expected .*, found /);
    }
    await expect(three.with({ filters: 8 }).fit(x, y)).rejects.toMatchObject({ code: "bad-params" });
  });
});

it("is the same with a back end of one's own", async () => {
  const backend = await openBackend("wasm");
  const estimator = recipe.with({ committee: 2, refine: true, refineEpochs: 3 });
  expect(saveModel(await estimator.fit(x, y, { backend }))).toEqual(saveModel(await estimator.fit(x, y)));
  await backend.close();
});
