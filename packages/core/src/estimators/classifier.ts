/** RSC: the rank similarity classifier. Filters are trained class by class; its model lets the strongest filter name the class. */

import type { Backend, RowSource } from "../backends/contract.ts";
import type { Refinement } from "../beyond/refinement/choice.ts";
import { RanksimError } from "../errors.ts";
import { encodeLabels, isLabelSets, type LabelSets, type Labels } from "../matrix/labels.ts";
import type { MatrixLike } from "../matrix/matrix.ts";
import { checkWeights, type Weighted } from "../matrix/row-weights.ts";
import { type Copied, rowsWithoutCopies } from "../matrix/shifted.ts";
import { type RowsLike, trainingRows } from "../matrix/source.ts";
import { checkpointOf } from "./checkpoint.ts";
import { type TrainedClasses, trainClasses } from "./class-training.ts";
import { ClassifierModel } from "./classifier-model.ts";
import type { Estimator, Progress, Run } from "./estimator.ts";
import { calibrationRows } from "./held-out-rows.ts";
import { CLASSIFIER_PARAMETERS, type ClassifierParams, checkParams, paramsAsJson } from "./params.ts";
import { withBackend } from "./run.ts";

/** Trains a model that is said to have `stated` parameters; `chosen`: what refinement did in a training on other rows. */
async function trained(
  matrix: RowSource,
  y: Labels,
  params: ClassifierParams,
  backend: Backend,
  run: Run & Copied,
  weights: Float64Array | undefined,
  { stated = params, chosen }: { stated?: ClassifierParams; chosen?: Refinement | undefined } = {},
): Promise<{ model: ClassifierModel; heldOut: TrainedClasses["heldOut"] }> {
  const { heldOut, ...parts } = await trainClasses(matrix, y, params, backend, run, weights, chosen);
  return { model: new ClassifierModel({ ...parts, params: paramsAsJson(stated), nBest: params.nBest }), heldOut };
}

/** Refuses before the first fit what the second one, which leaves rows out, would refuse. */
function refuseFewRows(y: Labels, rows: number, params: ClassifierParams): void {
  const { classes, codes } = encodeLabels(y, rows);
  calibrationRows(codes, classes.length, params);
}

/** The run for the first (0) or the second half (1) of the work. */
function halfOf(run: Run & Copied, half: 0 | 1): Run & Copied {
  const { onProgress } = run;
  const progress = onProgress && {
    onProgress: (told: Progress) => onProgress({ ...told, share: (half + told.share) / 2 }),
  };
  return { ...run, ...(half === 1 ? checkpointOf(run, "calibrate") : {}), ...progress };
}

/**
 * A fast multiclass classifier.
 *
 * ```ts
 * const model = await new RankSimilarityClassifier({ seed: 1 }).fit(x, y);
 * const labels = await model.predict(x);
 * ```
 */
export class RankSimilarityClassifier implements Estimator<MatrixLike, ClassifierModel> {
  readonly kind = "classifier";
  readonly takesWeights = true;
  readonly takesCopies = true;
  /** Whether rows may be read, or made, when they are asked for. */
  get takesSource(): boolean {
    return this.params.shiftImages === undefined;
  }

  readonly params: Readonly<ClassifierParams> & { readonly [name: string]: unknown };

  constructor(params: Partial<ClassifierParams> = {}) {
    this.params = checkParams<ClassifierParams & { readonly [name: string]: unknown }>(params, CLASSIFIER_PARAMETERS);
  }

  /** A copy with some parameters changed. */
  with(changes: Partial<ClassifierParams>): RankSimilarityClassifier {
    return new RankSimilarityClassifier({ ...this.params, ...changes });
  }

  /** Learns filters for each class from rows and their labels. */
  fit(x: RowSource, y: Labels, run?: Run & Weighted & Copied): Promise<ClassifierModel>;
  fit(x: MatrixLike, y?: Labels | LabelSets, run?: Run & Weighted & Copied): Promise<ClassifierModel>;
  async fit(x: RowsLike, y?: Labels | LabelSets, run: Run & Weighted & Copied = {}): Promise<ClassifierModel> {
    const { params } = this;
    const matrix = trainingRows(x);
    if (y === undefined) throw new RanksimError("bad-labels", `expected ${matrix.rows} labels, found none`);
    if (isLabelSets(y)) {
      throw new RanksimError(
        "bad-labels",
        "expected one label for each row; RankSimilarityProbabilisticClassifier takes several",
      );
    }
    const rows = rowsWithoutCopies(matrix, run);
    const weights = checkWeights(run, rows, params.filterFunction);
    const isAgain = params.calibrate !== "none" && params.calibrateOn !== undefined;
    if (isAgain) refuseFewRows(y, rows, params);
    return withBackend(run, async (backend) => {
      const all = { ...params, calibrate: "none" as const };
      const whole = isAgain
        ? (await trained(matrix, y, all, backend, halfOf(run, 0), weights, { stated: params })).model
        : undefined;
      // Without the rows held out filters are refined as with them: probabilities fitted to plain filters do not suit refined ones.
      const chosen = whole?.report.refinement;
      const part = await trained(matrix, y, params, backend, whole ? halfOf(run, 1) : run, weights, { chosen });
      if (!part.heldOut || params.calibrate === "none") return part.model;
      const quiet = run.signal ? { backend, signal: run.signal } : { backend };
      const fitted = await part.model.calibrate(part.heldOut.x, part.heldOut.y, { method: params.calibrate, ...quiet });
      return whole?.calibratedAs(fitted) ?? fitted;
    });
  }
}
