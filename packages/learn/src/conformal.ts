/** Training a model that answers with sets: some rows are held out, and say how well the model knows rows like them. */

import {
  type ConformalModel,
  type Estimator,
  type Label,
  type LabelledRows,
  type LabelSets,
  type Labels,
  type MatrixLike,
  type ParameterInfo,
  Pipeline,
  type PredictingModel,
  RanksimError,
  type Run,
  type Weighted,
} from "@ranksim/core";
import { checkParams, conformalOn, partOfRun } from "@ranksim/core/internal";
import { checkSameCount, countRows, type Fold, gatherRows, type Samples, trainTestRows } from "./select/split.ts";

export interface ConformalParams {
  /** Share of the rows that are held out. */
  readonly heldOut: number;
  /** Where the choice of these rows comes from. */
  readonly seed: number;
}

const PARAMETERS: readonly ParameterInfo[] = [
  { name: "heldOut", form: "share", default: 0.1, about: "share of the rows held out for sets" },
  { name: "seed", form: "seed", default: 0, about: "where the choice of held-out rows comes from" },
];

/** A recipe with one label per row. */
type Recipe<X> = Estimator<X, PredictingModel<X, Label>>;

/**
 * Trains a recipe whose model answers with sets.
 *
 * ```ts
 * const model = await new ConformalClassifier(recipe).fit(x, y);
 * await model.predictSets(x, { coverage: 0.95 }); // [["shirt"], ["coat", "pullover"], …]
 * ```
 */
export class ConformalClassifier<X = MatrixLike> implements Estimator<X, ConformalModel<X>> {
  readonly kind = "conformal";
  readonly estimator: Recipe<X>;
  readonly params: { readonly [name: string]: unknown };
  readonly #own: ConformalParams;

  constructor(estimator: Recipe<X>, params: Partial<ConformalParams> = {}) {
    this.estimator = estimator;
    this.#own = checkParams<ConformalParams>(params, PARAMETERS);
    this.params = Object.freeze({ ...estimator.params, ...this.#own });
  }

  /** A copy with some parameters changed: its own, or those of the recipe. */
  with(changes: { readonly [name: string]: unknown }): ConformalClassifier<X> {
    const { heldOut = this.#own.heldOut, seed = this.#own.seed, ...rest } = changes;
    return new ConformalClassifier(this.estimator.with(rest) as Recipe<X>, { heldOut, seed } as ConformalParams);
  }

  /** Trains on all rows but those held out, and keeps how well these are known. */
  async fit(x: X, y?: Labels | LabelSets, { weights, ...run }: Run & Weighted = {}): Promise<ConformalModel<X>> {
    const fold = this.divide(y, countRows(x as Samples));
    const part = (rows: Uint32Array) => ({
      x: gatherRows(x as Samples, rows) as X,
      y: gatherRows(y as Labels, rows),
    });
    const own = weights && { weights: weightsOf(weights, fold) };
    return this.fitDivided(part(fold.train), [part(fold.test)], { ...run, ...own });
  }

  /** Which rows are trained on, and which are held out. */
  divide(y: Labels | LabelSets | undefined, rows: number): Fold {
    if (y === undefined || Array.isArray((y as readonly unknown[])[0])) {
      throw new RanksimError(
        "bad-labels",
        "sets of classes (--sets): expected one label for each row, found none or several",
      );
    }
    const { heldOut, seed } = this.#own;
    checkSameCount(rows, y);
    return trainTestRows(y, { testShare: heldOut, seed });
  }

  /** The same for rows that were divided already: those held out come in blocks, so that they need not be in memory. Weights are of the rows trained on. */
  async fitDivided(
    train: LabelledRows<X>,
    heldOut: Iterable<LabelledRows<X>> | AsyncIterable<LabelledRows<X>>,
    { weights, ...run }: Run & Weighted = {},
  ): Promise<ConformalModel<X>> {
    if (weights && !(this.estimator instanceof Pipeline) && !("takesWeights" in this.estimator)) {
      throw new RanksimError("unsupported", `conformal sets: a ${this.estimator.kind} takes no weights of rows`);
    }
    const fitting = { ...partOfRun(run, 0, 0.9, "sets"), ...(weights ? { weights } : {}) };
    const model = await this.estimator.fit(train.x, train.y, fitting);
    return conformalOn(model, heldOut, partOfRun(run, 0.9, 1));
  }
}

/** The weights of the rows that are trained on. */
function weightsOf(weights: ArrayLike<number>, { train, test }: Fold): Float64Array {
  const rows = train.length + test.length;
  if (weights.length !== rows) {
    throw new RanksimError(
      "bad-params",
      `weights: expected ${rows} numbers, one for each row, found ${weights.length}`,
    );
  }
  return Float64Array.from(train, (r) => weights[r]);
}
