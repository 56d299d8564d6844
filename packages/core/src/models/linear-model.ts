/** Trained planes: a distance for each class, of which the largest names it, and probabilities fitted to distances. */

import { planesOf } from "../beyond/linear/planes.ts";
import { RanksimError } from "../errors.ts";
import type { Label, LabelSets } from "../matrix/labels.ts";
import type { MatrixLike } from "../matrix/matrix.ts";
import type { RowsLike } from "../matrix/source.ts";
import type { Json, Saved } from "../model-file/saved.ts";
import { array, bad, readClasses, readParams, stored, vector } from "../model-file/stored/arrays.ts";
import { FLAG, listOf, NUMBER, POSITIVE, record, such } from "../model-file/stored/record.ts";
import { type Contribution, contributionsOf } from "../paper/contributions.ts";
import { ClassModel, type ClassParts, oneRow, readLabelling } from "./class-model.ts";
import type { LabelOf, ModelReader, Run, ThresholdOptions } from "./estimator.ts";
import type { LinearAnswers } from "./linear-answers.ts";
import { LINEAR_PARAMETERS } from "./linear-params.ts";
import { storedParams } from "./parameter.ts";
import { optionsOf } from "./run.ts";

/** How training went. */
export interface LinearReport {
  /** Rows that were trained on; absent in models of version 0.2. */
  readonly rows?: number;
  /** What errors cost. */
  readonly c: number;
  /** The costs that were tried, and the log loss of rows held out. */
  readonly tried: readonly { readonly c: number; readonly logLoss: number }[];
  /** Passes over the rows, for each plane. */
  readonly iterations: readonly number[];
  readonly converged: readonly boolean[];
}

/** What a linear model consists of. */
export interface LinearParts extends ClassParts {
  readonly multilabel: boolean;
  readonly report: LinearReport;
  /** planes x features, row-major: one plane for each class or label, or for two classes one, above 0 for the second class. */
  readonly weights: Float64Array;
  /** One for each plane. */
  readonly intercepts: Float64Array;
  /** What was read, of a model of an earlier version: it is saved as it was. */
  readonly earlier?: Saved | undefined;
}

/** A feature's part in the distance of a row from a plane. */
export type LinearContribution = Contribution;

/** Why one row was given its class, or its labels. */
export interface LinearExplanation<Y extends Label | Label[] = Label | Label[]> {
  readonly label: Y;
  /** The classes or labels, the largest distance first. */
  readonly classes: readonly { readonly label: Label; readonly distance: number; readonly probability: number }[];
  /** The class of the second largest distance; absent of labels, and where there is one class. */
  readonly rivalLabel: LabelOf<Y> | undefined;
  /** Features that are not zero in the row, largest part first: in the lead over the rival, of labels in the largest distance. */
  readonly contributions: readonly LinearContribution[];
}

/** Trained planes. Made by `LinearClassifier.fit` or `loadModel`. */
export class LinearModel<Y extends Label | Label[] = Label | Label[]> extends ClassModel<Y, LinearParts> {
  readonly kind = "linear";

  get features(): number {
    return this.weights.length / this.intercepts.length;
  }

  /** planes x features, row-major: one plane for each class or label, or for two classes one, above 0 for the second class. Not to be written to. */
  get weights(): Float64Array {
    return this.parts.weights;
  }

  /** One for each plane. Not to be written to. */
  get intercepts(): Float64Array {
    return this.parts.intercepts;
  }

  protected override get decidesByProbabilities(): boolean {
    return true;
  }

  /** The same planes with thresholds for `predict`, chosen by F1 on rows that the model was not trained on. For several labels per row. */
  chooseThresholds(x: RowsLike, y: LabelSets, options: ThresholdOptions = {}, ...rest: undefined[]): Promise<this> {
    return this.withThresholds(x, y, optionsOf("chooseThresholds", options, rest));
  }

  protected async answers(): Promise<LinearAnswers<Y>> {
    const { LinearAnswers } = await import("./linear-answers.ts");
    return new LinearAnswers(this.parts);
  }

  /** What each feature that is not zero adds to the distance of a row from the plane of a class, the largest part first. */
  contributions(x: MatrixLike, row: number, label: Label): readonly LinearContribution[] {
    const one = oneRow(x, row, this.features);
    const code = (this.classes as readonly Label[]).indexOf(label);
    if (code < 0) throw new RanksimError("bad-labels", `label ${JSON.stringify(label)} is none of the model's`);
    return contributionsOf(one, (feature) => this.weightOf(code, feature));
  }

