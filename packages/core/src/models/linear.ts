/**
 * A linear classifier: one plane for each class against the rest, the least squared hinge loss with a bound on the weights (L2), as in
 * LIBLINEAR. The paper puts one behind its transform; behind encoded columns it needs no filters at all.
 */

import { chooseCost, fitPlanes, foldsOf, type Problem } from "../beyond/linear/choice.ts";
import { packRows } from "../beyond/linear/pack.ts";
import { planesOf } from "../beyond/linear/planes.ts";
import { applyToLabels } from "../beyond/probabilities/calibration.ts";
import { fitCalibration } from "../beyond/probabilities/fit.ts";
import { type LabelCalibration, type Truth, truthAt } from "../beyond/probabilities/fitted.ts";
import { chooseThresholds } from "../beyond/probabilities/thresholds.ts";
import { RanksimError } from "../errors.ts";
import type { RowSource } from "../kernels/shapes.ts";
import type { Label, LabelSets, Labels } from "../matrix/labels.ts";
import { type MatrixLike, refuseLost } from "../matrix/matrix.ts";
import { checkWeights, type Weighted } from "../matrix/row-weights.ts";
import { fittingRows, type RowsLike } from "../matrix/source.ts";
import { Streams } from "../random.ts";
import type { Estimator, Run } from "./estimator.ts";
import { LinearModel, type LinearParts } from "./linear-model.ts";
import { LINEAR_PARAMETERS, type LinearParams } from "./linear-params.ts";
import { Parametrized, paramsAsJson } from "./parameter.ts";
import { advance, partOfRun, refuseLarge, turns } from "./run.ts";
import { type Labelling, labelsToLearn } from "./train.ts";

/**
 * Separates classes by planes.
 *
 * ```ts
 * const paper = new Pipeline([
 *   ["rst", new RankSimilarityTransform()],
 *   ["head", new LinearClassifier()],
 * ]);
 * const model = await paper.fit(x, y);
 * ```
 */
export class LinearClassifier extends Parametrized<LinearParams> implements Estimator<MatrixLike, LinearModel> {
  readonly kind = "linear";
  readonly takesWeights = true;
  readonly takesSource = true;

  constructor(params: Partial<LinearParams> = {}) {
    super(params, LINEAR_PARAMETERS);
  }

  /** Finds one plane for each class, or label, against the rest; for two classes one plane, with the second class above it. */
  fit(x: RowsLike, y: Labels, run?: Run & Weighted): Promise<LinearModel<Label>>;
  fit(x: RowsLike, y: LabelSets, run?: Run & Weighted): Promise<LinearModel<Label[]>>;
  fit(x: MatrixLike, y?: Labels | LabelSets, run?: Run & Weighted): Promise<LinearModel>;
  async fit(x: RowsLike, y?: Labels | LabelSets, run: Run & Weighted = {}): Promise<LinearModel> {
    const { params } = this;
    const rows = fittingRows(x);
    const labelling = labelsToLearn(y, rows.rows, params);
    const weights = checkWeights(run, rows.rows) ?? new Float64Array(rows.rows).fill(1);
    refuseLarge(run, bytesOf(rows, labelling), "planes", "leave features out, or take a classifier of filters");
    await advance(run, { stage: "fit", share: 0 });
    const parts = await fitLinear({ rows, weights, params, ...labelling }, run);
    refuseLost(rows);
    await advance(run, { stage: "fit", share: 1 });
    return new LinearModel(parts);
  }
}

/** Bytes of the planes and of those of a fold, each as it was moved and as it is kept. */
const bytesOf = ({ features }: RowSource, { classes, multilabel }: Labelling): number =>
  2 * Float64Array.BYTES_PER_ELEMENT * features * (planesOf(classes.length, multilabel) + 1);

/** The cost where there are too few rows to choose it. */
const USUAL_COST = 1;

