/** Rows that do not fit in their room give the answers that the same rows give in memory, bit by bit, on every back end. */

import {
  Csr,
  Dense,
  type HeldBank,
  type HeldRows,
  type Matrix,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  saveModel,
  toCsr,
} from "@ranksim/core";
import { afterAll, describe, expect, it } from "vitest";
import { assignmentOf, membersOf } from "../../src/bank/assignment.ts";
import { expandBank } from "../../src/bank/bank.ts";
import { singletons } from "../../src/bank/groups.ts";
import { rankSums } from "../../src/kernels/rank-sums.ts";
import { bytesOf } from "../../src/kernels/rows.ts";
import { filterMaker } from "../../src/paper/filter-function.ts";
import { drawBelow, drawUnit, generatorOf } from "../../src/random.ts";
import { platforms } from "../platforms.ts";
import { readRows } from "./read-rows.ts";

const ROWS = 400;
const FEATURES = 33;
/** A sixteenth of it is a block: 94 rows of bytes, fewer of floats; and there is room for the sums of 23 filters. */
const ROOM = 16 * FEATURES * 94;
/** Room for few sums: they are added up in parts. */
const SMALL_ROOM = 16 * FEATURES * 40;

const makerOf = (x: Matrix, held: HeldRows) => filterMaker(x, held, "meanRank", undefined);

