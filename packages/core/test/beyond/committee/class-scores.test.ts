/** Class scores against the plain statement: every response, the largest of each class. */

import { type Backend, Dense, type FilterBank, RankSimilarityClassifier, toCsr } from "@ranksim/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KeptBank } from "../../../src/backends/kept-bank.ts";
import { committeeScores, keptCommitteeBank } from "../../../src/beyond/committee/committee.ts";
import { dotRow } from "../../../src/kernels/dot.ts";
import { expandFilter } from "../../../src/kernels/top.ts";
import { drawBelow, generatorOf } from "../../../src/random.ts";
import { platforms } from "../../platforms.ts";

const generator = generatorOf(8);
const y = Array.from({ length: 70 }, (_, r) => ["ant", "bee", "cow"][r % 3]);
const x = Dense.fromRows(
  y.map((_, r) => Array.from({ length: 31 }, (_, i) => (drawBelow(generator, 3) > 0 ? 0 : drawBelow(generator, 9) + ((i + r) % 3)))), // biome-ignore format: a matrix
);

function plainScores(data: Dense, bank: FilterBank, filterClass: Uint32Array, classes: number): number[] {
  const weights = new Float64Array(bank.features);
  const best = new Array<number>(data.rows * classes).fill(Number.NEGATIVE_INFINITY);
  for (let f = 0; f < bank.filters; f++) {
    expandFilter(bank, f, weights);
    for (let r = 0; r < data.rows; r++) {
      const at = r * classes + filterClass[f];
      best[at] = Math.max(best[at], dotRow(data, r, weights) / bank.norm[f]);
    }
  }
  return best;
}

describe.each(platforms)("on $title", ({ open }) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await open();
  });
  afterAll(() => backend.close());

  it.each(["rank", "savage"] as const)("are the largest responses of each class (%s)", async (distribution) => {
    const model = await new RankSimilarityClassifier({ filters: 20, distribution }).fit(x, y, { backend });
    const expected = plainScores(x, model.bank, model.filterClass, 3);
    for (const data of [x, toCsr(x)]) {
      const scores = await model.classScores(data, { backend });
      expect([scores.rows, scores.features]).toEqual([70, 3]);
      expect([...scores.values]).toEqual(expected);
    }
    const labels = await model.predict(x, { backend });
    labels.forEach((label, r) => {
      expect(expected[r * 3 + model.classes.indexOf(label)]).toBe(Math.max(...expected.slice(r * 3, r * 3 + 3)));
    });
  });

  it("give a class without filters the lowest score of the row", async () => {
    const model = await new RankSimilarityClassifier({ filters: 9, classWeight: "uniform" }).fit(x, y, { backend });
    const filterClass = model.filterClass.map((c) => (c === 1 ? 3 : c)); // classes 0, 2 and 3 have filters
    const bank = keptCommitteeBank(new KeptBank(model.bank), filterClass, 4);
    expect(bank.byClass.map((own) => own?.bank.filters)).toEqual([3, undefined, 3, 3]);
    const scores = new Float64Array(x.rows * 4);
    await committeeScores(x, [bank], 4, backend, async () => {}, scores);
    for (let at = 0; at < scores.length; at += 4) {
      expect(scores[at + 1]).toBe(Math.min(scores[at], scores[at + 2], scores[at + 3]));
    }
  });
});
