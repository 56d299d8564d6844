/** What trained models share, and what those that name classes, or several labels, do alike: filters and planes. */

import type { RowSource } from "../backends/contract.ts";
import type { CalibrationMethod, ClassCalibration, LabelCalibration } from "../beyond/probabilities/fitted.ts";
import type { ThresholdRule } from "../beyond/probabilities/thresholds.ts";
import { RanksimError, refuseJson } from "../errors.ts";
import type { Dense } from "../matrix/dense.ts";
import type { Label, LabelSets, Labels } from "../matrix/labels.ts";
import { type Matrix, type MatrixLike, matchingMatrix } from "../matrix/matrix.ts";
import { matchingRows, type RowsLike } from "../matrix/source.ts";
import type { Json, Saved, SavedArray } from "../model-file/saved.ts";
import { bad, readClasses, stored } from "../model-file/stored/arrays.ts";
import {
  calibrationArrays,
  readClassCalibration,
  readLabelCalibration,
  readThresholds,
} from "../model-file/stored/calibration.ts";
import type { Contribution } from "../paper/contributions.ts";
import type { Answers } from "./answers.ts";
import type {
  CalibrateOptions,
  Classifier,
  Explanation,
  LabelOf,
  Model,
  Ranked,
  Run,
  SureOptions,
  ThresholdOptions,
} from "./estimator.ts";
import { CALIBRATION_METHOD, checkParams, THRESHOLD_RULE } from "./parameter.ts";
import { optionsOf } from "./run.ts";
import { inheritSchema, schemaOf } from "./schema.ts";

/** What a trained model consists of. */
export interface TrainedParts {
  /** The parameters the model was trained with. */
  readonly params: { readonly [name: string]: Json };
  /** How training went. */
  readonly report: object;
}

/** What changes in copies of all kinds of models. */
type Changes = Partial<TrainedParts> & {
  readonly calibration?: unknown;
  readonly thresholds?: Float64Array | undefined;
};

/** A trained model. It never changes. */
export abstract class TrainedModel<P extends TrainedParts> implements Model {
  abstract readonly kind: string;
  abstract readonly features: number;
  /** The parameters the model was trained with. */
  readonly params: { readonly [name: string]: Json };
  readonly report: P["report"];
  protected readonly parts: P;

  /** Use `fit` of an estimator, or `loadModel`. */
  constructor(parts: P) {
    this.params = parts.params;
    this.report = parts.report;
    this.parts = parts;
  }

  abstract save(): Saved;

  toJSON(): never {
    return refuseJson();
  }

  /** The same model with some parts replaced. */
  protected copy(changes: Partial<P> | Changes, hasNewRows = false): this {
    const Kind = this.constructor as new (parts: P) => this;
    return inheritSchema(new Kind({ ...this.parts, ...changes }), this, hasNewRows);
  }
}

/** Row `row` of what a model is asked about as a matrix of one; refused by name when it does not exist. */
export function oneRow(x: MatrixLike, row: number, features: number): Matrix {
  const matrix = matchingMatrix(x, features);
  if (Number.isSafeInteger(row) && row >= 0 && row < matrix.rows) return matrix.slice(row, row + 1);
  throw new RanksimError("bad-matrix", `expected a row from 0 below ${matrix.rows}, found ${row}`);
}

/** What a model that names classes consists of. */
export interface ClassParts extends TrainedParts {
  readonly classes: readonly Label[];
  /** Whether rows have several labels; absent where a kind of model has one alone. */
  readonly multilabel?: boolean;
  /** What was fitted on rows that the model was not trained on. */
  readonly calibration?: ClassCalibration | LabelCalibration | undefined;
  readonly thresholds?: Float64Array | undefined;
}