function makeRows(whole: boolean): Matrix {
  const generator = generatorOf(8);
  const values = new Float32Array(ROWS * FEATURES);
  for (let r = 0; r < ROWS; r++) {
    if (r % 97 === 5) continue; // rows of zeros
    for (let i = 0; i < FEATURES; i++) {
      const strong = (i + r) % 5 === 0 || drawBelow(generator, 6) === 0;
      if (strong) values[r * FEATURES + i] = whole ? drawBelow(generator, 200) : drawUnit(generator) * 9;
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
];
/** The weights, in whatever form a back end has them. */
const weightsOf = async (bank: HeldBank) => expandBank(await bank.read());
const y = Array.from({ length: ROWS }, (_, r) => ["ant", "bee", "cow"][(r * r) % 3]);
const sets = y.map((label, r) => (r % 4 === 0 ? [label, "even"] : [label]));

describe.each(platforms)("$title", ({ open }) => {
  const opened = open();
  afterAll(async () => (await opened).close());

  describe.each(subjects)("%s", (_, x) => {
    it("answers every question as rows in memory do", async () => {
      const backend = await opened;
      const reads = { passes: 0, largest: 0 };
      const source = readRows(x, ROOM, reads);
      const [held, here] = [await backend.hold(source), await backend.hold(x)];
      const chosen = Uint32Array.from({ length: 20 }, (_, j) => j * 17);
      const [a, b] = [await held.rank(singletons(chosen)), await here.rank(singletons(chosen))];
      expect(await weightsOf(a)).toEqual(await weightsOf(b));
      expect(await held.topFilters(a, 3)).toEqual(await here.topFilters(b, 3));
      const some = Uint32Array.from({ length: 200 }, (_, j) => 2 * j);
      expect(await held.topFilters(a, 2, some)).toEqual(await here.topFilters(b, 2, some));
      expect(await held.leaders(a)).toEqual(await here.leaders(b));
      const filters = Uint32Array.of(0, 3, 19);
      expect(await held.topRows(a, filters, 7)).toEqual(await here.topRows(b, filters, 7));

      const before = reads.passes;
      const [one, two] = [await held.assign(a, undefined, { sums: true }), await here.assign(b)];
      const touched = Uint32Array.of(1, 2, 18);
      const [fresh, same] = [
        await makerOf(x, held).fromAssignment(one, touched),
        await makerOf(x, here).fromAssignment(two, touched),
      ];
      expect(reads.passes).toBe(before + 1); // the sums came with the assignment
      expect(await weightsOf(fresh)).toEqual(await weightsOf(same));
      expect(one.winners).toEqual(two.winners);
      expect(membersOf(one)).toEqual(membersOf(two));
      const [c, d] = [await a.replace(touched, fresh), await b.replace(touched, same)];
      const [third, fourth] = [await held.assign(c, one), await here.assign(d, two)];
      expect([third.moved, third.wins, third.changed]).toEqual([fourth.moved, fourth.wins, fourth.changed]);
      const again = assignmentOf(one.winners, 20, one.winners);
      expect((await held.assign(c, again)).moved).toBe(fourth.moved);

      const groups = membersOf(fourth);
      const weight = Float64Array.from(groups.rows, (r) => 1 / (1 + (r % 3)));
      const onto = await here.sum(singletons(chosen));
      for (const own of [groups, { ...groups, weight }]) {
        expect(await held.sum(own)).toEqual(await here.sum(own));
        expect(await held.sum(own, onto)).toEqual(await here.sum(own, onto));
        const drawn = Float64Array.from({ length: FEATURES }, (_, r) => r * r);
        expect(await weightsOf(await held.rank(own, drawn))).toEqual(await weightsOf(await here.rank(own, drawn)));
      }
      expect(reads.largest).toBeLessThanOrEqual(ROOM / 4);
      held.release();
      here.release();
    });

    it.each([
      ["no more than a few filters are without rows after the first block", (j: number) => j * 17, 0],
      ["the first blocks are of few filters", (j: number) => 399 - 8 * j, 1],
    ] as const)("finds rows for filters without any while rows are assigned: %s", async (_, rowOf, more) => {
      const backend = await opened;
      const reads = { passes: 0, largest: 0 };
      // Rows alike follow each other, so that filters win theirs in one block or another.
      const alike = x.gather(Uint32Array.from({ length: ROWS }, (_, r) => (more === 0 ? r : Math.floor(r / 8) * 8)));
      const room = 3.6 * bytesOf(alike); // a sixteenth of it is 90 rows
      const [held, here] = [await backend.hold(readRows(alike, room, reads)), await backend.hold(alike)];
      // Filters made of the same rows: the second of each two wins nothing.
      const chosen = Uint32Array.from({ length: 24 }, (_, j) => rowOf(j < 20 ? j : j - 20));
      const [a, b] = [await held.rank(singletons(chosen)), await here.rank(singletons(chosen))];
      const { wins } = await held.assign(a, undefined, { sums: true, rowsOfEmpty: 5 });
      const empty = Uint32Array.from({ length: 24 }, (_, f) => f).filter((f) => wins[f] === 0);
      expect(empty.length).toBeGreaterThanOrEqual(4);
      const before = reads.passes;
      expect(await held.topRows(a, empty, 5)).toEqual(await here.topRows(b, empty, 5));
      const some = Uint32Array.of(23, 21);
      expect(await held.topRows(a, some, 2)).toEqual(await here.topRows(b, some, 2));
      expect(reads.passes).toBe(before + 2 * more);
      // Of filters that have rows, and of more rows than were asked for, nothing is known.
      for (const [filters, k] of [
        [
          Uint32Array.of(
            wins.findIndex((won) => won > 0),
            23,
          ),
          5,
        ],
        [empty, 6],
      ] as const) {
        const passes = reads.passes;
        expect(await held.topRows(a, filters, k)).toEqual(await here.topRows(b, filters, k));
        expect(reads.passes).toBe(passes + 1);
      }
      for (const handle of [a, b, held, here]) handle.release();
    });

    it.each([
      ["transform", new RankSimilarityTransform({ filters: 24, iterations: 4, seed: 3 })],
      [
        "transform, weighted",
        new RankSimilarityTransform({
          filters: 24,
          initialize: "weightedAverage",
          spreading: "weightedAverage",
          iterations: 2,
        }),
      ],
      [
        "transform, plusplus and confusion",
        new RankSimilarityTransform({
          filters: 9,
          initialize: "plusplus",
          distribution: "confusion",
          confusionRows: 100,
          keepSums: true,
        }),
      ],
      ["classifier", new RankSimilarityClassifier({ filters: 40, iterations: 4, calibrate: "temperature" })],
      [
        "classifier, distributions",
        new RankSimilarityClassifier({
          filters: 30,
          distribution: "confusion",
          distributionPerClass: true,
          keepSums: true,
        }),
      ],
      [
        "committee, refined",
        new RankSimilarityClassifier({ filters: 30, committee: 2, refine: true, refineEpochs: 2 }),
      ],
      ["probabilistic", new RankSimilarityProbabilisticClassifier({ filters: 30, calibrate: "isotonic" })],
    ] as const)("%s: the model is the same file, and answers the same", async (_, estimator) => {
      const run = { backend: await opened };
      const source = readRows(x, SMALL_ROOM);
      const [a, b] = [await estimator.fit(source, y, run), await estimator.fit(x, y, run)];
      expect(saveModel(a)).toEqual(saveModel(b));
      if ("transform" in a && "transform" in b)
        expect(await a.transform(source, run)).toEqual(await b.transform(x, run));
      if ("predict" in a && "predict" in b) {
        expect(await a.predict(source, run)).toEqual(await b.predict(x, run));
        expect(await a.predictProbabilities(source, run)).toEqual(await b.predictProbabilities(x, run));
        expect(await a.score(source, y, run)).toBe(await b.score(x, y, run));
      }
    });

    it("several labels a row", async () => {
      const run = { backend: await opened };
      const estimator = new RankSimilarityProbabilisticClassifier({ filters: 25, thresholds: "perLabel" });
      const [a, b] = [await estimator.fit(readRows(x, ROOM), sets, run), await estimator.fit(x, sets, run)];
      expect(saveModel(a)).toEqual(saveModel(b));
    });
  });

  it("passes over the rows once a round, whether filters are relocated or not", async () => {
    const reads = { passes: 0, largest: 0 };
    // Of filters made of the same row the second wins nothing.
    const initialRows = Array.from({ length: 20 }, (_, j) => 17 * (j < 18 ? j : j - 18));
    const estimator = new RankSimilarityTransform({ initialRows, iterations: 3, tolerance: 0 });
    const model = await estimator.fit(readRows(bytes, ROOM, reads), undefined, { backend: await opened });
    const [training] = model.report.trainings;
    expect(training.steps.some(({ empty }) => empty > 0)).toBe(true);
    expect(reads.passes).toBe(training.steps.length);
  });

  it("refuses what needs all rows at once, and a source that ends early", async () => {
    const run = { backend: await opened };
    const source = readRows(bytes, ROOM);
    const needs = (params: object) => new RankSimilarityClassifier(params).fit(source, y, run);
    await expect(needs({ filterFunction: "medianRank" })).rejects.toThrow(/filterFunction: expected rows in memory/);
    await expect(needs({ distribution: () => [] })).rejects.toThrow(/distribution: expected rows in memory/);
    const short = readRows(bytes, ROOM, undefined, true);
    await expect(new RankSimilarityTransform({ filters: 5 }).fit(short, undefined, run)).rejects.toThrow(
      /expected 400 rows from their source, found/,
    );
  });
});

it("sums go in parts where there is no room for all", async () => {
  const { openReference } = await import("../../src/backends/reference.ts");
  const backend = openReference();
  const many = Uint32Array.from({ length: ROWS }, (_, r) => r);
  const held = await backend.hold(readRows(bytes, 4 * FEATURES * 8 * 16));
  const bank = await held.rank(singletons(many));
  expect(await bank.read()).toEqual(rankSums(bytes, singletons(many), undefined));
});

it("a matrix of another width is refused, source or not", async () => {
  const model = await new RankSimilarityTransform({ filters: 5 }).fit(bytes);
  await expect(model.transform(readRows(Csr.fromRows([[[0, 1]]], 7), ROOM))).rejects.toThrow(/33 features.*has 7/);
});
