/** Classifiers that also learn from images moved by a pixel. */

import {
  type Backend,
  Dense,
  type HeldRows,
  loadModel,
  openBackend,
  RankSimilarityClassifier,
  saveModel,
  toCsr,
} from "@ranksim/core";
import { describe, expect, it } from "vitest";
import { drawBelow, generatorOf } from "../../src/random.ts";

const WIDTH = 8;
const PIXELS = WIDTH * WIDTH;

/** A bright spot somewhere on a dark image. */
function paint(values: Uint8Array, image: number, x: number, y: number): void {
  for (let i = 0; i < PIXELS; i++) {
    const [right, down] = [(i % WIDTH) - x, Math.floor(i / WIDTH) - y];
    values[image * PIXELS + i] = Math.round(250 / (1 + 2 * (right * right + down * down)));
  }
}

/** Class a has its spot in the left half, class b in the right; the middle columns are left free. */
function spots(rows: number, places: readonly number[], seed: number): { x: Dense; y: string[] } {
  const generator = generatorOf(seed);
  const values = new Uint8Array(rows * PIXELS);
  const y: string[] = [];
  for (let r = 0; r < rows; r++) {
    const right = drawBelow(generator, 2) === 1;
    const place = places[drawBelow(generator, places.length)];
    paint(values, r, right ? WIDTH - 1 - place : place, 1 + drawBelow(generator, WIDTH - 2));
    y.push(right ? "b" : "a");
  }
  return { x: Dense.of(values, rows, PIXELS), y };
}

/** Upright and slanting crosses anywhere. */
function shapes(rows: number, seed: number): { x: Dense; y: string[] } {
  const generator = generatorOf(seed);
  const values = new Uint8Array(rows * PIXELS);
  const y: string[] = [];
  for (let r = 0; r < rows; r++) {
    const slanting = drawBelow(generator, 2) === 1;
    const [column, line] = [1 + drawBelow(generator, WIDTH - 2), 1 + drawBelow(generator, WIDTH - 2)];
    const ends = slanting ? [-WIDTH - 1, -WIDTH + 1, 0, WIDTH - 1, WIDTH + 1] : [-WIDTH, -1, 0, 1, WIDTH];
    for (const end of ends) values[r * PIXELS + line * WIDTH + column + end] = 200;
    y.push(slanting ? "x" : "+");
  }
  return { x: Dense.of(values, rows, PIXELS), y };
}

/** The four moves, written out: columns to the right, lines down. */
function moved(x: Dense, right: number, down: number): Dense {
  const edge = (place: number) => Math.min(WIDTH - 1, Math.max(0, place));
  const values = new Uint8Array(x.rows * PIXELS);
  for (let r = 0; r < x.rows; r++) {
    for (let line = 0; line < WIDTH; line++) {
      for (let column = 0; column < WIDTH; column++) {
        const from = edge(line + down) * WIDTH + edge(column + right);
        values[r * PIXELS + line * WIDTH + column] = x.row(r)[from];
      }
    }
  }
  return Dense.of(values, x.rows, PIXELS);
}

/** Notes for each refinement which images were learned from, moved or not. */
function watch(held: HeldRows, batches: Set<number>[]): HeldRows {
  const refine = held.refine.bind(held);
  held.refine = async (start) => {
    const refining = await refine(start);
    const learned = new Set<number>();
    batches.push(learned);
    const update = refining.update.bind(refining);
    refining.update = (batch) => {
      for (const r of batch.rows) learned.add(r % 300);
      return update(batch);
    };
    return refining;
  };
  return held;
}

const recipe = new RankSimilarityClassifier({ filters: 8, shiftImages: WIDTH });

