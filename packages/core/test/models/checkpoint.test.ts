/** Training that ends at any round and goes on from its checkpoint makes the same file as training that never ended. */

import {
  type Checkpoint,
  Dense,
  type Matrix,
  Pipeline,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  type Run,
  type Saved,
  saveModel,
  toCsr,
} from "@ranksim/core";
import { afterAll, describe, expect, it } from "vitest";
import { drawBelow, drawUnit, generatorOf } from "../../src/random.ts";
import { readRows } from "../backends/read-rows.ts";
import { platforms } from "../platforms.ts";

const ROWS = 240;
const FEATURES = 20;

function makeRows(whole: boolean): Dense {
  const generator = generatorOf(4);
  const values = Float32Array.from({ length: ROWS * FEATURES }, () =>
    drawBelow(generator, 3) === 0 ? 0 : whole ? drawBelow(generator, 100) : drawUnit(generator),
  );
  return whole ? Dense.of(Uint8Array.from(values), ROWS, FEATURES) : Dense.of(values, ROWS, FEATURES);
}

const y = Array.from({ length: ROWS }, (_, r) => `class ${(r * r) % 3}`);

/** A checkpoint in memory whose process ends before it has kept something for the nth time. */
class Memory implements Checkpoint {
  readonly kept = new Map<string, Saved>();
  left: number;
  recalled = 0;

  constructor(left = Number.POSITIVE_INFINITY) {
    this.left = left;
  }

  async recall(name: string): Promise<Saved | undefined> {
    const found = this.kept.get(name);
    if (found) this.recalled++;
    return found;
  }

  async isDue(): Promise<boolean> {
    return true;
  }

  async keep(name: string, state: Saved): Promise<void> {
    if (this.left-- <= 0) throw new Error("killed");
    this.kept.set(name, structuredClone(state));
  }
}

const estimators = [
  ["transform", new RankSimilarityTransform({ filters: 18, iterations: 4, tolerance: 0 })],
  [
    "transform that keeps sums",
    new RankSimilarityTransform({ filters: 18, iterations: 3, initialize: "plusplus", keepSums: true }),
  ],
  [
    "transform, weighted",
    new RankSimilarityTransform({
      filters: 18,
      initialize: "weightedAverage",
      spreading: "weightedAverage",
      iterations: 3,
    }),
  ],
  ["transform that does not spread", new RankSimilarityTransform({ filters: 18, spreading: "none" })],
  ["classifier", new RankSimilarityClassifier({ filters: 24, iterations: 3, committee: 2 })],
  [
    "classifier that trains again to fit probabilities",
    new RankSimilarityClassifier({
      ...{ filters: 12, iterations: 2, refine: true, refineEpochs: 2, refineWindow: 0.1 },
      ...{ calibrate: "temperature", calibrateOn: "drawn" },
    }),
  ],
  [
    "probabilistic",
    new RankSimilarityProbabilisticClassifier({ filters: 20, iterations: 3, distribution: "confusion" }),
  ],
  [
    "pipeline",
    new Pipeline([
      new RankSimilarityTransform({ filters: 12, iterations: 2 }),
      new RankSimilarityClassifier({ filters: 9, iterations: 2 }),
    ]),
  ],
] as const;

const subjects: readonly (readonly [string, Matrix])[] = [
  ["bytes", makeRows(true)],
  ["float32", makeRows(false)],
  ["sparse", toCsr(makeRows(false))],
];

describe.each(platforms.slice(1))("$title", ({ open }) => {
  const opened = open();
  afterAll(async () => (await opened).close());

  describe.each(subjects)("%s", (_, x) => {
    it.each(estimators)("%s: ends at every round, goes on, and is the same file", async (_, estimator) => {
      const fit = async (rows: Matrix, run: Run) =>
        saveModel(await (estimator as RankSimilarityTransform).fit(rows, y, { backend: await opened, ...run }));
      const all = new Memory();
      const expected = await fit(x, { checkpoint: all });
      expect(await fit(x, {})).toEqual(expected);
      for (let end = 0; ; end++) {
        const checkpoint = new Memory(end);
        const ended = await fit(x, { checkpoint }).then(
          () => false,
          (error: Error) => error.message === "killed",
        );
        if (!ended) {
          expect(end).toBeGreaterThan(0);
          break;
        }
        checkpoint.left = Number.POSITIVE_INFINITY;
        expect(await fit(x, { checkpoint })).toEqual(expected);
        expect(checkpoint.recalled > 0).toBe(end > 0);
      }
      // All is done: what was kept is enough.
      expect(await fit(x, { checkpoint: all })).toEqual(expected);
    });
  });

  it("a source goes on where rows in memory ended, and the other way round", async () => {
    const [, x] = subjects[1];
    const estimator = new RankSimilarityTransform({ filters: 18, iterations: 4, tolerance: 0 });
    const backend = await opened;
    const expected = saveModel(await estimator.fit(x, undefined, { backend }));
    for (const [first, second] of [
      [readRows(x, 16 * 4 * FEATURES * 10), x],
      [x, readRows(x, 16 * 4 * FEATURES * 10)],
    ]) {
      const checkpoint = new Memory(3);
      await expect(estimator.fit(first as Matrix, undefined, { backend, checkpoint })).rejects.toThrow("killed");
      checkpoint.left = 100;
      expect(saveModel(await estimator.fit(second as Matrix, undefined, { backend, checkpoint }))).toEqual(expected);
      expect(checkpoint.recalled).toBe(1);
    }
  });
});

describe("states that do not belong", () => {
  const [, x] = subjects[0];
  const estimator = new RankSimilarityTransform({ filters: 10, iterations: 2 });

  it("are refused: of other filters, of other rows, damaged", async () => {
    const checkpoint = new Memory();
    await estimator.fit(x, undefined, { checkpoint });
    const other = (params: object, rows = x) => estimator.with(params).fit(rows, undefined, { checkpoint });
    await expect(other({ filters: 11 })).rejects.toThrow(/expected 11 filters of 20 features, found 10 of 20/);
    await expect(other({}, x.slice(0, 100))).rejects.toThrow(/expected rows below 100/);
    const [[name, state]] = checkpoint.kept;
    const winners = { shape: [ROWS], values: new Uint32Array(ROWS).fill(99) };
    checkpoint.kept.set(name, { ...state, arrays: { ...state.arrays, winners } });
    await expect(other({})).rejects.toThrow(/bank: .*expected winners below 10/);
    checkpoint.kept.set(name, {
      ...state,
      arrays: { ...state.arrays, filters: { shape: [3], values: new Uint16Array(3) } },
    });
    await expect(other({})).rejects.toThrow(/filters: expected 10 x 20 of .*, found 3/);
  });
});
