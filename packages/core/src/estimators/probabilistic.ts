/**
 * RSPC: the rank similarity probabilistic classifier. One bank for all rows; every filter carries the label shares of the
 * rows it wins. Takes one label per row (multiclass) or several (multilabel).
 */

import { RanksimError } from "../errors.ts";
import type { FilterBank } from "../kernels/shapes.ts";
import { Dense } from "../matrix/dense.ts";
import {
  type Encoded,
  encodeLabels,
  encodeSets,
  isLabelSets,
  type Label,
  type LabelSets,
  type Labels,
} from "../matrix/labels.ts";
import { isZeroRow, type Matrix, type MatrixLike, matchingMatrix, trainingMatrix } from "../matrix/matrix.ts";
import { type BankExplanation, explainRow, type StrongFilter } from "../method/explain.ts";
import { countLabels, countPresence, countsOf, type LabelCounts, sharesOf } from "../method/filter-labels.ts";
import { similarities } from "../method/similarity.ts";
import { joinSums } from "../method/sums.ts";
import { indexOfLargest, labelProbabilities, presenceProbabilities } from "../method/vote.ts";
import type { Estimator, Json, ModelReader, PredictingModel, Run, Saved } from "./estimator.ts";
import { checkParams, paramsAsJson, WHOLE_PARAMETERS, type WholeParams } from "./params.ts";
import { refuseUnsummed, sumsOf } from "./partial-fit.ts";
import { addToLabels } from "./partial-labels.ts";
import { makeReport, type Report, reportAsJson } from "./report.ts";
import { oneRow } from "./row.ts";
import { advance, backendOf } from "./run.ts";
import {
  bad,
  type Filters,
  filterArrays,
  readClasses,
  readFilters,
  readNBest,
  readParams,
  readReport,
  storedFilters,
} from "./saved-filters.ts";
import { shareRight } from "./score.ts";
import { trainWhole } from "./whole.ts";

/** Parameters of the probabilistic classifier. */
export type ProbabilisticParams = WholeParams;

/** Why a row was given its label or labels. */
export interface ProbabilisticExplanation<Y> extends BankExplanation {
  /** What `predict` gives the row. */
  readonly label: Y;
  /** The similar filters, strongest first, with the share of each class (or label) among their rows. */
  readonly filters: readonly (StrongFilter & { readonly shares: Float64Array })[];
}

/** Share of a fit spent on training; the rest labels the filters. */
const TRAINING_SHARE = 0.9;

/**
 * A classifier with probabilities learned from the rows each filter wins.
 *
 * ```ts
 * const model = await new RankSimilarityProbabilisticClassifier().fit(x, [["sport", "news"], ["news"], []]);
 * const sets = await model.predict(x); // a list of labels for each row
 * ```
 */
export class RankSimilarityProbabilisticClassifier implements Estimator<MatrixLike, ProbabilisticModel> {
  readonly kind = "probabilistic";
  readonly params: Readonly<ProbabilisticParams> & { readonly [name: string]: unknown };

  constructor(params: Partial<ProbabilisticParams> = {}) {
    this.params = checkParams<ProbabilisticParams & { readonly [name: string]: unknown }>(params, WHOLE_PARAMETERS);
  }

  /** A copy with some parameters changed. */
  with(changes: Partial<ProbabilisticParams>): RankSimilarityProbabilisticClassifier {
    return new RankSimilarityProbabilisticClassifier({ ...this.params, ...changes });
  }

  /** Learns filters from the rows and what each filter's rows are called. */
  fit(x: MatrixLike, y: Labels, run?: Run): Promise<ProbabilisticModel<Label>>;
  fit(x: MatrixLike, y: LabelSets, run?: Run): Promise<ProbabilisticModel<Label[]>>;
  fit(x: MatrixLike, y?: Labels | LabelSets, run?: Run): Promise<ProbabilisticModel>;
  async fit(x: MatrixLike, y?: Labels | LabelSets, run: Run = {}): Promise<ProbabilisticModel> {
    const matrix = trainingMatrix(x);
    if (y === undefined) throw new RanksimError("bad-labels", `expected ${matrix.rows} labels, found none`);
    refuseUnsummed(this.params);
    const several = isLabelSets(y);
    const sets = several ? encodeSets(y, matrix.rows) : undefined;
    const single = several ? undefined : encodeLabels(y, matrix.rows);
    const classes = sets?.labels ?? (single?.classes as readonly Label[]);
    if (classes.length === 0) throw new RanksimError("bad-labels", "expected at least 1 label, found only empty sets");

    const began = performance.now();
    const backend = await backendOf(run);
    const { rows, note } = rowsToTrainOn(matrix);
    const training = rows.length === matrix.rows ? matrix : matrix.gather(rows);
    const params = {
      ...this.params,
      initialRows: this.params.initialRows && positionsOf(this.params.initialRows, rows),
    };
    const { trained, distribution, notes } = await trainWhole(training, params, run, backend, TRAINING_SHARE);
    const { bank } = trained;

    await advance(run, { stage: "label", share: TRAINING_SHARE });
    const held = await backend.hold(training);
    let counts: LabelCounts;
    try {
      const winners = await held.topFilters(bank, 1);
      const codesOf = (encoded: Encoded) => rows.map((r) => encoded.codes[r]);
      counts = sets
        ? countPresence(winners, sets.present.gather(rows), bank.filters)
        : countLabels(winners, codesOf(single as Encoded), bank.filters, classes.length);
    } finally {
      held.release();
    }
    await advance(run, { stage: "label", share: 1 });

    const members = { offsets: trained.members.offsets, rows: trained.members.rows.map((r) => rows[r]) };
    const seconds = (performance.now() - began) / 1000;
    const report = makeReport(
      matrix.features,
      [{ rows: training.rows, trained }],
      note ? [...notes, note] : notes,
      seconds,
      backend.name,
    );
    const sums = sumsOf(this.params, training, trained.members);
    const kept = sums && {
      sums: joinSums(sums, matrix.features),
      seen: Uint32Array.of(matrix.rows),
      labelRows: counts.rows,
    };
    const stored = storedFilters({ bank, members, distribution, kept });
    return new ProbabilisticModel(
      stored,
      sharesOf(counts, several),
      classes,
      several,
      paramsAsJson(this.params),
      this.params.nBest,
      report,
    );
  }
}