/** A model that names a class, or several labels, for each row. */
export abstract class ClassModel<Y extends Label | Label[], P extends ClassParts>
  extends TrainedModel<P>
  implements Classifier<Y>
{
  /** The class names, sorted: numbers before strings; for a model of several labels the label names. */
  readonly classes: readonly LabelOf<Y>[];

  constructor(parts: P) {
    super(parts);
    this.classes = parts.classes as readonly LabelOf<Y>[];
  }

  /** Whether rows have several labels. */
  get multilabel(): boolean {
    return this.parts.multilabel ?? false;
  }

  /** Above which score, of planes above which probability, a row has each label, where that is not one half. Not to be written to. */
  get thresholds(): Float64Array | undefined {
    return this.parts.thresholds;
  }

  /**
   * The same model with probabilities fitted to rows that it was not trained on. Predictions change only where the largest probability
   * decides and the method is "isotonic". Thresholds of probabilities are left out.
   */
  async calibrate(
    x: RowsLike,
    y: Labels | LabelSets,
    options: CalibrateOptions = {},
    ...rest: undefined[]
  ): Promise<this> {
    const { method = "temperature", ...run } = optionsOf("calibrate", options, rest);
    const { calibrate } = checkParams({ calibrate: method }, [CALIBRATION_METHOD]);
    const { calibrationFor } = await import("./fitting.ts");
    const calibration = await calibrationFor(this, [{ answers: await this.answers(), x }], y, { ...run, method });
    return this.#fitted({ ...this.params, calibrate }, calibration);
  }

  /** What fits probabilities to what models of the same classes say of their own rows, which one after the other are `all`. */
  protected async calibrationBy(
    parts: readonly { readonly model: ClassModel<Y, P>; readonly rows: RowSource }[],
    all: RowSource,
    y: Labels,
    options: Run & { readonly method: CalibrationMethod },
  ): Promise<ClassCalibration | LabelCalibration> {
    const { calibrationFor } = await import("./fitting.ts");
    const asked = await Promise.all(
      parts.map(async ({ model, rows }) => ({ answers: await model.answers(), x: rows })),
    );
    return calibrationFor(this, asked, y, options, all);
  }

  /** The same model with the probabilities of the method itself; this model where none were fitted. */
  uncalibrated(): this {
    const { calibration, thresholds } = this.parts;
    if (!calibration && !(thresholds && this.decidesByProbabilities)) return this;
    return this.#fitted({ ...this.params, calibrate: "none" }, undefined);
  }

  #fitted(params: P["params"], calibration: P["calibration"]): this {
    if (!this.decidesByProbabilities) return this.copy({ calibration, params });
    return this.copy({ calibration, params: { ...params, thresholds: "none" }, thresholds: undefined });
  }

  /** Whether thresholds are of probabilities and not of scores. */
  protected get decidesByProbabilities(): boolean {
    return false;
  }

  /** The same model with thresholds for `predict`, chosen by F1 on rows that it was not trained on. */
  protected async withThresholds(
    x: RowsLike,
    y: LabelSets,
    { rule = "perLabel", ...run }: ThresholdOptions,
  ): Promise<this> {
    checkParams<{ thresholds: ThresholdRule }>({ thresholds: rule }, [THRESHOLD_RULE]);
    const { thresholdsFor } = await import("./fitting.ts");
    const answers = await this.answers();
    const thresholds = await thresholdsFor(this, answers, this.decidesByProbabilities, x, y, { ...run, rule });
    return this.copy({ thresholds, params: { ...this.params, thresholds: rule } });
  }

  /** The class of each row, or its labels. */
  predict(x: MatrixLike, options: Run & SureOptions): Promise<(Y | null)[]>;
  predict(x: RowSource, run?: Run): Promise<Y[]>;
  predict(x: MatrixLike, run?: Run): Promise<Y[]>;
  async predict(x: RowsLike, { threshold, ...run }: Run & Partial<SureOptions> = {}): Promise<(Y | null)[]> {
    if (threshold !== undefined) return (await import("./asked.ts")).sureAnswers(this, x as MatrixLike, threshold, run);
    const rows = matchingRows(x, this.features);
    return (await this.answers()).predict(rows, run);
  }

  async predictTop(x: MatrixLike, k: number, run?: Run): Promise<Ranked<LabelOf<Y>>[][]> {
    return (await import("./asked.ts")).topAnswers(this, x, k, run);
  }

  /** Why one row of `x` gets its class or labels. */
  abstract explain(x: MatrixLike, row?: number, run?: Run): Promise<Explanation<Y>>;

  /** The probability of each class, or that each label is present: rows x classes in the order of `classes`. */
  predictProbabilities(x: RowSource, run?: Run): Promise<Dense>;
  predictProbabilities(x: MatrixLike, run?: Run): Promise<Dense>;
  async predictProbabilities(x: RowsLike, run: Run = {}): Promise<Dense> {
    const rows = matchingRows(x, this.features);
    return (await this.answers()).probabilities(rows, run);
  }

  /**
   * rows x classes: what is said of classes before any probabilities were fitted. For a classifier the strongest response of each class, in
   * a committee added up over its banks; for a probabilistic one the scores by which `predict` decides; for planes the distance from that of
   * each class, in units of the margin, positive on its side.
   */
  async classScores(x: RowsLike, run: Run = {}): Promise<Dense> {
    const rows = matchingRows(x, this.features);
    return (await this.answers()).classScores(rows, run);
  }

  /** Accuracy: the share of rows given their own label, or for several labels exactly the right ones. */
  score(x: RowSource, y: Labels | LabelSets, run?: Run): Promise<number>;
  score(x: MatrixLike, y: Labels | LabelSets, run?: Run): Promise<number>;
  async score(x: RowsLike, y: Labels | LabelSets, run: Run = {}): Promise<number> {
    const predicted = await this.predict(x as RowSource, run);
    const { shareRight } = await import("./score.ts");
    return shareRight(predicted, y, this.classes);
  }

  /** Contributions with the names of columns, where the model knows them. */
  protected named(contributions: readonly Contribution[]): readonly Contribution[] {
    const columns = schemaOf(this)?.columns;
    return columns ? contributions.map((one) => ({ ...one, name: columns[one.feature].name })) : contributions;
  }

  /** How the model answers. */
  protected abstract answers(): Promise<Answers<Y>>;

  /** What models that name classes store of them. */
  protected saveClasses(): { readonly meta: Saved["meta"]; readonly arrays: { readonly [name: string]: SavedArray } } {
    const { classes, multilabel, calibration, thresholds } = this.parts;
    return {
      meta: { classes, ...(multilabel === undefined ? {} : { multilabel }) },
      arrays: { ...calibrationArrays(calibration), ...(thresholds && { thresholds: stored(thresholds) }) },
    };
  }
}

/** What is stored of models of one label or several. */
export function readLabelling(
  saved: Saved,
): Required<Pick<ClassParts, "classes" | "multilabel">> & Pick<ClassParts, "calibration" | "thresholds"> {
  const classes = readClasses(saved);
  const { multilabel } = saved.meta;
  if (typeof multilabel !== "boolean") throw bad(saved, "multilabel: expected true or false");
  const calibration = (multilabel ? readLabelCalibration : readClassCalibration)(saved, classes.length);
  return { classes, multilabel, calibration, thresholds: readThresholds(saved, classes.length, multilabel) };
}
