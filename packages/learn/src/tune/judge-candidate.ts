/** One candidate of `tune` in one round: cross-validated, and what its models cost. */

import type { Estimator, LabelSets, Labels, Model, PredictingModel, Run } from "@ranksim/core";
import { countRows, type Fold, type Samples } from "../select/split.ts";
import { rowsOf, type Scorer, type ScoringName, scorerOf, validate } from "../select/validation.ts";
import { arrayBytes, multiplyAdds } from "./prediction-cost.ts";
import type { Shared, SharedSteps } from "./shared-steps.ts";

/** How one candidate did in one round. */
export interface TuneRound {
  readonly rows: number;
  /** One for each fold. */
  readonly scores: readonly number[];
  readonly mean: number;
  /** Of the scores, divided by their number (not one less). */
  readonly standardDeviation: number;
  /** Multiply-adds to predict one row without any skipping; the same on every machine. */
  readonly multiplyAdds: number;
  /** Bytes of the trained model's arrays. */
  readonly bytes: number;
  /** Wall-clock seconds: to train all folds, and to predict 1,000 rows; for texts without the counting of words. */
  readonly fitSeconds: number;
  readonly secondsPerThousand: number;
}

/** What all candidates of a round are judged by. */
interface JudgedBy<X extends Samples, M extends Model> {
  readonly x: X;
  readonly y: Labels | LabelSets;
  readonly folds: readonly Fold[];
  readonly shared: SharedSteps;
  readonly score: ScoringName | Scorer<X, M>;
}

/** Cross-validates one candidate; its cost is that of the model of the first fold. */
export async function judge<X extends Samples, M extends PredictingModel<X>>(
  estimator: Estimator<X, M>,
  { x, y, folds, shared, score }: JudgedBy<X, M>,
  run: Run,
): Promise<TuneRound> {
  // A score of the caller's own is given the whole pipeline; those by name ask the last step as they would ask it.
  const part = typeof score === "string" ? shared.of(estimator) : undefined;
  let cost: { multiplyAdds: number; bytes: number } | undefined;
  let bytesBefore = 0; // of the shared steps
  let scoring = 0;
  const watched =
    <S extends Samples, N extends PredictingModel<S>>(inner: Scorer<S, N>): Scorer<S, N> =>
    async (model, xs, ys, rest) => {
      cost ??= { multiplyAdds: await multiplyAdds(model, xs, rest), bytes: arrayBytes(model.save()) + bytesBefore };
      const start = performance.now();
      const found = await inner(model, xs, ys, rest);
      scoring += (performance.now() - start) / 1000;
      return found;
    };
  const openShared = async (fold: number) => {
    const opened = await (part as Shared).open(fold, run);
    bytesBefore = opened.bytes;
    return opened;
  };
  const openOwn = async (fold: number) => rowsOf(x, y, folds[fold]);
  const { scores, mean, standardDeviation, fitSeconds } = part
    ? await validate(part.last, folds.length, openShared, watched(scorerOf(score as ScoringName)), run)
    : await validate(estimator, folds.length, openOwn, watched(scorerOf(score)), run);
  const rows = countRows(x);
  return {
    rows,
    scores,
    mean,
    standardDeviation,
    ...(cost as { multiplyAdds: number; bytes: number }),
    fitSeconds: fitSeconds.reduce((a, b) => a + b),
    secondsPerThousand: (scoring * 1000) / rows,
  };
}
