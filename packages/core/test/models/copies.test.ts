/** Classifiers that learn from rows of which some are copies of others, here images moved by a pixel. */

import {
  type Backend,
  Dense,
  type HeldRows,
  loadModel,
  type Model,
  openBackend,
  RankSimilarityClassifier,
  saveModel,
} from "@ranksim/core";
import { describe, expect, it } from "vitest";
import { drawBelow, generatorOf } from "../../src/random.ts";

const WIDTH = 8;
const PIXELS = WIDTH * WIDTH;
const COPIES = 5;

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

/** The images, then all of them moved by a pixel in one direction after the other. */
function withMoved(x: Dense): Dense {
  const all = [x, moved(x, 1, 0), moved(x, -1, 0), moved(x, 0, 1), moved(x, 0, -1)];
  const values = new Uint8Array(COPIES * x.values.length);
  all.forEach((part, copy) => {
    values.set(part.values, copy * x.values.length);
  });
  return Dense.of(values, COPIES * x.rows, PIXELS);
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

const recipe = new RankSimilarityClassifier({ filters: 8 });

describe("fit with copies", () => {
  it("gives the filters of a fit on all rows, made of rows that come once", async () => {
    const { x, y } = spots(60, [0, 1, 2], 1);
    const stacked = withMoved(x);
    const model = await recipe.fit(stacked, y, { copies: COPIES });
    const wanted = await recipe.fit(
      stacked,
      Array.from({ length: stacked.rows }, (_, r) => y[r % x.rows]),
    );
    expect(model.bank).toEqual(wanted.bank);
    expect(model.report.rows).toBe(60);
    for (let f = 0; f < model.bank.filters; f++) {
      const originals = new Set(wanted.filterRows(f).map((r) => r % x.rows));
      expect(Array.from(model.filterRows(f))).toEqual([...originals].sort((a, b) => a - b));
    }
    const again = loadModel(saveModel(model)) as typeof model;
    expect(await again.predict(x)).toEqual(await model.predict(x));
  });

  it("knows shapes where no training image has them", async () => {
    const train = shapes(60, 2);
    const test = shapes(400, 3);
    const estimator = recipe.with({ filters: 200 });
    const plain = await estimator.fit(train.x, train.y);
    const model = await estimator.fit(withMoved(train.x), train.y, { copies: COPIES });
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
    const { refinement } = (await estimator.fit(withMoved(x), y, { copies: COPIES, backend: watched })).report;
    expect(refinement?.heldOutRows).toBe(60);
    // Three windows are tried, and one of them in full.
    const deciding = new Set(batches.slice(0, 4).flatMap((learned) => [...learned]));
    expect(deciding.size).toBe(240);
    await plain.close();
  });

  it("calibrates on rows that come once", async () => {
    const { x, y } = spots(200, [1, 3], 6);
    const fitted = await recipe.with({ calibrate: "temperature" }).fit(withMoved(x), y, { copies: COPIES });
    expect(fitted.report.rows).toBe(180);
  });

  it("counts the weight of a row for each of its copies", async () => {
    const { x, y } = spots(40, [1, 3], 8);
    const stacked = withMoved(x);
    const weights = y.map((_, r) => 1 + (r % 3));
    const model = await recipe.fit(stacked, y, { copies: COPIES, weights });
    const list = (of: (r: number) => unknown) => Array.from({ length: stacked.rows }, (_, r) => of(r % x.rows));
    const wanted = await recipe.fit(stacked, list((r) => y[r]) as string[], {
      weights: list((r) => weights[r]) as number[],
    });
    expect(model.bank).toEqual(wanted.bank);
  });

  it("refuses copies that do not go into the rows, and sums to be kept", async () => {
    const { x, y } = spots(20, [1], 7);
    await expect(recipe.fit(x, y.slice(0, 6), { copies: 3 })).rejects.toThrow(
      "copies: expected a whole number that divides the 20 rows, found 3",
    );
    await expect(recipe.fit(x, y, { copies: 2 })).rejects.toThrow("expected 10 labels, one for each row, found 20");
    const kept = recipe.with({ keepSums: true });
    await expect(kept.fit(x, y.slice(0, 10), { copies: 2 })).rejects.toThrow("copies: no rows can be added later");
  });
});

describe("shiftImages, a parameter of 0.2", () => {
  const cure = "parameter shiftImages is gone: add copies of the images";

  it("is refused with what to do instead", () => {
    const old = { filters: 8, shiftImages: WIDTH } as object;
    expect(() => new RankSimilarityClassifier(old)).toThrow(cure);
  });

  it("is kept by models that were made with it, which answer but are not refined", async () => {
    const { x, y } = spots(60, [0, 1, 2], 1);
    const model = await recipe.fit(withMoved(x), y, { copies: COPIES });
    const saved = model.save();
    const params = { ...model.params, shiftImages: WIDTH };
    const file = saveModel({ ...model, save: () => ({ ...saved, meta: { ...saved.meta, params } }) } as Model);
    const old = loadModel(file) as typeof model;
    expect(old.params).toEqual(params);
    expect(await old.predict(x)).toEqual(await model.predict(x));
    expect(saveModel(old)).toEqual(file);
    expect(old.withNBest(3).params).toMatchObject({ nBest: 3, shiftImages: WIDTH });
    await expect(old.refine(x, y)).rejects.toThrow(cure);
  });
});
