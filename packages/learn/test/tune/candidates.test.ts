/** What tuning tries, how it judges cost, and which candidates nothing beats. */

import {
  Csr,
  Dense,
  LinearClassifier,
  MaxAbsScaler,
  Pipeline,
  type PredictingModel,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  toCsr,
} from "@ranksim/core";
import { TfidfVectorizer } from "@ranksim/data";
import { multiplyAdds, suggestCandidates, tune } from "@ranksim/learn";
import { describe, expect, it } from "vitest";
import { sampleOrder } from "../../src/select/split.ts";
import { paretoFront } from "../../src/tune/pareto.ts";

it("sampleOrder begins with samples that hold each class in its share", () => {
  const labels = Array.from({ length: 300 }, (_, r) => (r < 30 ? "few" : r < 120 ? "some" : "many"));
  const order = sampleOrder(labels, 3);
  expect([...order].sort((a, b) => a - b)).toEqual(labels.map((_, r) => r));
  for (const size of [10, 50, 100, 200]) {
    const found = Array.from(order.slice(0, size), (r) => labels[r]);
    expect(Math.abs(found.filter((label) => label === "few").length - size / 10)).toBeLessThanOrEqual(1);
    expect(Math.abs(found.filter((label) => label === "some").length - size * 0.3)).toBeLessThanOrEqual(1);
  }
});

it("paretoFront keeps what nothing beats in everything", () => {
  const points = [
    [1, 5],
    [2, 4],
    [2, 5],
    [3, 3],
    [1, 5],
    [4, 3],
  ];
  // [2, 5] loses to [2, 4] and [1, 5]; [4, 3] to [3, 3]; equals do not beat each other.
  expect(paretoFront(points)).toEqual([true, true, false, true, true, false]);
});

describe("multiplyAdds", () => {
  const wide = Array.from({ length: 8 }, (_, r) => [[(r % 4) * 50, 3] as const, [199, 1 + (r % 2)] as const]);
  const labels = wide.map((_, r) => r % 4);

  it("is filters x features for dense rows, also behind a scaler", async () => {
    const dense = Array.from({ length: 12 }, (_, r) => Array.from({ length: 10 }, (_, i) => (r * i) % 7));
    const classes = dense.map((_, r) => r % 2);
    const model = await new RankSimilarityClassifier({ filters: 4 }).fit(dense, classes);
    expect(await multiplyAdds(model, dense)).toBe(40);
    const pipeline = await new Pipeline([new MaxAbsScaler(), new LinearClassifier()]).fit(dense, classes);
    expect(await multiplyAdds(pipeline, dense)).toBe(10);
  });

  it("counts, for sparse rows, the filters in which a feature stands out", async () => {
    const sparse = Csr.fromRows(wide, 200);
    const model = await new RankSimilarityClassifier({ filters: 4 }).fit(sparse, labels);
    // One filter a class: feature 199 stands out in all four, the other one of a row in its own class alone; four bases.
    expect(model.bank.form).toBe("sparse");
    expect(await multiplyAdds(model, sparse)).toBe(4 + 1 + 4);
  });
});

describe("suggestCandidates", () => {
  const dense = Dense.of(new Uint8Array(4000 * 3), 4000, 3);
  const labels = Array.from({ length: 4000 }, (_, r) => r % 4);

  it("goes from one filter a class to the automatic number", () => {
    const found = suggestCandidates(new RankSimilarityClassifier({ seed: 3 }), dense, labels);
    expect(new Set(found.map(({ params }) => params.filters))).toEqual(new Set([4, 12, 40, 120, 400, 800, "auto"]));
    expect(new Set(found.map(({ params }) => params.distribution))).toEqual(new Set(["rank", "confusion"]));
    expect(found.every(({ params }) => params.seed === 3)).toBe(true);
    expect(found.some(({ params }) => params.refine === true && params.committee === 4)).toBe(true);
    expect(found.every(({ params }) => params.refine !== true || params.voters === 1)).toBe(true);
    const texts = found.map(({ params }) => JSON.stringify(params));
    expect(new Set(texts).size).toBe(texts.length);
    // Banks of a committee add up their scores: no filters vote there.
    const banks = suggestCandidates(new RankSimilarityClassifier({ committee: 2 }), dense, labels, ["committee"]);
    expect(new Set(banks.map(({ params }) => params.voters))).toEqual(new Set([1]));
    expect(banks.some(({ params }) => params.refine === true)).toBe(true);
    const held = suggestCandidates(new RankSimilarityClassifier({ filters: 7 }), dense, labels, ["filters"]);
    expect(new Set(held.map(({ params }) => params.filters))).toEqual(new Set([7]));
  });

  it("tries nBest for probabilities, Savage scores for sparse rows and rarity for words", () => {
    const sparse = Csr.of(new Uint32Array(4001), new Uint32Array(0), new Uint8Array(0), 50);
    const found = suggestCandidates(new RankSimilarityProbabilisticClassifier(), sparse, labels);
    expect(new Set(found.map(({ params }) => params.nBest)).size).toBeGreaterThan(1);
    expect(new Set(found.map(({ params }) => params.distribution))).toContain("savage");
    const text = new Pipeline<readonly string[], PredictingModel>([
      new TfidfVectorizer(),
      new RankSimilarityClassifier(),
    ]);
    const words = suggestCandidates(text, ["one", "two", "three", "four"], ["a", "b", "a", "b"]);
    const powers = words.map(({ params }) => params["tfidf-vectorizer.idfPower"]);
    expect(new Set(powers)).toEqual(new Set([1, 2]));
  });

  it("tries thresholds where rows have several labels, and tunes them", async () => {
    const rows = Array.from({ length: 120 }, (_, r) =>
      Array.from({ length: 12 }, (_, i) => (i % 3 === r % 3 ? 9 : (r * i) % 5)),
    );
    const sets = rows.map((_, r) => (r % 3 === 0 ? ["a"] : r % 3 === 1 ? ["a", "b"] : ["c"]));
    const recipe = new RankSimilarityProbabilisticClassifier({ filters: 12 });
    const found = suggestCandidates(recipe, rows, sets, ["filters", "distribution", "nBest"]);
    expect(found.map(({ params }) => [params.combine, params.thresholds])).toEqual([
      ["max", "none"],
      ["mean", "perLabel"],
    ]);
    const sparse = suggestCandidates(recipe, toCsr(Dense.fromRows(rows)), sets, ["filters", "distribution", "nBest"]);
    expect(sparse.map(({ params }) => params.spreading)).toEqual(["max", "none"]);
    const { best, results } = await tune(found, rows, sets, { folds: 3, scoring: "f1Micro" });
    expect(results.map(({ outcome }) => outcome)).toEqual(["finished", "finished"]);
    expect(best.rounds[0].mean).toBeGreaterThan(0.8);
  });

  it("leaves other recipes alone", () => {
    const head = new LinearClassifier();
    expect(suggestCandidates(head, dense, labels)).toEqual([head]);
    const behind = new Pipeline([new RankSimilarityTransform(), new LinearClassifier()]);
    expect(suggestCandidates(behind, dense, labels).length).toBeGreaterThan(3);
  });
});
