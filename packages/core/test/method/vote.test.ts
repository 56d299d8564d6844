/** Votes of several filters: by hand, and against a plain statement that ranks filters itself. */

import { type ClassifierModel, Dense, loadModel, RankSimilarityClassifier, saveModel, toDense } from "@ranksim/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classifierReader } from "../../src/estimators/classifier-model.ts";
import { dotRow } from "../../src/kernels/dot.ts";
import { expandFilter } from "../../src/kernels/top.ts";
import { voteBySimilarity } from "../../src/method/vote.ts";
import { drawBelow, generatorOf } from "../../src/random.ts";

const similarOf = (rows: readonly (readonly (readonly [filter: number, similarity: number])[])[]) => ({
  offsets: Uint32Array.from([0, ...rows.keys()], (_, j) => rows.slice(0, j).reduce((sum, row) => sum + row.length, 0)),
  filter: Uint32Array.from(rows.flat(), ([filter]) => filter),
  similarity: Float64Array.from(rows.flat(), ([, similarity]) => similarity),
});

describe("voteBySimilarity", () => {
  const classes = Uint32Array.of(0, 0, 1, 1, 2, 2, 2);
  const vote = (voters: number, ...rows: (readonly [number, number])[][]) => [
    ...voteBySimilarity(similarOf(rows), classes, 3, voters),
  ];

  it("adds up similarities of the strongest", () => {
    const row: [number, number][] = [[0, 1], [2, 0.75], [3, 0.5], [4, 0.25]]; // biome-ignore format: a row
    expect(vote(1, row)).toEqual([0]);
    expect(vote(2, row)).toEqual([0]);
    expect(vote(3, row)).toEqual([1]); // 1.25 against 1
    expect(vote(99, row, row)).toEqual([1, 1]);
  });

  it("lets filters as strong as the last voter vote too", () => {
    expect(vote(2, [[0, 1], [2, 0.5], [4, 0.5], [5, 0.25]])).toEqual([0]); // biome-ignore format: a row
    expect(vote(2, [[0, 1], [2, 0.75], [3, 0.75]])).toEqual([1]); // biome-ignore format: a row
  });

  it("settles equal sums by the number of voters, then by the lower class", () => {
    expect(vote(3, [[0, 1], [2, 0.5], [3, 0.5]])).toEqual([1]); // biome-ignore format: a row
    expect(vote(2, [[2, 1], [0, 1]])).toEqual([0]); // biome-ignore format: a row
  });

  it("names the class with most filters where nothing responds", () => {
    expect(vote(5, [])).toEqual([2]);
  });
});

const generator = generatorOf(4);
const y = Array.from({ length: 60 }, (_, r) => r % 3);
const rows = y.map((c) => Array.from({ length: 12 }, (_, i) => drawBelow(generator, 8) + (i % 3 === c ? 3 : 0)));
const x = Dense.fromRows(rows);

/** Sorts all filters by response and lets the first vote, with similarities computed from the definition. */
function plainPredict(model: ClassifierModel, voters: number): unknown[] {
  const { bank, nBest, filterClass, classes } = model;
  const k = Math.max(1, Math.min(nBest, bank.filters - 1));
  const weights = new Float64Array(bank.features);
  return rows.map((_, r) => {
    const responses = Array.from({ length: bank.filters }, (_, f) => {
      expandFilter(bank, f, weights);
      return dotRow(toDense(x), r, weights) / bank.norm[f];
    });
    const sorted = [...responses].sort((a, b) => b - a);
    const below = sorted[k - 1] < sorted[0] ? sorted[k - 1] : Number.NEGATIVE_INFINITY;
    const similarity = responses.map((s) =>
      below === Number.NEGATIVE_INFINITY ? Number(s === sorted[0]) : Math.max(0, (s - below) / (sorted[0] - below)),
    );
    const least = [...similarity].sort((a, b) => b - a)[Math.min(voters, bank.filters) - 1];
    const order = [...responses.keys()].sort((a, b) => responses[b] - responses[a] || a - b);
    const score = classes.map((_, c) => {
      const mine = order.filter((f) => filterClass[f] === c && similarity[f] > 0 && similarity[f] >= least);
      return { sum: mine.reduce((sum, f) => sum + similarity[f], 0), count: mine.length, c };
    });
    return classes[score.sort((a, b) => b.sum - a.sum || b.count - a.count || a.c - b.c)[0].c];
  });
}

describe("voters of the classifier", () => {
  it("agree with the plain statement, survive saving, and leave probabilities alone", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 30 }), fc.integer({ min: 2, max: 30 }), async (voters, nBest) => {
        const model = await new RankSimilarityClassifier({ filters: 24, voters, nBest }).fit(x, y);
        const labels = await model.predict(x);
        expect(labels).toEqual(plainPredict(model, voters));
        expect(await (loadModel(saveModel(model)) as ClassifierModel).predict(x)).toEqual(labels);
        const one = await new RankSimilarityClassifier({ filters: 24, nBest }).fit(x, y);
        expect(await model.predictProbabilities(x)).toEqual(await one.predictProbabilities(x));
      }),
      { numRuns: 20 },
    );
  });

  it("are refused in a file where they are no count", async () => {
    const saved = (await new RankSimilarityClassifier({ filters: 6 }).fit(x, y)).save();
    for (const voters of [0, 1.5, "2", null]) {
      const meta = { ...saved.meta, params: { ...(saved.meta.params as object), voters } };
      expect(() => classifierReader.read({ ...saved, meta }, () => expect.fail("no steps"))).toThrow(/voters/);
    }
  });
});
