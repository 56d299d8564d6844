/** Processes that each hold a shard of the rows make the model that one process makes, whatever their number. */

import {
  type Backend,
  Dense,
  type HeldBank,
  type Matrix,
  openBackend,
  PatchTransform,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  type RowSource,
  saveModel,
  toCsr,
} from "@ranksim/core";
import { openShards } from "@ranksim/mpi";
import { describe, expect, it } from "vitest";
import { assignmentOf, membersOf } from "../../core/src/bank/assignment.ts";
import { expandBank } from "../../core/src/bank/bank.ts";
import { singletons } from "../../core/src/bank/groups.ts";
import { filterMaker } from "../../core/src/paper/filter-function.ts";
import { drawBelow, drawUnit, generatorOf } from "../../core/src/random.ts";
import { readRows } from "../../core/test/backends/read-rows.ts";
import { isFull } from "../../core/test/tier.ts";
import { makeProcesses } from "./processes.ts";

const ROWS = 700;
const FEATURES = 25;

function makeRows(whole: boolean): Dense {
  const generator = generatorOf(12);
  const values = new Float32Array(ROWS * FEATURES);
  for (let r = 0; r < ROWS; r++) {
    if (r % 131 === 7) continue; // rows of zeros
    for (let i = 0; i < FEATURES; i++) {
      if ((i + r) % 4 !== 0 && drawBelow(generator, 3) > 0) continue;
      values[r * FEATURES + i] = whole ? drawBelow(generator, 250) : drawUnit(generator) * 7;
    }
  }
  return whole ? Dense.of(Uint8Array.from(values), ROWS, FEATURES) : Dense.of(values, ROWS, FEATURES);
}

const bytes = makeRows(true);
const floats = makeRows(false);
const subjects: readonly (readonly [string, Matrix])[] = [
  ["bytes", bytes],
  ["float32", floats],
  ["sparse", toCsr(floats)],
  ["sparse bytes", toCsr(bytes)],
];
const y = Array.from({ length: ROWS }, (_, r) => `class ${(r * r) % 3}`);
const sets = y.map((label, r) => (r % 5 === 0 ? [label, "fifth"] : [label]));

/** Does the same in each of so many processes, and expects the same of all. */
async function together<T>(size: number, work: (backend: Backend) => Promise<T>, heldBytes?: number): Promise<T> {
  const answers = await Promise.all(
    makeProcesses(size).map(async (collective) => {
      const inner = await openBackend("wasm");
      try {
        return await work(openShards(inner, collective, heldBytes));
      } finally {
        await inner.close();
      }
    }),
  );
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  return answers[0];
}

const weightsOf = async (bank: HeldBank) => expandBank(await bank.read());

/** Answers to every question about rows. */
async function ask(backend: Backend, x: RowSource) {
  const held = await backend.hold(x);
  const chosen = Uint32Array.from({ length: 20 }, (_, j) => (j * 37) % ROWS).sort();
  const bank = await held.rank(singletons(chosen));
  const one = await held.assign(bank, undefined, { sums: true });
  const touched = Uint32Array.of(0, 5, 19);
  const fresh = await filterMaker(x, held, "meanRank", undefined).fromAssignment(one, touched);
  const next = await bank.replace(touched, fresh);
  const two = await held.assign(next, one);
  const again = await held.assign(next, assignmentOf(one.winners, 20, one.winners));
  const groups = membersOf(two);
  const weight = Float64Array.from(groups.rows, (r) => 1 / (1 + (r % 3)));
  const drawn = Float64Array.from({ length: FEATURES }, (_, r) => r * r);
  const onto = await held.sum(singletons(chosen));
  // One group of most rows, which no process should add up alone, and small ones.
  const lopsided = {
    offsets: Uint32Array.of(0, 600, 600, 610, 700),
    rows: Uint32Array.from({ length: 700 }, (_, r) => r),
  };
  const some = Uint32Array.from({ length: 300 }, (_, j) => 2 * j);
  const plainly = (sums: readonly { readonly indices?: Uint32Array; readonly values: ArrayLike<number> }[]) =>
    sums.map(({ indices, values }) => {
      const all = new Float64Array(FEATURES);
      for (let e = 0; e < values.length; e++) all[indices ? indices[e] : e] = values[e];
      return all;
    });
  return [
    await weightsOf(bank),
    await weightsOf(fresh),
    await held.topFilters(bank, 4),
    await held.topFilters(bank, 3, some),
    await held.leaders(bank),
    await held.topRows(bank, Uint32Array.of(2, 11), 9),
    [one, two, again].map(({ moved, wins, changed }) => ({ moved, wins, changed })),
    two.winners,
    groups,
    plainly(await held.sum(groups)),
    plainly(await held.sum({ ...groups, weight }, onto)),
    await weightsOf(await held.rank({ ...groups, weight }, drawn)),
    await weightsOf(await held.rank(groups, undefined, onto)),
    plainly(await held.sum(lopsided)),
    await weightsOf(await held.rank(lopsided)),
  ];
}

