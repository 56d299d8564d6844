/** Which recipes are blended, and what each counts: again and again the one is added that lowers the log loss of rows held out the most. */

import type { Trial } from "../plan/recipe.ts";
import { type OutOfFold, type Sample, type Score, scoreOf } from "./out-of-fold.ts";

interface Judged {
  readonly trial: Trial;
  readonly found: OutOfFold;
  readonly score: Score;
}

/** Recipes that are added, the same one several times perhaps. */
const STEPS = 12;
const MOST_PARTS = 4;
/** What a blend has to gain over the best recipe by itself. */
const GAIN = 0.001;

/** The parts of the best blend, those that count most first; undefined where one recipe is as good. */
export function blendOf<J extends Judged>(
  judged: readonly J[],
  sample: Sample,
): readonly { readonly judged: J; readonly weight: number }[] | undefined {
  const counts = new Map<J, number>();
  const size = judged[0].found.probabilities.length;
  let sum = new Float64Array(size);
  let best = Number.POSITIVE_INFINITY;
  if (Array.isArray(sample.y[0])) return undefined;
  for (let step = 1; step <= STEPS; step++) {
    let next: { readonly one: J; readonly sum: Float64Array<ArrayBuffer>; readonly loss: number } | undefined;
    for (const one of judged) {
      if (!counts.has(one) && counts.size === MOST_PARTS) continue;
      const added = sum.map((value, e) => value + one.found.probabilities[e]);
      const loss = scoreOf(
        added.map((value) => value / step),
        sample,
      ).logLoss;
      if (loss < (next?.loss ?? Number.POSITIVE_INFINITY)) next = { one, sum: added, loss };
    }
    if (next === undefined || next.loss > best) break;
    counts.set(next.one, (counts.get(next.one) ?? 0) + 1);
    ({ sum, loss: best } = next);
  }
  const all = [...counts.values()].reduce((a, b) => a + b, 0);
  if (counts.size < 2 || judged[0].score.logLoss - best < GAIN) return undefined;
  return [...counts].map(([one, count]) => ({ judged: one, weight: count / all })).sort((a, b) => b.weight - a.weight);
}