async function pack(rows: RowSource, weights: Float64Array) {
  refuseLost(rows);
  const packed = await packRows(rows, weights);
  refuseLost(rows);
  return packed;
}

/** Weights under which all classes count the same, and all rows together what they did. */
function evenly(truth: Truth, weights: Float64Array, classes: number): Float64Array {
  if ("present" in truth) {
    throw new RanksimError("bad-params", 'classWeight: expected "proportional" where rows have several labels');
  }
  const sums = new Float64Array(classes);
  for (const [r, weight] of weights.entries()) sums[truth.codes[r]] += weight;
  const all = sums.reduce((sum, own) => sum + own);
  return weights.map((weight, r) => (weight * all) / (classes * sums[truth.codes[r]]));
}

/** Share of the progress before planes are fitted to all rows. */
const JUDGING_SHARE = 0.6;

/** Rows and their labels. */
interface LinearTask extends Labelling {
  readonly rows: RowSource;
  readonly weights: Float64Array;
  readonly params: LinearParams;
}

/** Chooses what errors cost, fits planes to all rows, and probabilities to rows held out. */
async function fitLinear(task: LinearTask, run: Run): Promise<LinearParts> {
  const { rows, weights, truth, classes, multilabel, params } = task;
  const turn = turns(run);
  const streams = new Streams(params.seed);
  const packed = await pack(rows, weights);
  const problem: Problem = {
    packed,
    truth,
    classes: classes.length,
    costs: params.classWeight === "uniform" ? evenly(truth, weights, classes.length) : weights,
    tolerance: params.tolerance,
    maxIterations: params.maxIterations,
    generator: (plane) => streams.plane(plane),
  };
  const tellOf = (part: Run) => async (plane: number, iteration: number, share: number) => {
    await turn();
    await advance(part, { stage: "fit", label: classes[plane], iteration, share });
  };
  const folds = classes.length === 1 && !multilabel ? [] : foldsOf(truth, packed.rows, streams.heldOut(classes.length));
  const isChosen = params.c === "auto" && folds.length > 0;
  const isFitted = params.calibrate !== "none" || params.thresholds !== "none";
  const chosen = isChosen
    ? await chooseCost(problem, folds, async (trial, trials) => {
        await turn();
        await advance(run, { stage: "fit", share: (JUDGING_SHARE * trial) / trials });
      })
    : undefined;
  const c = chosen?.c ?? (params.c === "auto" ? USUAL_COST : params.c);
  // Of many rows the cost was chosen on a sample, from which probabilities are not as those of all rows.
  const isAgain = isFitted && (!chosen || folds.length === 1);
  const last = partOfRun(run, isChosen ? JUDGING_SHARE : 0, 1);
  const fitted = await fitPlanes(problem, c, isAgain ? folds : [], true, tellOf(last));
  const judged = isAgain ? fitted : chosen?.judged;
  const told = {
    rows: packed.rows,
    c,
    tried: chosen?.tried ?? [],
    iterations: fitted.descended.map(({ iterations }) => iterations),
    converged: fitted.descended.map(({ converged }) => converged),
  };
  const plain = { classes, multilabel, weights: fitted.weights, intercepts: fitted.intercepts, report: told };
  if (!isFitted || !judged || judged.rows.length === 0) {
    return { ...plain, params: paramsAsJson({ ...params, calibrate: "none", thresholds: "none" }) };
  }
  const own = truthAt(truth, judged.rows);
  const { calibrate, thresholds: rule } = params;
  const calibration =
    calibrate === "none"
      ? undefined
      : await fitCalibration(judged.distances.slice(), "distances", rows, own, classes.length, calibrate);
  const all = { ...plain, params: paramsAsJson(params), calibration };
  if (rule === "none" || "codes" in own) return all;
  const probabilities = judged.distances.slice();
  applyToLabels(calibration as LabelCalibration | undefined, "distances", probabilities, classes.length);
  return { ...all, thresholds: chooseThresholds(probabilities, own.present, rule) };
}