describe("shiftImages", () => {
  it("gives the filters of a fit on images and moved images, made of rows that were given", async () => {
    const { x, y } = spots(60, [0, 1, 2], 1);
    const all = [x, moved(x, 1, 0), moved(x, -1, 0), moved(x, 0, 1), moved(x, 0, -1)];
    const values = new Uint8Array(all.length * x.values.length);
    all.forEach((part, copy) => {
      values.set(part.values, copy * x.values.length);
    });
    const stacked = Dense.of(values, all.length * x.rows, PIXELS);
    const model = await recipe.fit(x, y);
    const wanted = await recipe.with({ shiftImages: undefined }).fit(
      stacked,
      all.flatMap(() => y),
    );
    expect(model.bank).toEqual(wanted.bank);
    expect(model.report.rows).toBe(60);
    for (let f = 0; f < model.bank.filters; f++) {
      const originals = new Set(wanted.filterRows(f).map((r) => r % x.rows));
      expect(Array.from(model.filterRows(f))).toEqual([...originals].sort((a, b) => a - b));
    }
    const again = loadModel(saveModel(model)) as typeof model;
    expect(await again.predict(x)).toEqual(await model.predict(x));
    expect(again.params.shiftImages).toBe(WIDTH);
  });

  it("knows shapes where no training image has them", async () => {
    const train = shapes(60, 2);
    const test = shapes(400, 3);
    const plain = await recipe.with({ shiftImages: undefined, filters: 200 }).fit(train.x, train.y);
    const model = await recipe.with({ filters: 200 }).fit(train.x, train.y);
    expect(await model.score(test.x, test.y)).toBeGreaterThan(await plain.score(test.x, test.y));
  });

  it("does not let copies of held-out images move prototypes before all is decided", async () => {
    // Labels are a matter of chance, so that no row leads far enough to be left out of batches.
    const { x } = spots(300, [0, 1, 2, 3], 5);
    const generator = generatorOf(6);
    const y = Array.from({ length: 300 }, () => drawBelow(generator, 2));
    const batches: Set<number>[] = [];
    const plain = await openBackend("wasm");
    const watched: Backend = { ...plain, hold: async (...args) => watch(await plain.hold(...args), batches) };
    const estimator = recipe.with({ filters: 100, refine: true, refineEpochs: 4 });
    const { refinement } = (await estimator.fit(x, y, { backend: watched })).report;
    expect(refinement?.heldOutRows).toBe(60);
    // Three windows are tried, and one of them in full.
    const deciding = new Set(batches.slice(0, 4).flatMap((learned) => [...learned]));
    expect(deciding.size).toBe(240);
    await plain.close();
  });

  it("is refined after fit as in fit, and calibrates on images as they are", async () => {
    const { x, y } = spots(200, [1, 3], 6);
    const model = await recipe.fit(x, y);
    const both = await recipe.with({ refine: true }).fit(x, y);
    expect(saveModel(await model.refine(x, y))).toEqual(saveModel(both));
    const fitted = await recipe.with({ calibrate: "temperature" }).fit(x, y);
    expect(fitted.report.rows).toBe(180);
  });

  it("is what a fit on copies made by hand is, held-out rows and all", async () => {
    const { x, y } = spots(200, [1, 3], 8);
    const all = [x, moved(x, 1, 0), moved(x, -1, 0), moved(x, 0, 1), moved(x, 0, -1)];
    const values = new Uint8Array(all.length * x.values.length);
    all.forEach((part, copy) => {
      values.set(part.values, copy * x.values.length);
    });
    const stacked = Dense.of(values, all.length * x.rows, PIXELS);
    const estimator = recipe.with({ refine: true, refineEpochs: 2, calibrate: "temperature" });
    const weights = y.map((_, r) => 1 + (r % 3));
    for (const weighted of [{}, { weights }]) {
      const wanted = await estimator.fit(x, y, weighted);
      const copied = await estimator.with({ shiftImages: undefined }).fit(stacked, y, { copies: 5, ...weighted });
      expect(copied.bank).toEqual(wanted.bank);
      expect(copied.report.rows).toBe(180);
      expect(await copied.predictProbabilities(x)).toEqual(await wanted.predictProbabilities(x));
      for (let f = 0; f < 8; f++) expect(copied.filterRows(f)).toEqual(wanted.filterRows(f));
    }
  });

  it("refuses copies that do not go into the rows, and other copies of copies", async () => {
    const { x, y } = spots(20, [1], 7);
    const plain = recipe.with({ shiftImages: undefined });
    await expect(plain.fit(x, y.slice(0, 6), { copies: 3 })).rejects.toThrow(
      "copies: expected a whole number that divides the 20 rows, found 3",
    );
    await expect(plain.fit(x, y, { copies: 2 })).rejects.toThrow("expected 10 labels, one for each row, found 20");
    await expect(recipe.fit(x, y.slice(0, 10), { copies: 2 })).rejects.toThrow("expected rows that come once");
    const kept = plain.with({ keepSums: true });
    await expect(kept.fit(x, y.slice(0, 10), { copies: 2 })).rejects.toThrow("copies: no rows can be added later");
  });

  it("refuses rows that are not images, and sums to be kept", async () => {
    const { x, y } = spots(20, [1], 7);
    await expect(recipe.with({ shiftImages: 7 }).fit(x, y)).rejects.toMatchObject({ code: "bad-params" });
    await expect(recipe.fit(toCsr(x), y)).rejects.toMatchObject({ code: "bad-params" });
    await expect(recipe.with({ keepSums: true }).fit(x, y)).rejects.toMatchObject({ code: "bad-params" });
    expect(() => recipe.with({ shiftImages: 0 })).toThrow("parameter shiftImages: expected a whole number from 1");
  });
});
