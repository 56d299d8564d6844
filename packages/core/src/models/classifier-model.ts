/** A trained classifier: filters with a class each, of which the strongest decides, or several vote, or the largest probability does. */

import type { Backend, RowSource } from "../backends/contract.ts";
import type { CalibrationMethod, ClassCalibration } from "../beyond/probabilities/fitted.ts";
import type { Label, LabelSets, Labels } from "../matrix/labels.ts";
import { type MatrixLike, matchingMatrix } from "../matrix/matrix.ts";
import { bad, readClasses, readFilterParams, stored, vector } from "../model-file/stored/arrays.ts";
import { readClassCalibration } from "../model-file/stored/calibration.ts";
import { readFilterBank } from "../model-file/stored/committee.ts";
import { readFilters } from "../model-file/stored/filters.ts";
import { type Report, readReport } from "../model-file/stored/report.ts";
import type { BankExplanation, StrongFilter } from "../paper/explain.ts";
import type { Decision } from "../paper/vote.ts";
import { type ClassParts, oneRow } from "./class-model.ts";
import type { ClassifierAnswers } from "./classifier-answers.ts";
import type { ModelReader, Run } from "./estimator.ts";
import { explainFilters, FilterClassModel, type FilterParts } from "./filter-model.ts";
import { withBackend } from "./run.ts";

/** Why a row was given its class. */
export interface ClassExplanation extends BankExplanation {
  /** The class the row is given. */
  readonly label: Label;
  /** The class of the rival filter, if there is more than one class. */
  readonly rivalLabel: Label | undefined;
  /** The similar filters, strongest first, with their classes. */
  readonly filters: readonly (StrongFilter & { readonly label: Label })[];
}

/** What a classifier consists of. */
export interface ClassifierParts extends ClassParts, FilterParts {
  readonly report: Report;
  readonly filterClass: Uint32Array;
  readonly calibration?: ClassCalibration | undefined;
}

/** Trained filters with a class each. */
export class ClassifierModel extends FilterClassModel<Label, ClassifierParts> {
  readonly kind = "classifier";
  #answers: ClassifierAnswers | undefined;

  /** Class number of each filter. Not to be written to. */
  get filterClass(): Uint32Array {
    return this.parts.filterClass;
  }

  /** Banks that were trained separately and whose class scores are added; 1 for a single bank. */
  get committee(): number {
    return (this.filterBank?.at(-1) ?? 0) + 1;
  }

  /** Bank number of each filter of a committee. Not to be written to. */
  get filterBank(): Uint32Array | undefined {
    return this.parts.filters.filterBank;
  }

  /** How many of the strongest filters decide the class of a row. */
  get voters(): number {
    return (this.params.voters ?? 1) as number;
  }

  /** What decides the class of a row (deviation 38). */
  get decision(): Decision {
    return (this.params.decision ?? "vote") as Decision;
  }

  /** The same filters with probabilities fitted to what models of some rows say of others; the report counts their training in. */
  async calibratedBy(
    parts: readonly { readonly model: ClassifierModel; readonly rows: RowSource }[],
    all: RowSource,
    y: Labels,
    method: CalibrationMethod,
    run: Run,
  ): Promise<ClassifierModel> {
    const calibration = (await this.calibrationBy(parts, all, y, { ...run, method })) as ClassCalibration;
    const reports = [this.report, ...parts.map(({ model }) => model.report)];
    const seconds = reports.reduce((sum, report) => sum + (report.seconds ?? 0), 0);
    const fallbacks = [...new Set(reports.flatMap((report) => report.fallbacks ?? []))];
    return this.copy({ calibration, report: { ...this.report, seconds, fallbacks } });
  }

  protected async grown(x: MatrixLike, y: Labels | LabelSets, backend: Backend, run: Run) {
    const { addToClasses } = await import("./partial-fit.ts");
    return { ...(await addToClasses(this.parts, x, y, backend, run)), ...this.#unfitted };
  }

  /**
   * The model with filters that learned from rows they get wrong (deviation 31), or with the same filters if that did not
   * help on held-out rows; this one stays as it is. `report.refinement` says which. With the rows and labels of `fit` the
   * filters are those of `fit` with `refine: true`.
   */
  async refine(x: MatrixLike, y: Labels | LabelSets, run: Run = {}): Promise<ClassifierModel> {
    const { refineModel } = await import("./refinement.ts");
    return this.copy({ ...this.#unfitted, ...(await refineModel(this.parts, x, y, run)) });
  }

  /** What changes where probabilities were fitted to another model. */
  get #unfitted() {
    return { params: { ...this.params, calibrate: "none" }, calibration: undefined };
  }

  protected async answers(): Promise<ClassifierAnswers> {
    const { ClassifierAnswers } = await import("./classifier-answers.ts");
    this.#answers ??= new ClassifierAnswers(this.parts, this);
    return this.#answers;
  }

  /** How much each row is like the filter it is most like (deviation 35): low where a row is unlike all that was trained on. */
  async familiarity(x: MatrixLike, run: Run = {}): Promise<Float64Array> {
    const matrix = matchingMatrix(x, this.features);
    return (await this.answers()).familiarity(matrix, run);
  }

  /** Why one row of `x` gets its class. */
  async explain(x: MatrixLike, row = 0, run: Run = {}): Promise<ClassExplanation> {
    const one = oneRow(x, row, this.features);
    const classOf = (f: number) => this.filterClass[f];
    const [label] = await this.predict(one, run);
    const given = this.classes.indexOf(label);
    const found = await withBackend(run, one, async (backend) => {
      const strong = await explainFilters(this.parts, one, classOf, backend, given);
      // A row that no filter responds to, such as one of zeros, has no rival either.
      if (this.committee === 1 || strong.filters.length === 0) return strong;
      const { explainVote } = await import("../beyond/committee/explain.ts");
      const banks = (await this.answers()).byBank();
      return { ...strong, ...(await explainVote(one, banks, this.classes.length, given, backend)) };
    });
    return {
      ...found,
      contributions: this.named(found.contributions),
      label,
      rivalLabel: found.rival === undefined ? undefined : this.classes[classOf(found.rival)],
      filters: found.filters.map((filter) => ({ ...filter, label: this.classes[classOf(filter.filter)] })),
    };
  }

  protected saveOwn() {
    return { arrays: { filter_class: stored(this.filterClass) } };
  }
}

/** Reads a stored classifier. */
export const classifierReader: ModelReader = {
  kind: "classifier",
  read: (saved) => {
    const filters = readFilters(saved);
    const classes = readClasses(saved);
    const filterClass = vector(saved, "filter_class", Uint32Array, filters.bank.filters);
    if (!filterClass.every((c) => c < classes.length)) {
      throw bad(saved, `filter_class: expected class numbers below ${classes.length}`);
    }
    const params = readFilterParams(saved);
    const { decision = "vote", voters = 1 } = params;
    const mayBeSparse = decision === "vote" || voters === 1;
    const report = readReport(saved);
    const calibration = readClassCalibration(saved, classes.length, mayBeSparse);
    const all = { ...filters, filterBank: readFilterBank(saved, filterClass, classes.length) };
    return new ClassifierModel({ filters: all, filterClass, classes, params, report, calibration });
  },
};
