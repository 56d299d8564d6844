/**
 * A trained probabilistic classifier: filters with the label shares of the rows they win, and what was fitted on held-out
 * rows to make decisions and probabilities of them.
 */

import { RanksimError } from "../errors.ts";
import type { FilterBank } from "../kernels/shapes.ts";
import type { Csr } from "../matrix/csr.ts";
import { Dense } from "../matrix/dense.ts";
import { codesAmong, isLabelSets, type Label, type LabelSets, type Labels, setsAmong } from "../matrix/labels.ts";
import { type MatrixLike, matchingMatrix } from "../matrix/matrix.ts";
import {
  applyToClasses,
  applyToLabels,
  type CalibrationMethod,
  type ClassCalibration,
  calibrateClasses,
  calibrateLabels,
  type LabelCalibration,
} from "../method/calibration.ts";
import { type BankExplanation, explainRow, type StrongFilter } from "../method/explain.ts";
import { countsOf, sharesOf } from "../method/filter-labels.ts";
import { similarities } from "../method/similarity.ts";
import { chooseThresholds, type ThresholdRule } from "../method/thresholds.ts";
import { indexOfLargest, labelProbabilities, meanShares, presenceProbabilities } from "../method/vote.ts";
import type { Json, ModelReader, PredictingModel, Run, Saved } from "./estimator.ts";
import { checkParams, PROBABILISTIC_PARAMETERS, type ProbabilisticParams } from "./params.ts";
import { addToLabels } from "./partial-labels.ts";
import { type Report, reportAsJson } from "./report.ts";
import { oneRow } from "./row.ts";
import { advance, backendOf } from "./run.ts";
import {
  calibrationArrays,
  FITTED_ARRAYS,
  readClassCalibration,
  readLabelCalibration,
  readThresholds,
} from "./saved-calibration.ts";
import {
  bad,
  type Filters,
  filterArrays,
  readClasses,
  readFilters,
  readNBest,
  readParams,
  readReport,
} from "./saved-filters.ts";
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

/** The parameters of a model in which nothing is fitted. */
const UNFITTED = { calibrate: "none", thresholds: "none" } as const;

/** Trained filters with the label shares of their rows. `Y` is a label, or a list of labels for a multilabel model. */
export class ProbabilisticModel<Y extends Label | Label[] = Label | Label[]> implements PredictingModel<MatrixLike, Y> {
  readonly kind = "probabilistic";
  readonly features: number;
  /** The class names, or for a multilabel model the label names. */
  readonly classes: readonly Label[];
  /** Whether rows have several labels. */
  readonly multilabel: boolean;
  /** filters x classes: the share of each class (or label) among the rows a filter wins. Not to be written to. */
  readonly filterLabels: Float64Array;
  /** The parameters the model was trained with. */
  readonly params: { readonly [name: string]: Json };
  readonly nBest: number;
  readonly report: Report;
  /** From which score on a row has each label, where that is not one half. Not to be written to. */
  readonly thresholds: Float64Array | undefined;
  readonly #filters: Filters;
  readonly #calibration: ClassCalibration | LabelCalibration | undefined;

  /** Use `RankSimilarityProbabilisticClassifier.fit` or `loadModel`. */
  constructor(
    filters: Filters,
    filterLabels: Float64Array,
    classes: readonly Label[],
    multilabel: boolean,
    params: { readonly [name: string]: Json },
    nBest: number,
    report: Report,
    fitted: Fitted = {},
  ) {
    this.features = filters.bank.features;
    this.classes = classes;
    this.multilabel = multilabel;
    this.filterLabels = filterLabels;
    this.params = params;
    this.nBest = nBest;
    this.report = report;
    this.thresholds = fitted.thresholds;
    this.#filters = filters;
    this.#calibration = fitted.calibration;
  }

  /** The filters. Not to be written to. */
  get bank(): FilterBank {
    return this.#filters.bank;
  }

  /** The values the weights were drawn from; absent for ranks. */
  get distribution(): Float64Array | undefined {
    return this.#filters.distribution;
  }

  /** Training rows that each filter was made from. */
  filterRows(filter: number): Uint32Array {
    const { offsets, rows } = this.#filters.members;
    return rows.slice(offsets[filter], offsets[filter + 1]);
  }

  /** The same filters with another nBest. Thresholds and fitted probabilities belong to the old one and are left out. */
  withNBest(nBest: number): ProbabilisticModel<Y> {
    checkParams<ProbabilisticParams>({ nBest }, PROBABILISTIC_PARAMETERS);
    return this.#copy({ nBest, ...UNFITTED }, {});
  }