describe.each(isFull ? [2, 3, 4] : [3])("%i processes", (size) => {
  it.each(subjects)("%s: answer every question as one does", async (_, x) => {
    const backend = await openBackend("wasm");
    const alone = await ask(backend, x);
    await backend.close();
    expect(await together(size, (shards) => ask(shards, x))).toEqual(alone);
    // Rows that are too many to be held by each are gathered.
    expect(await together(size, (shards) => ask(shards, x), 0)).toEqual(alone);
    expect(await together(size, (shards) => ask(shards, readRows(x, 16 * 4 * FEATURES * 9)))).toEqual(alone);
  });

  it.each(subjects)("%s: train the model that one trains", async (_, x) => {
    for (const fit of [
      (rows: Matrix, backend: Backend) =>
        new RankSimilarityTransform({ filters: 30, iterations: 4, initialize: "plusplus", keepSums: true }).fit(
          rows,
          undefined,
          { backend },
        ),
      (rows: Matrix, backend: Backend) =>
        new RankSimilarityTransform({
          filters: 20,
          iterations: 2,
          initialize: "weightedAverage",
          spreading: "weightedAverage",
        }).fit(rows, undefined, { backend }),
      (rows: Matrix, backend: Backend) =>
        new RankSimilarityClassifier({ filters: 30, calibrate: "temperature", distribution: "confusion" }).fit(
          rows,
          y,
          { backend },
        ),
      (rows: Matrix, backend: Backend) =>
        new RankSimilarityClassifier({
          ...{ filters: 24, committee: 2, refine: true, refineEpochs: 2 },
          ...{ calibrate: "temperature", calibrateOn: "drawn" },
        }).fit(rows, y, {
          backend,
        }),
      (rows: Matrix, backend: Backend) =>
        new RankSimilarityProbabilisticClassifier({ filters: 30, thresholds: "perLabel" }).fit(rows, sets, { backend }),
    ]) {
      const backend = await openBackend("wasm");
      const expected = saveModel(await fit(x, backend));
      await backend.close();
      expect(await together(size, async (shards) => saveModel(await fit(x, shards)))).toEqual(expected);
    }
  });

  it.each([false, true])("answer and pool as one does, as bytes: %s", async (asBytes) => {
    const work = async (backend: Backend) => {
      const run = { backend };
      const patches = new PatchTransform({ width: 5, patch: [3, 2], filters: 6, seed: 1, bytes: asBytes });
      const images = await patches.fit(bytes, undefined, run);
      const pooled = await images.transform(bytes, run);
      const model = await new RankSimilarityProbabilisticClassifier({ filters: 20 }).fit(pooled, y, run);
      const answers = [await model.predict(pooled, run), await model.predictProbabilities(pooled, run)];
      const read = await patches.fit(readRows(bytes, 16 * 4 * FEATURES * 9), undefined, run);
      expect(saveModel(read)).toEqual(saveModel(images));
      return [saveModel(images), pooled, ...answers];
    };
    const backend = await openBackend("wasm");
    const alone = await work(backend);
    await backend.close();
    expect(await together(size, work)).toEqual(alone);
  });
});

it("one process is none but its own back end, and few rows are held by all", async () => {
  const inner = await openBackend("reference");
  const [only] = makeProcesses(1);
  expect(openShards(inner, only).name).toBe("reference");
  const [first] = makeProcesses(3);
  // No other process answers: this ends because none is asked.
  const held = await openShards(inner, first).hold(bytes.slice(0, 100));
  expect((await held.leaders(held.load(await weightsOf(await held.rank(singletons(Uint32Array.of(1))))))).rows).toBe(
    100,
  );
});

it.each([
  ["bytes", bytes],
  ["sparse", toCsr(floats)],
] as const)("holds %s no more often than it has to: the shard, and all rows once they are asked for", async (_, x) => {
  const start = {
    ...{ filters: 2, features: FEATURES, values: new Float64Array(2 * FEATURES).map((_, i) => 1 + i) },
    ...{ filterClass: Uint32Array.of(0, 1), rule: "add" as const, distribution: undefined },
  };
  await Promise.all(
    makeProcesses(2).map(async (collective) => {
      const inner = await openBackend("wasm");
      const held: number[] = [];
      const hold: Backend["hold"] = (source, plan) => {
        held.push(source.rows);
        return inner.hold(source, plan);
      };
      const rows = await openShards({ ...inner, hold }, collective).hold(x, { searches: 5 });
      for (let times = 0; times < 2; times++) (await rows.refine(start)).release();
      rows.release();
      expect(held).toEqual([ROWS / 2, ROWS]);
      await inner.close();
    }),
  );
});
