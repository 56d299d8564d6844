/** Spreading and initialisation beyond the golden vectors: incremental updates, weighted averages, k-means++. */

import {
  type Backend,
  Dense,
  expandFilter,
  type FilterBank,
  openBackend,
  RankSimilarityTransform,
} from "@ranksim/core";
import { describe, expect, it } from "vitest";
import { canonicalBank, expandBank } from "../../src/bank/bank.ts";
import { groupByCode } from "../../src/bank/groups.ts";
import { rankSums } from "../../src/kernels/rank-sums.ts";
import { topFilters } from "../../src/kernels/top.ts";
import { filterMaker } from "../../src/paper/filter-function.ts";
import { initialize } from "../../src/paper/initialize.ts";
import { drawBelow, generatorOf } from "../../src/random.ts";
import { platforms } from "../platforms.ts";

function randomRows(rows: number, features: number, seed: number, below = 50): number[][] {
  const generator = generatorOf(seed);
  return Array.from({ length: rows }, () => Array.from({ length: features }, () => drawBelow(generator, below)));
}

const weightsOf = (bank: FilterBank): number[][] =>
  Array.from({ length: bank.filters }, (_, f) => {
    const w = new Float64Array(bank.features);
    expandFilter(bank, f, w);
    return [...w];
  });

describe("max spreading", () => {
  it("equals assign-all, sum-all, rank-all in every iteration without empty filters", async () => {
    const rows = randomRows(120, 10, 1);
    const x = Dense.fromRows(rows);
    const initialRows = Array.from({ length: 8 }, (_, j) => j * 11);
    const banks: FilterBank[] = [];
    const model = await new RankSimilarityTransform({ initialRows, iterations: 9, tolerance: 0 }).fit(x, undefined, {
      onProgress: async ({ filters }) => {
        if (filters) banks.push(await filters());
      },
    });
    expect(model.report.trainings[0].steps.every(({ empty }) => empty === 0)).toBe(true);
    for (let t = 1; t < banks.length; t++) {
      const winners = topFilters(x, banks[t - 1], 1).filter;
      const expected = rankSums(x, groupByCode(winners, 8), undefined);
      expect(weightsOf(banks[t])).toEqual(weightsOf(expected));
    }
    expect(banks.length).toBeGreaterThan(3);
  });

  it.each(platforms)(
    "moves an empty filter to rows that like it, not to those of negative mean, on $title",
    async ({ open }) => {
      // Rows 4 and 5 are equal, so filter 1 never wins. The filters are (2,4,6), (2,4,6), (6,4,2), their sum (10,12,14).
      // Beside each row: its product with filter 1, with the sum, and their ratio; a product with the sum that is not positive counts as 0.
      const rows = [
        [0, 0, 0], //        0,    0: 0
        [-9, -5, -1], //   -44, -164: 0 (divided: 0.27)
        [3, 2, 1], //       20,   68: 0.29
        [9, 0, -9], //     -36,  -36: 0 (divided: 1, before all others)
        [1, 2, 3], //       28,   76: 0.37
        [1, 2, 3], //       28,   76: 0.37
        [-9, -9, -9], //  -108, -324: 0 (divided: 0.33, before row 2)
        [-1, 0, 9], //      52,  116: 0.45
      ];
      const backend = await open();
      const params = { initialRows: [4, 5, 2], iterations: 1 };
      const model = await new RankSimilarityTransform(params).fit(rows, undefined, { backend });
      expect([...model.filterRows(1)]).toEqual([0, 2, 4, 5, 7]);
      await backend.close();
    },
  );

  it("remembers the rows each filter was made from", async () => {
    const x = Dense.fromRows(randomRows(50, 9, 2));
    for (const spreading of ["max", "none"] as const) {
      const model = await new RankSimilarityTransform({ filters: 12, spreading }).fit(x);
      for (let f = 0; f < 12; f++) {
        const rows = model.filterRows(f);
        const one = rankSums(x, { offsets: Uint32Array.of(0, rows.length), rows }, undefined);
        expect(weightsOf(one)[0]).toEqual(weightsOf(model.bank)[f]);
      }
    }
  });

  it("stops when at most floor(tolerance x rows) rows move, and says so", async () => {
    const x = Dense.fromRows(randomRows(200, 12, 3));
    const { report } = await new RankSimilarityTransform({ filters: 20, iterations: 50, tolerance: 0.05 }).fit(x);
    const { steps } = report.trainings[0];
    expect(report.converged).toBe(true);
    expect(steps[0].moved).toBe(200);
    expect(steps.at(-1)?.moved).toBeLessThanOrEqual(10);
    for (const step of steps.slice(0, -1)) expect(step.moved).toBeGreaterThan(10);
    const short = await new RankSimilarityTransform({ filters: 20, iterations: 1 }).fit(x);
    expect(short.report.converged).toBe(false);
  });
});

