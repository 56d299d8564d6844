/**
 * A trained probabilistic classifier: filters with the label shares of the rows they win, and what was fitted on held-out
 * rows to make decisions and probabilities of them.
 */

import {
  applyToClasses,
  applyToLabels,
  type CalibrationMethod,
  type ClassCalibration,
  calibrateClasses,
  calibrateLabels,
  type LabelCalibration,
} from "../beyond/probabilities/calibration.ts";
import { chooseThresholds, type ThresholdRule } from "../beyond/probabilities/thresholds.ts";
import { RanksimError } from "../errors.ts";
import type { RowSource } from "../kernels/shapes.ts";
import type { Csr } from "../matrix/csr.ts";
import { Dense } from "../matrix/dense.ts";
import { codesAmong, isLabelSets, type Label, type LabelSets, type Labels, setsAmong } from "../matrix/labels.ts";
import { type MatrixLike, matchingMatrix } from "../matrix/matrix.ts";
import { matchingRows, type RowsLike } from "../matrix/source.ts";
import type { Json, Saved } from "../model-file/saved.ts";
import {
  calibrationArrays,
  FITTED_ARRAYS,
  readClassCalibration,
  readLabelCalibration,
  readThresholds,
} from "../model-file/stored/calibration.ts";
import {
  bad,
  type Filters,
  filterArrays,
  readClasses,
  readFilters,
  readNBest,
  readParams,
  readReport,
} from "../model-file/stored/filters.ts";
import { LABEL_ARRAYS, labelArrays, readLabels } from "../model-file/stored/labels.ts";
import { type Report, reportAsJson } from "../model-file/stored/report.ts";
import { type BankExplanation, explainRow, type StrongFilter } from "../paper/explain.ts";
import { expandShares, type LabelShares, tableOfShares } from "../paper/filter-labels.ts";
import { type Similar, similarities } from "../paper/similarity.ts";
import { indexOfLargest, labelProbabilities, meanShares, presenceProbabilities } from "../paper/vote.ts";
import type { CalibrateOptions, ModelReader, PredictingModel, Run, ThresholdOptions } from "./estimator.ts";
import { FilterModel } from "./filter-model.ts";
import { checkParams, PROBABILISTIC_PARAMETERS, type ProbabilisticParams } from "./params.ts";
import { addToLabels } from "./partial-labels.ts";
import { oneRow } from "./row.ts";
import { advance, mergeOptions, withBackend } from "./run.ts";
import { inheritSchema } from "./schema.ts";
import { shareRight } from "./score.ts";

/** Why a row was given its label or labels. */
export interface ProbabilisticExplanation<Y> extends BankExplanation {
  /** What `predict` gives the row. */
  readonly label: Y;
  /** The similar filters, strongest first, with the share of each class (or label) among their rows. */
  readonly filters: readonly (StrongFilter & { readonly shares: Float64Array })[];
}

/** What was fitted on rows that the model was not trained on. */
export interface Fitted {
  readonly calibration?: ClassCalibration | LabelCalibration | undefined;
  readonly thresholds?: Float64Array | undefined;
}

/** Scores that `predict` has in memory at a time; with many classes this is few rows. */
const SCORE_ROOM = 2 ** 20;

/** The parameters of a model in which nothing is fitted. */
const UNFITTED = { calibrate: "none", thresholds: "none" } as const;

