/** Thresholds against a search over every possible one. */

import { Csr } from "@ranksim/core";
import fc from "fast-check";
import { expect, it } from "vitest";
import { chooseThresholds } from "../../../src/beyond/probabilities/thresholds.ts";

const f1At = (scores: readonly number[], isTrue: readonly boolean[], threshold: number): number => {
  const predicted = scores.map((score) => score > threshold);
  const hits = predicted.filter((yes, r) => yes && isTrue[r]).length;
  const all = predicted.filter(Boolean).length + isTrue.filter(Boolean).length;
  return all === 0 ? 0 : (2 * hits) / all;
};

const presentOf = (has: readonly (readonly boolean[])[]) =>
  Csr.fromRows(
    has.map((row) => row.flatMap((yes, o) => (yes ? [[o, 1] as const] : []))),
    has[0].length,
  );

/** The best threshold among those between scores, the highest of equals. */
function plainBest(scores: readonly number[], isTrue: readonly boolean[]): number | undefined {
  const levels = [...new Set([0, ...scores])].sort((a, b) => b - a);
  const cuts = levels.slice(0, -1).map((level, j) => (level + levels[j + 1]) / 2);
  const best = Math.max(0, ...cuts.map((cut) => f1At(scores, isTrue, cut)));
  return best === 0 ? undefined : cuts.find((cut) => f1At(scores, isTrue, cut) === best);
}

it("are the best of all, those of labels drawn towards the common one", () => {
  const row = fc.tuple(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 8 }), fc.boolean(), fc.boolean());
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 20 }), (rows) => {
      const scores = rows.map(([a, b]) => [a / 8, b / 8]);
      const has = rows.map(([, , a, b]) => [a, b]);
      const values = Float64Array.from(scores.flat());
      const common = plainBest(scores.flat(), has.flat()) ?? 0.5;
      const found = chooseThresholds(values, presentOf(has), "common");
      expect([...found]).toEqual([common, common]);
      const own = chooseThresholds(values, presentOf(has), "perLabel");
      for (const o of [0, 1]) {
        const column = scores.map((row) => row[o]);
        const isTrue = has.map((row) => row[o]);
        const rowsWith = isTrue.filter(Boolean).length;
        const best = plainBest(column, isTrue) ?? common;
        expect(own[o]).toBeCloseTo((rowsWith * best + 2 * common) / (rowsWith + 2), 14);
      }
    }),
  );
});
