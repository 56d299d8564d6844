/**
 * A trained probabilistic classifier: filters with the label shares of the rows they win, and what was fitted on held-out
 * rows to make decisions and probabilities of them.
 */

import type { Backend } from "../backends/contract.ts";
import type { Label, LabelSets, Labels } from "../matrix/labels.ts";
import type { MatrixLike } from "../matrix/matrix.ts";
import type { RowsLike } from "../matrix/source.ts";
import { readFilterParams } from "../model-file/stored/arrays.ts";
import { readFilters } from "../model-file/stored/filters.ts";
import { labelArrays, readLabels } from "../model-file/stored/labels.ts";
import { type Report, readReport } from "../model-file/stored/report.ts";
import type { BankExplanation, StrongFilter } from "../paper/explain.ts";
import { expandShares, type LabelShares, tableOfShares } from "../paper/filter-labels.ts";
import type { Combine } from "../paper/vote.ts";
import { type ClassParts, oneRow, readLabelling } from "./class-model.ts";
import type { ModelReader, Run, ThresholdOptions } from "./estimator.ts";
import { explainFilters, FilterClassModel, type FilterParts } from "./filter-model.ts";
import type { ProbabilisticAnswers } from "./probabilistic-answers.ts";
import { optionsOf, withBackend } from "./run.ts";

/** Why a row was given its label or labels. */
export interface ProbabilisticExplanation<Y> extends BankExplanation {
  /** What `predict` gives the row. */
  readonly label: Y;
  /** The similar filters, strongest first, with the share of each class (or label) among their rows. */
  readonly filters: readonly (StrongFilter & { readonly shares: Float64Array })[];
}

/** What a probabilistic classifier consists of. */
export interface ProbabilisticParts extends ClassParts, FilterParts {
  readonly report: Report;
  readonly labels: LabelShares;
  readonly multilabel: boolean;
}

/** Trained filters with the label shares of their rows. `Y` is a label, or a list of labels for a multilabel model. */
export class ProbabilisticModel<Y extends Label | Label[] = Label | Label[]> extends FilterClassModel<
  Y,
  ProbabilisticParts
> {
  readonly kind = "probabilistic";
  #table: Float64Array | undefined;

  /**
   * filters x classes: the share of each class (or label) among the rows a filter wins. Not to be written to. The table is made
   * when it is first asked for; with many classes ask for `filterShares` of a filter.
   */
  get filterLabels(): Float64Array {
    this.#table ??= tableOfShares(this.parts.labels);
    return this.#table;
  }

  /** The share of each class (or label) among the rows that a filter wins. */
  filterShares(filter: number): Float64Array {
    const shares = new Float64Array(this.classes.length);
    expandShares(this.parts.labels, filter, shares);
    return shares;
  }

  override withNBest(nBest: number): this {
    const { params } = super.withNBest(nBest);
    return this.copy(unfitted(params));
  }

  protected async grown(x: MatrixLike, y: Labels | LabelSets, backend: Backend, run: Run) {
    const { addToLabels } = await import("./partial-fit.ts");
    return { ...(await addToLabels(this.parts, x, y, backend, run)), ...unfitted(this.params) };
  }

  /**
   * The same filters with thresholds for `predict`, chosen by F1 on rows that the model was not trained on. For several
   * labels per row. Probabilities stay.
   */
  chooseThresholds(x: RowsLike, y: LabelSets, options: ThresholdOptions = {}, ...rest: undefined[]): Promise<this> {
    return this.withThresholds(x, y, optionsOf("chooseThresholds", options, rest));
  }

  protected async answers(): Promise<ProbabilisticAnswers<Y>> {
    const { ProbabilisticAnswers } = await import("./probabilistic-answers.ts");
    return new ProbabilisticAnswers(this.parts);
  }

  /** Why one row of `x` gets its label or labels. */
  async explain(x: MatrixLike, row = 0, run: Run = {}): Promise<ProbabilisticExplanation<Y>> {
    const one = oneRow(x, row, this.features);
    // Filters are rivals when their rows are mostly called something else.
    const classOf = (f: number) => {
      const shares = this.filterShares(f);
      return shares.indexOf(shares.reduce((most, share) => Math.max(most, share)));
    };
    const found = await withBackend(run, one, (backend) => explainFilters(this.parts, one, classOf, backend));
    const [label] = await this.predict(one, run);
    return {
      ...found,
      contributions: this.named(found.contributions),
      label,
      filters: found.filters.map((filter) => ({ ...filter, shares: this.filterShares(filter.filter) })),
    };
  }

  protected saveOwn() {
    return { arrays: labelArrays(this.parts.labels) };
  }
}

/** What changes where probabilities and thresholds were fitted to another model. */
function unfitted(params: ProbabilisticParts["params"]) {
  return {
    params: { ...params, calibrate: "none", thresholds: "none" },
    calibration: undefined,
    thresholds: undefined,
  };
}

/** Reads a stored probabilistic classifier. */
export const probabilisticReader: ModelReader = {
  kind: "probabilistic",
  read: (saved) => {
    const filters = readFilters(saved);
    const labelling = readLabelling(saved);
    const { classes, multilabel } = labelling;
    const params = readFilterParams(saved);
    const combine = (params.combine ?? "max") as Combine;
    const { bank, keptSums } = filters;
    const labels = readLabels(saved, bank.filters, classes.length, multilabel, combine, keptSums?.labelRows);
    return new ProbabilisticModel({ filters, labels, params, report: readReport(saved), ...labelling });
  },
};