  /**
   * The same filters with probabilities fitted to rows that the model was not trained on. What `predict` says stays. Without
   * a method: "temperature".
   */
  async calibrate(
    x: MatrixLike,
    y: Labels | LabelSets,
    method: CalibrationMethod = "temperature",
    run: Run = {},
  ): Promise<ProbabilisticModel<Y>> {
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
   * labels per row. Probabilities stay.
   */
  async chooseThresholds(
    x: MatrixLike,
    y: LabelSets,
    rule: ThresholdRule = "perLabel",
    run: Run = {},
  ): Promise<ProbabilisticModel<Y>> {
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
    const { filterLabels, classes, multilabel, params, report } = this;
    const parts = { filters: this.#filters, filterLabels, classes, multilabel, params, report };
    const grown = await addToLabels(parts, x, y, run);
    // Thresholds and probabilities were fitted to the model as it was.
    const plain = { ...params, ...UNFITTED };
    const { filters, filterLabels: shares } = grown;
    return new ProbabilisticModel(filters, shares, grown.classes, multilabel, plain, this.nBest, grown.report);
  }

  /** The class of the largest score of each row, or the labels whose scores are above their thresholds. */
  async predict(x: MatrixLike, run: Run = {}): Promise<Y[]> {
    const { values, rows } = await this.classScores(x, run);
    const c = this.classes.length;
    const isPresent = (r: number, o: number) => values[r * c + o] > (this.thresholds?.[o] ?? 0.5);
    return Array.from({ length: rows }, (_, r) => {
      if (!this.multilabel) return this.classes[indexOfLargest(values, r * c, c)] as Y;
      return this.classes.filter((_, o) => isPresent(r, o)) as Y;
    });
  }

  /** rows x classes: the probability of each class, or that each label is present. */
  async predictProbabilities(x: MatrixLike, run: Run = {}): Promise<Dense> {
    const scores = await this.classScores(x, run);
    if (!this.#calibration) return scores;
    const values = scores.values as Float64Array;
    if (this.multilabel) applyToLabels(this.#calibration as LabelCalibration, values, this.classes.length);
    else applyToClasses(this.#calibration as ClassCalibration, "shares", values, this.classes.length);
    return scores;
  }

  /** rows x classes: the probabilities before any were fitted, by which `predict` decides. */
  async classScores(x: MatrixLike, run: Run = {}): Promise<Dense> {
    const matrix = matchingMatrix(x, this.features);
    const tell = (share: number) => advance(run, { stage: "predict", share });
    const c = this.classes.length;
    const out = new Float64Array(matrix.rows * c);
    const rule = this.multilabel ? presenceProbabilities : labelProbabilities;
    const fill = this.params.combine === "mean" ? meanShares : rule;
    for await (const { from, similar } of similarities(matrix, this.bank, this.nBest, await backendOf(run), tell)) {
      fill(similar, this.filterLabels, c, out, from * c);
    }
    await tell(1);
    return Dense.of(out, matrix.rows, c);
  }

  /** Accuracy, or for a multilabel model the share of rows with exactly the right labels. */
  async score(x: MatrixLike, y: Labels | LabelSets, run: Run = {}): Promise<number> {
    return shareRight(await this.predict(x, run), y, this.classes);
  }

  /** Why one row of `x` gets its label or labels. */
  async explain(x: MatrixLike, row: number, run: Run = {}): Promise<ProbabilisticExplanation<Y>> {
    const one = oneRow(matchingMatrix(x, this.features), row);
    const c = this.classes.length;
    const sharesOf = (f: number) => this.filterLabels.subarray(f * c, (f + 1) * c);
    // Filters are rivals when their rows are mostly called something else.
    const classOf = (f: number) => indexOfLargest(sharesOf(f), 0, c);
    const found = await explainRow(one, this.bank, this.#filters.members, this.nBest, classOf, await backendOf(run));
    const [label] = await this.predict(one, run);
    return {
      ...found,
      label,
      filters: found.filters.map((filter) => ({ ...filter, shares: sharesOf(filter.filter).slice() })),
    };
  }

  save(): Saved {
    const { features, params, classes, multilabel } = this;
    const meta = { features, params, classes, multilabel, report: reportAsJson(this.report) };
    const shape = [this.bank.filters, classes.length];
    return {
      kind: this.kind,
      meta,
      arrays: {
        ...filterArrays(this.#filters),
        filter_labels: { shape, values: this.filterLabels },
        ...calibrationArrays(this.#calibration),
        ...(this.thresholds ? { thresholds: { shape: [classes.length], values: this.thresholds } } : {}),
      },
    };
  }

  async #scoresToFitOn(x: MatrixLike, run: Run): Promise<{ values: Float64Array; rows: number }> {
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
    const { filterLabels, classes, multilabel, report } = this;
    const nBest = (changes.nBest ?? this.nBest) as number;
    return new ProbabilisticModel(this.#filters, filterLabels, classes, multilabel, params, nBest, report, fitted);
  }
}

/** Reads a stored probabilistic classifier. */
export const probabilisticReader: ModelReader = {
  kind: "probabilistic",
  read: (saved) => {
    const filters = readFilters(saved, ["filter_labels", ...FITTED_ARRAYS]);
    const classes = readClasses(saved);
    const { multilabel } = saved.meta;
    if (typeof multilabel !== "boolean") throw bad(saved, "multilabel: expected true or false");
    const array = saved.arrays.filter_labels;
    const shape = [filters.bank.filters, classes.length];
    if (!(array?.values instanceof Float64Array) || array.shape.join() !== shape.join()) {
      throw bad(saved, `filter_labels: expected ${shape.join(" x ")} float64 shares`);
    }
    if (!array.values.every((share) => share >= 0 && share <= 1)) {
      throw bad(saved, "filter_labels: expected shares from 0 to 1");
    }
    const { values } = array;
    const labelRows = filters.kept?.labelRows;
    const params = readParams(saved);
    const { combine = "max" } = params;
    if (combine !== "max" && combine !== "mean") throw bad(saved, 'combine: expected "max" or "mean"');
    const again = labelRows && sharesOf(countsOf(values, labelRows), multilabel, combine);
    if (again && !again.every((share, at) => share === values[at])) {
      throw bad(saved, "filter_labels: expected shares of the rows that label_rows counts");
    }
    const fitted = {
      thresholds: readThresholds(saved, classes.length, multilabel),
      calibration: (multilabel ? readLabelCalibration : readClassCalibration)(saved, classes.length),
    };
    const [nBest, report] = [readNBest(saved), readReport(saved)];
    return new ProbabilisticModel(filters, values, classes, multilabel, params, nBest, report, fitted);
  },
};