/** Rows that are not all zero; all rows if there are none else. */
function rowsToTrainOn(x: Matrix): { rows: Uint32Array; note?: string } {
  const all = Uint32Array.from({ length: x.rows }, (_, r) => r);
  const rows = all.filter((r) => !isZeroRow(x, r));
  if (rows.length === 0) return { rows: all, note: "all rows are zero: the filters cannot tell rows apart" };
  if (rows.length === x.rows) return { rows };
  return { rows, note: `${x.rows - rows.length} rows of zeros were left out of training` };
}

/** The positions of `wanted` rows among the rows trained on. */
function positionsOf(wanted: readonly number[], rows: Uint32Array): number[] {
  const position = new Map(Array.from(rows, (row, p) => [row, p]));
  return Array.from(wanted, (row) => {
    const found = position.get(row);
    if (found !== undefined) return found;
    throw new RanksimError(
      "bad-params",
      `initialRows: expected rows that are there and not all zero, found row ${row}`,
    );
  });
}

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
  readonly #filters: Filters;

  /** Use `RankSimilarityProbabilisticClassifier.fit` or `loadModel`. */
  constructor(
    filters: Filters,
    filterLabels: Float64Array,
    classes: readonly Label[],
    multilabel: boolean,
    params: { readonly [name: string]: Json },
    nBest: number,
    report: Report,
  ) {
    this.features = filters.bank.features;
    this.classes = classes;
    this.multilabel = multilabel;
    this.filterLabels = filterLabels;
    this.params = params;
    this.nBest = nBest;
    this.report = report;
    this.#filters = filters;
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

  /** The same filters with another nBest. */
  withNBest(nBest: number): ProbabilisticModel<Y> {
    checkParams<ProbabilisticParams>({ nBest }, WHOLE_PARAMETERS);
    const params = { ...this.params, nBest };
    return new ProbabilisticModel(
      this.#filters,
      this.filterLabels,
      this.classes,
      this.multilabel,
      params,
      nBest,
      this.report,
    );
  }

  /**
   * The model with new rows added, and new classes or labels if any are named; this one stays as it is. Needs `keepSums`.
   * New rows count on after the earlier ones in `filterRows`.
   */
  async partialFit(x: MatrixLike, y: Labels | LabelSets, run: Run = {}): Promise<ProbabilisticModel<Y>> {
    const { filterLabels, classes, multilabel, params, report } = this;
    const parts = { filters: this.#filters, filterLabels, classes, multilabel, params, report };
    const grown = await addToLabels(parts, x, y, run);
    return new ProbabilisticModel(
      grown.filters,
      grown.filterLabels,
      grown.classes,
      multilabel,
      params,
      this.nBest,
      grown.report,
    );
  }

  /** The most probable class of each row, or the labels that are more probable than not. */
  async predict(x: MatrixLike, run: Run = {}): Promise<Y[]> {
    const { values, rows } = await this.predictProbabilities(x, run);
    const c = this.classes.length;
    return Array.from({ length: rows }, (_, r) => {
      if (!this.multilabel) return this.classes[indexOfLargest(values, r * c, c)] as Y;
      return this.classes.filter((_, o) => values[r * c + o] > 0.5) as Y;
    });
  }

  /** rows x classes: the probability of each class, or that each label is present. */
  async predictProbabilities(x: MatrixLike, run: Run = {}): Promise<Dense> {
    const matrix = matchingMatrix(x, this.features);
    const tell = (share: number) => advance(run, { stage: "predict", share });
    const c = this.classes.length;
    const out = new Float64Array(matrix.rows * c);
    const fill = this.multilabel ? presenceProbabilities : labelProbabilities;
    for await (const { from, similar } of similarities(matrix, this.bank, this.nBest, await backendOf(run), tell)) {
      fill(similar, this.filterLabels, c, out, from * c);
    }
    await tell(1);
    return Dense.of(out, matrix.rows, c);
  }

  /** Accuracy, or for a multilabel model the share of rows with exactly the right labels. */
  async score(x: MatrixLike, y: Labels | LabelSets, run: Run = {}): Promise<number> {
    return shareRight(await this.predict(x, run), y);
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
      arrays: { ...filterArrays(this.#filters), filter_labels: { shape, values: this.filterLabels } },
    };
  }
}

/** Reads a stored probabilistic classifier. */
export const probabilisticReader: ModelReader = {
  kind: "probabilistic",
  read: (saved) => {
    const filters = readFilters(saved, ["filter_labels"]);
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
    if (labelRows && !sharesOf(countsOf(values, labelRows), multilabel).every((share, at) => share === values[at])) {
      throw bad(saved, "filter_labels: expected shares of the rows that label_rows counts");
    }
    const params = readParams(saved);
    return new ProbabilisticModel(filters, values, classes, multilabel, params, readNBest(saved), readReport(saved));
  },
};