/** Trained filters with the label shares of their rows. `Y` is a label, or a list of labels for a multilabel model. */
export class ProbabilisticModel<Y extends Label | Label[] = Label | Label[]>
  extends FilterModel
  implements PredictingModel<MatrixLike, Y>
{
  readonly kind = "probabilistic";
  /** The class names, or for a multilabel model the label names. */
  readonly classes: readonly Label[];
  /** Whether rows have several labels. */
  readonly multilabel: boolean;
  /** From which score on a row has each label, where that is not one half. Not to be written to. */
  readonly thresholds: Float64Array | undefined;
  readonly #labels: LabelShares;
  readonly #calibration: ClassCalibration | LabelCalibration | undefined;
  #table: Float64Array | undefined;

  /** Use `RankSimilarityProbabilisticClassifier.fit` or `loadModel`. */
  constructor(
    filters: Filters,
    labels: LabelShares,
    classes: readonly Label[],
    multilabel: boolean,
    params: { readonly [name: string]: Json },
    nBest: number,
    report: Report,
    fitted: Fitted = {},
  ) {
    super(filters, params, nBest, report);
    this.classes = classes;
    this.multilabel = multilabel;
    this.thresholds = fitted.thresholds;
    this.#labels = labels;
    this.#calibration = fitted.calibration;
  }

  /**
   * filters x classes: the share of each class (or label) among the rows a filter wins. Not to be written to. The table is made
   * when it is first asked for; with many classes ask for `filterShares` of a filter.
   */
  get filterLabels(): Float64Array {
    this.#table ??= tableOfShares(this.#labels);
    return this.#table;
  }

  /** The share of each class (or label) among the rows that a filter wins. */
  filterShares(filter: number): Float64Array {
    const shares = new Float64Array(this.classes.length);
    expandShares(this.#labels, filter, shares);
    return shares;
  }

  /** The same filters with another nBest. Thresholds and fitted probabilities belong to the old one and are left out. */
  withNBest(nBest: number): ProbabilisticModel<Y> {
    checkParams<ProbabilisticParams>({ nBest }, PROBABILISTIC_PARAMETERS);
    return this.#copy({ nBest, ...UNFITTED }, {});
  }

  /**
   * The same filters with probabilities fitted to rows that the model was not trained on. Predictions do not change. A method
   * by itself and a `Run` after it, as in 0.1, are deprecated and go in 0.3.
   */
  async calibrate(
    x: RowsLike,
    y: Labels | LabelSets,
    options: CalibrateOptions | CalibrationMethod = {},
    apart?: Run,
  ): Promise<ProbabilisticModel<Y>> {
    const { method = "temperature", ...run } = mergeOptions<CalibrateOptions, "method">("method", options, apart);
    const { calibrate } = checkParams<ProbabilisticParams>({ calibrate: method }, PROBABILISTIC_PARAMETERS);
    const { values, rows } = await this.#scoresToFitOn(x, run);
    const calibration = this.multilabel
      ? calibrateLabels(values, this.#sets(y, rows), method)
      : calibrateClasses(values, "shares", this.#codes(y, rows), this.classes.length, method);
    return this.#copy({ calibrate }, { thresholds: this.thresholds, calibration });
  }

  /** The same filters with the probabilities that `predict` decides by; this model where none were fitted. */
  uncalibrated(): ProbabilisticModel<Y> {
    return this.#calibration ? this.#copy({ calibrate: "none" }, { thresholds: this.thresholds }) : this;
  }

  /**
   * The same filters with thresholds for `predict`, chosen by F1 on rows that the model was not trained on. For several
   * labels per row. Probabilities stay. A rule by itself and a `Run` after it, as in 0.1, are deprecated and go in 0.3.
   */
  async chooseThresholds(
    x: RowsLike,
    y: LabelSets,
    options: ThresholdOptions | ThresholdRule = {},
    apart?: Run,
  ): Promise<ProbabilisticModel<Y>> {
    const { rule = "perLabel", ...run } = mergeOptions<ThresholdOptions, "rule">("rule", options, apart);
    const { thresholds } = checkParams<ProbabilisticParams>({ thresholds: rule }, PROBABILISTIC_PARAMETERS);
    if (!this.multilabel) {
      throw new RanksimError("bad-params", "thresholds: expected a model of several labels per row");
    }
    const { values, rows } = await this.#scoresToFitOn(x, run);
    const chosen = chooseThresholds(values, this.#sets(y, rows), rule);
    return this.#copy({ thresholds }, { thresholds: chosen, calibration: this.#calibration });
  }

  /**
   * The model with new rows added, and new classes or labels if any are named; this one stays as it is. Needs `keepSums`.
   * New rows count on after the earlier ones in `filterRows`.
   */
  async partialFit(x: MatrixLike, y: Labels | LabelSets, run: Run = {}): Promise<ProbabilisticModel<Y>> {
    const { classes, multilabel, params, report } = this;
    const parts = { filters: this.filters, labels: this.#labels, classes, multilabel, params, report };
    const grown = await withBackend(run, (backend) => addToLabels(parts, x, y, backend, run));
    // Thresholds and probabilities were fitted to the model as it was.
    const plain = { ...params, ...UNFITTED };
    const { filters, labels, classes: all, report: told } = grown;
    const model = new ProbabilisticModel<Y>(filters, labels, all, multilabel, plain, this.nBest, told);
    return inheritSchema(model, this, true);
  }

  /** The class of the largest score of each row, or the labels whose scores are above their thresholds. */
  predict(x: RowSource, run?: Run): Promise<Y[]>;
  predict(x: MatrixLike, run?: Run): Promise<Y[]>;
  async predict(x: RowsLike, run: Run = {}): Promise<Y[]> {
    const c = this.classes.length;
    const block = Math.max(1, Math.floor(SCORE_ROOM / c));
    const matrix = matchingRows(x, this.features);
    const scores = new Float64Array(Math.min(block, matrix.rows) * c);
    const answers: Y[] = new Array(matrix.rows);
    await this.#eachChunk(matrix, run, (first, similar) => {
      const rows = similar.offsets.length - 1;
      for (let from = 0; from < rows; from += block) {
        const to = Math.min(rows, from + block);
        this.#score({ ...similar, offsets: similar.offsets.subarray(from, to + 1) }, scores.fill(0), 0);
        for (let r = 0; r < to - from; r++) answers[first + from + r] = this.#decide(scores, r * c);
      }
    });
    return answers;
  }

  #decide(scores: Float64Array, at: number): Y {
    const { classes, thresholds } = this;
    if (!this.multilabel) return classes[indexOfLargest(scores, at, classes.length)] as Y;
    return classes.filter((_, o) => scores[at + o] > (thresholds?.[o] ?? 0.5)) as Y;
  }

  /** rows x classes: the probability of each class, or that each label is present. */
  predictProbabilities(x: RowSource, run?: Run): Promise<Dense>;
  predictProbabilities(x: MatrixLike, run?: Run): Promise<Dense>;
  async predictProbabilities(x: RowsLike, run: Run = {}): Promise<Dense> {
    const scores = await this.classScores(x, run);
    if (!this.#calibration) return scores;
    const values = scores.values as Float64Array;
    if (this.multilabel) applyToLabels(this.#calibration as LabelCalibration, values, this.classes.length);
    else applyToClasses(this.#calibration as ClassCalibration, "shares", values, this.classes.length);
    return scores;
  }

  /** rows x classes: the probabilities before any were fitted, by which `predict` decides. */
  async classScores(x: RowsLike, run: Run = {}): Promise<Dense> {
    const matrix = matchingRows(x, this.features);
    const c = this.classes.length;
    const out = new Float64Array(matrix.rows * c);
    await this.#eachChunk(matrix, run, (from, similar) => {
      this.#score(similar, out.fill(0, from * c, (from + similar.offsets.length - 1) * c), from * c);
    });
    return Dense.of(out, matrix.rows, c);
  }

  /** Writes the scores of some rows from `at` on to `out`, which is 0 there. */
  #score(similar: Similar, out: Float64Array, at: number): void {
    const rule = this.multilabel ? presenceProbabilities : labelProbabilities;
    const fill = this.params.combine === "mean" ? meanShares : rule;
    fill(similar, this.#labels, out, at);
  }

  /** The similar filters of all rows, chunk by chunk. */
  async #eachChunk(matrix: RowSource, run: Run, visit: (from: number, similar: Similar) => void): Promise<void> {
    const tell = (share: number) => advance(run, { stage: "predict", share });
    await withBackend(run, async (backend) => {
      for await (const { from, similar } of similarities(matrix, this.keptBank, this.nBest, backend, tell)) {
        visit(from, similar);
      }
      await tell(1);
    });
  }

  /** Accuracy, or for a multilabel model the share of rows with exactly the right labels. */
  score(x: RowSource, y: Labels | LabelSets, run?: Run): Promise<number>;
  score(x: MatrixLike, y: Labels | LabelSets, run?: Run): Promise<number>;
  async score(x: RowsLike, y: Labels | LabelSets, run: Run = {}): Promise<number> {
    return shareRight(await this.predict(x as RowSource, run), y, this.classes);
  }

  /** Why one row of `x` gets its label or labels. */
  async explain(x: MatrixLike, row: number, run: Run = {}): Promise<ProbabilisticExplanation<Y>> {
    const one = oneRow(matchingMatrix(x, this.features), row);
    // Filters are rivals when their rows are mostly called something else.
    const classOf = (f: number) => indexOfLargest(this.filterShares(f), 0, this.classes.length);
    const found = await withBackend(run, (backend) =>
      explainRow(one, this.keptBank, this.filters.members, this.nBest, classOf, backend),
    );
    const [label] = await this.predict(one, run);
    return {
      ...found,
      label,
      filters: found.filters.map((filter) => ({ ...filter, shares: this.filterShares(filter.filter) })),
    };
  }

  save(): Saved {
    const { features, params, classes, multilabel } = this;
    const meta = { features, params, classes, multilabel, report: reportAsJson(this.report) };
    return {
      kind: this.kind,
      meta,
      arrays: {
        ...filterArrays(this.filters),
        ...labelArrays(this.#labels),
        ...calibrationArrays(this.#calibration),
        ...(this.thresholds ? { thresholds: { shape: [classes.length], values: this.thresholds } } : {}),
      },
    };
  }

  async #scoresToFitOn(x: RowsLike, run: Run): Promise<{ values: Float64Array; rows: number }> {
    const { values, rows } = await this.classScores(x, run);
    if (rows === 0) throw new RanksimError("empty-input", "expected at least 1 row to fit to, found none");
    return { values: values as Float64Array, rows };
  }

  #sets(y: Labels | LabelSets, rows: number): Csr {
    if (isLabelSets(y)) return setsAmong(y, this.classes, rows);
    throw new RanksimError("bad-labels", "expected label sets, as the model has several labels");
  }

  #codes(y: Labels | LabelSets, rows: number): Uint32Array {
    if (!isLabelSets(y)) return codesAmong(y, this.classes, rows);
    throw new RanksimError("bad-labels", "expected one label for each row, found label sets");
  }

  #copy(changes: { readonly [name: string]: Json }, fitted: Fitted): ProbabilisticModel<Y> {
    const params = { ...this.params, ...changes };
    const { classes, multilabel, report } = this;
    const nBest = (changes.nBest ?? this.nBest) as number;
    const model = new ProbabilisticModel<Y>(
      this.filters,
      this.#labels,
      classes,
      multilabel,
      params,
      nBest,
      report,
      fitted,
    );
    return inheritSchema(model, this);
  }
}

/** Reads a stored probabilistic classifier. */
export const probabilisticReader: ModelReader = {
  kind: "probabilistic",
  read: (saved) => {
    const filters = readFilters(saved, [...LABEL_ARRAYS, ...FITTED_ARRAYS]);
    const classes = readClasses(saved);
    const { multilabel } = saved.meta;
    if (typeof multilabel !== "boolean") throw bad(saved, "multilabel: expected true or false");
    const params = readParams(saved);
    const { combine = "max" } = params;
    if (combine !== "max" && combine !== "mean") throw bad(saved, 'combine: expected "max" or "mean"');
    const { bank, keptSums } = filters;
    const labels = readLabels(saved, bank.filters, classes.length, multilabel, combine, keptSums?.labelRows);
    const fitted = {
      thresholds: readThresholds(saved, classes.length, multilabel),
      calibration: (multilabel ? readLabelCalibration : readClassCalibration)(saved, classes.length),
    };
    const [nBest, report] = [readNBest(saved), readReport(saved)];
    return new ProbabilisticModel(filters, labels, classes, multilabel, params, nBest, report, fitted);
  },
};