describe("weighted averages", () => {
  it("allow more filters than rows, all of them rank filters, even when rows repeat", async () => {
    const rows = [...randomRows(6, 9, 4), ...randomRows(6, 9, 4), new Array<number>(9).fill(0)];
    for (const spreading of ["max", "weightedAverage", "none"] as const) {
      const params = { filters: 60, initialize: "weightedAverage", spreading } as const;
      const model = await new RankSimilarityTransform(params).fit(rows);
      expect(model.bank.filters).toBe(60);
      for (const weights of weightsOf(model.bank)) expect(weights.reduce((a, b) => a + b)).toBe(90);
    }
  });

  it("weigh rows by their share of the activation, by hand", async () => {
    // Two filters, two rows, each row near both: the averages use the rows' normalised responses.
    const rows = [
      [1, 2, 3],
      [9, 1, 2],
    ];
    const backend: Backend = await openBackend("reference");
    const x = Dense.fromRows(rows);
    const held = await backend.hold(x);
    const maker = filterMaker(x, held, "meanRank", undefined);
    const { bank } = await initialize("weightedAverage", x, held, 2, maker, generatorOf(0));
    // Ranks: (2,4,6) and (6,2,4). Responses of row 0: 28, 22 (share 0.56, 0.44); of row 1: 34, 64 (0.347, 0.653).
    // Filter of row 0: 0.56*(1,2,3) + 0.347*(9,1,2) = (3.68, 1.47, 2.37); of row 1: (6.32, 1.53, 2.63). Same ranks.
    expect(weightsOf(await bank.read())).toEqual([
      [6, 2, 4],
      [6, 2, 4],
    ]);
  });
});

describe("plusplus", () => {
  it("starts from different rows and prefers rows the filters so far answer least", async () => {
    // 40 equal rows and 2 of the opposite order: a random pair rarely has one of each, plusplus nearly always.
    const up = Array.from({ length: 12 }, (_, i) => i);
    const rows = [...Array.from({ length: 40 }, () => up), [...up].reverse(), [...up].reverse()];
    let both = 0;
    for (let seed = 0; seed < 40; seed++) {
      const params = { filters: 2, initialize: "plusplus", spreading: "none", seed } as const;
      const { bank } = await new RankSimilarityTransform(params).fit(rows);
      const [a, b] = weightsOf(bank);
      if (a[0] !== b[0]) both++;
    }
    expect(both).toBe(40); // the equal rows respond alike and most, so they have probability 0
  });

  it("is refused when there are as many filters as rows", async () => {
    const estimator = new RankSimilarityTransform({ initialize: "plusplus" });
    await expect(estimator.fit(randomRows(10, 9, 1))).rejects.toThrow(
      /fewer filters than rows, found 10 filters for 10/,
    );
  });

  it("copes with rows of zeros", async () => {
    const rows = [...randomRows(10, 9, 1), new Array<number>(9).fill(0)];
    const model = await new RankSimilarityTransform({ filters: 10, initialize: "plusplus", spreading: "none" }).fit(
      rows,
    );
    const starts = Array.from({ length: 10 }, (_, f) => model.filterRows(f)[0]);
    expect(new Set(starts).size).toBe(10);
  });
});

describe("filter functions", () => {
  const rows = [
    [0, 10, 3, 1],
    [0, 20, 5, 2],
    [100, 30, 4, 3],
  ];
  const one = async (
    filterFunction: NonNullable<ConstructorParameters<typeof RankSimilarityTransform>[0]>["filterFunction"],
  ) => {
    const params = { initialRows: [0], filterFunction: filterFunction ?? "meanRank", iterations: 1 };
    return weightsOf((await new RankSimilarityTransform(params).fit(rows)).bank)[0];
  };

  it("rank the mean, rank the median, or take the mean itself", async () => {
    expect(await one("meanRank")).toEqual([8, 6, 4, 2]); // sums 100, 60, 12, 6
    expect(await one("medianRank")).toEqual([2, 8, 6, 4]); // medians 0, 20, 4, 2
    const mean = await one("mean"); // sums 100, 60, 12, 6 of 178
    for (const [i, sum] of [100, 60, 12, 6].entries()) expect(mean[i]).toBeCloseTo(sum / 178, 12);
  });

  it("may be the caller's own, checked", async () => {
    expect(await one((x) => Array.from({ length: x.features }, (_, i) => i))).toEqual([0, 1 / 6, 2 / 6, 3 / 6]);
    await expect(one(() => [1, 2])).rejects.toThrow(/expected 4 weights, one a feature, found 2/);
    await expect(one(() => [1, 2, Number.NaN, 3])).rejects.toThrow(/weight 2: expected a finite number, found NaN/);
  });
});

describe("the stored form of a bank", () => {
  it("is the same from dense and sparse training, and loses nothing", () => {
    const generator = generatorOf(8);
    for (let round = 0; round < 50; round++) {
      const n = 4 + drawBelow(generator, 60);
      const zeros = drawBelow(generator, 12);
      const rows = Array.from({ length: 9 }, () =>
        Array.from({ length: n }, () => (drawBelow(generator, 12) < zeros ? 0 : drawBelow(generator, 4) - 1)),
      );
      const dense = Dense.fromRows(rows);
      const groups = { offsets: Uint32Array.of(0, 2, 3, 5, 9), rows: Uint32Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8) };
      const fromDense = canonicalBank(rankSums(dense, groups, undefined));
      const fromSparse = canonicalBank(rankSums(toSparse(rows), groups, undefined));
      expect(fromSparse).toEqual(fromDense);
      expect([...expandBank(fromSparse).weights]).toEqual([...rankSums(dense, groups, undefined).weights]);
    }
  });
});

function toSparse(rows: number[][]) {
  const offsets = Uint32Array.from({ length: rows.length + 1 }, (_, r) =>
    rows.slice(0, r).reduce((sum, row) => sum + row.filter((v) => v !== 0).length, 0),
  );
  const indices = Uint32Array.from(rows.flatMap((row) => [...row.keys()].filter((i) => row[i] !== 0)));
  const values = Int16Array.from(rows.flatMap((row) => row.filter((v) => v !== 0)));
  return { form: "csr", rows: rows.length, features: rows[0].length, offsets, indices, values } as const;
}