  /** What a feature weighs for a class, by its number. */
  weightOf(code: number, feature: number): number {
    const { features, weights, intercepts, classes } = this;
    if (intercepts.length === classes.length) return weights[code * features + feature];
    return code === 1 ? weights[feature] : -weights[feature];
  }

  /** Why one row of `x` gets its class or labels. */
  async explain(x: MatrixLike, row = 0, run: Run = {}): Promise<LinearExplanation<Y>> {
    const one = oneRow(x, row, this.features);
    const [label] = await this.predict(one, run);
    const distances = (await this.classScores(one, run)).values;
    const { values } = await this.predictProbabilities(one, run);
    const order = [...this.classes.keys()].sort((a, b) => distances[b] - distances[a] || a - b);
    const given = this.multilabel ? order[0] : this.classes.indexOf(label as LabelOf<Y>);
    const rival = this.multilabel ? undefined : order.find((code) => code !== given);
    const weigh = (feature: number) =>
      this.weightOf(given, feature) - (rival === undefined ? 0 : this.weightOf(rival, feature));
    return {
      label,
      classes: order.map((c) => ({ label: this.classes[c], distance: distances[c], probability: values[c] })),
      rivalLabel: rival === undefined ? undefined : this.classes[rival],
      contributions: this.named(contributionsOf(one, weigh)),
    };
  }

  save(): Saved {
    const { weights, intercepts, params, report, earlier } = this.parts;
    if (earlier && !this.parts.calibration) return earlier;
    const { meta, arrays } = this.saveClasses();
    return {
      kind: this.kind,
      meta: { ...meta, params, report: { ...report, tried: report.tried.map((one) => ({ ...one })) } },
      arrays: {
        ...arrays,
        weights: { shape: [intercepts.length, this.features], values: weights },
        intercepts: stored(intercepts),
      },
    };
  }
}

/** Reads a stored linear classifier. */
export const linearReader: ModelReader = {
  kind: "linear",
  read: (saved) => {
    const labelling = readLabelling(saved);
    const params = storedParams(saved, LINEAR_PARAMETERS);
    return new LinearModel({
      ...labelling,
      params,
      ...readPlanes(saved, labelling.classes.length, labelling.multilabel),
    });
  },
};

/** Reads the linear support vector machine of versions before 0.3, which differs in how it was fitted. */
export const linearSvmReader: ModelReader = {
  kind: "linear-svm",
  read: (saved) => {
    const classes = readClasses(saved);
    const { loss: _, intercept, interceptScaling, ...params } = readParams(saved);
    const { iterations, converged } = (saved.meta.report ?? {}) as { readonly [name: string]: Json };
    const report = { c: params.c ?? 1, tried: [], iterations, converged };
    const now = { ...saved, meta: { params: { ...params, calibrate: "none" }, report } };
    const read = { multilabel: false, params: storedParams(now, LINEAR_PARAMETERS), earlier: saved };
    return new LinearModel({ classes, ...read, ...readPlanes(now, classes.length, false) });
  },
};

const REPORT = record(
  {
    c: such("a number above 0", (value) => Number.isFinite(value) && (value as number) > 0),
    tried: listOf(record({ c: NUMBER, logLoss: NUMBER })),
    iterations: listOf(POSITIVE),
    converged: listOf(FLAG),
  },
  { rows: POSITIVE },
);

/** The stored planes, and how they were trained. */
function readPlanes(
  saved: Saved,
  classes: number,
  multilabel: boolean,
): Pick<LinearParts, "weights" | "intercepts" | "report"> {
  const planes = planesOf(classes, multilabel);
  const wrong = REPORT(saved.meta.report, "report");
  if (wrong !== undefined) throw bad(saved, wrong);
  const report = saved.meta.report as unknown as LinearReport;
  if (report.iterations.length !== planes || report.converged.length !== planes) {
    throw bad(saved, `report: expected iterations and convergence of ${planes} planes`);
  }
  const { shape, values: weights } = array(saved, "weights", [Float64Array], [planes, undefined]);
  if (shape[1] === 0) throw bad(saved, "weights: expected at least 1 feature");
  const intercepts = vector(saved, "intercepts", Float64Array, planes);
  if (!weights.every(Number.isFinite) || !intercepts.every(Number.isFinite)) {
    throw bad(saved, "expected finite weights and intercepts");
  }
  return { weights, intercepts, report };
}
