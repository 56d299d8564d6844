/** Votes of several filters: by hand, and against a plain statement that ranks filters itself. */

import { type ClassifierModel, Dense, loadModel, RankSimilarityClassifier, saveModel } from "@ranksim/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dotRow } from "../../src/kernels/dot.ts";
import { expandFilter } from "../../src/kernels/top.ts";
import { classifierReader } from "../../src/models/classifier-model.ts";
import { voteBySimilarity } from "../../src/paper/vote.ts";
import { drawBelow, generatorOf } from "../../src/random.ts";

const similarOf = (rows: readonly (readonly (readonly [filter: number, similarity: number])[])[]) => ({
  offsets: Uint32Array.from([0, ...rows.keys()], (_, j) => rows.slice(0, j).reduce((sum, row) => sum + row.length, 0)),
  filter: Uint32Array.from(rows.flat(), ([filter]) => filter),
  similarity: Float64Array.from(rows.flat(), ([, similarity]) => similarity),
});

describe("voteBySimilarity", () => {
  const classes = Uint32Array.of(0, 0, 1, 1, 2, 2, 2);
  const vote = (...rows: (readonly [number, number])[][]) => [...voteBySimilarity(similarOf(rows), classes, 3)];

  it("adds up similarities", () => {
    expect(vote([[0, 1], [2, 0.75]], [[0, 1], [2, 0.75], [3, 0.5], [4, 0.25]])).toEqual([0, 1]); // biome-ignore format: rows
  });

  it("settles equal sums by the number of voters, then by the lower class", () => {
    expect(vote([[0, 1], [2, 0.5], [3, 0.5]], [[2, 1], [0, 1]])).toEqual([1, 0]); // biome-ignore format: rows
  });

  it("names the class with most filters where nothing responds", () => {
    expect(vote([])).toEqual([2]);
  });
});

const generator = generatorOf(4);
const y = Array.from({ length: 60 }, (_, r) => r % 3);
const rows = y.map((c) => Array.from({ length: 12 }, (_, i) => drawBelow(generator, 8) + (i % 3 === c ? 3 : 0)));
const x = Dense.fromRows(rows);

/** Sorts all filters by response and lets the first vote, with similarities computed from the definition. */
function plainPredict({ bank, filterClass, classes }: ClassifierModel, voters: number): unknown[] {
  const weights = new Float64Array(bank.features);
  return rows.map((_, r) => {
    const responses = Array.from({ length: bank.filters }, (_, f) => {
      expandFilter(bank, f, weights);
      return dotRow(x, r, weights) / bank.norm[f];
    });
    const sorted = [...responses].sort((a, b) => b - a);
    const next = sorted[Math.min(voters, bank.filters - 2)];
    const similarity = responses.map((s) =>
      next === sorted[0] ? Number(s === next) : Math.max(0, (s - next) / (sorted[0] - next)),
    );
    const order = [...responses.keys()].sort((a, b) => responses[b] - responses[a] || a - b);
    const score = classes.map((_, c) => {
      const mine = order.filter((f) => filterClass[f] === c && similarity[f] > 0);
      return { sum: mine.reduce((sum, f) => sum + similarity[f], 0), count: mine.length, c };
    });
    return classes[score.sort((a, b) => b.sum - a.sum || b.count - a.count || a.c - b.c)[0].c];
  });
}

describe("voters of the classifier", () => {
  it("agree with the plain statement, survive saving, and leave probabilities alone", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 30 }), async (voters) => {
        const model = await new RankSimilarityClassifier({ filters: 24, voters }).fit(x, y);
        const labels = await model.predict(x);
        expect(labels).toEqual(plainPredict(model, voters));
        expect(await (loadModel(saveModel(model)) as ClassifierModel).predict(x)).toEqual(labels);
        const one = await new RankSimilarityClassifier({ filters: 24 }).fit(x, y);
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
