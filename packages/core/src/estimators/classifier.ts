/** RSC: the rank similarity classifier. Filters are trained class by class; the strongest filter names the class. */

import { RanksimError } from "../errors.ts";
import type { FilterBank, Groups } from "../kernels/shapes.ts";
import { Dense } from "../matrix/dense.ts";
import { encodeLabels, isLabelSets, type Label, type LabelSets, type Labels } from "../matrix/labels.ts";
import { type Matrix, type MatrixLike, matchingMatrix, trainingMatrix } from "../matrix/matrix.ts";
import { allocateFilters, countFilters } from "../method/allocate.ts";
import { joinBanks } from "../method/bank.ts";
import { classBanks, classScores } from "../method/class-scores.ts";
import { resolveDistribution } from "../method/distribution.ts";
import { type BankExplanation, explainRow, type StrongFilter } from "../method/explain.ts";
import { groupByCode, joinGroups } from "../method/groups.ts";
import { similarities, strongest } from "../method/similarity.ts";
import { joinSums, type Sum } from "../method/sums.ts";
import { trainBank } from "../method/train.ts";
import { classProbabilities, voteBySimilarity, voteByStrongest } from "../method/vote.ts";
import { streams } from "../random.ts";
import type { Estimator, Json, ModelReader, PredictingModel, Run, Saved } from "./estimator.ts";
import { CLASSIFIER_PARAMETERS, type ClassifierParams, checkParams, paramsAsJson } from "./params.ts";
import { addToClasses } from "./partial-classes.ts";
import { refuseUnsummed, sumsOf } from "./partial-fit.ts";
import { makeReport, type Report, reportAsJson, shapeNotes } from "./report.ts";
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
  readVoters,
  storedFilters,
  vector,
} from "./saved-filters.ts";
import type { Kept } from "./saved-sums.ts";
import { shareRight } from "./score.ts";
import { checkInitialRows, refuseFullPlusplus } from "./whole.ts";

/** Why a row was given its class. */
export interface ClassExplanation extends BankExplanation {
  /** The class the row is given. */
  readonly label: Label;
  /** The class of the rival filter, if there is more than one class. */
  readonly rivalLabel: Label | undefined;
  /** The similar filters, strongest first, with their classes. */
  readonly filters: readonly (StrongFilter & { readonly label: Label })[];
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
  readonly params: Readonly<ClassifierParams> & { readonly [name: string]: unknown };

  constructor(params: Partial<ClassifierParams> = {}) {
    this.params = checkParams<ClassifierParams & { readonly [name: string]: unknown }>(params, CLASSIFIER_PARAMETERS);
  }

  /** A copy with some parameters changed. */
  with(changes: Partial<ClassifierParams>): RankSimilarityClassifier {
    return new RankSimilarityClassifier({ ...this.params, ...changes });
  }

  /** Learns filters for each class from rows and their labels. */
  async fit(x: MatrixLike, y?: Labels | LabelSets, run: Run = {}): Promise<ClassifierModel> {
    const { params } = this;
    const matrix = trainingMatrix(x);
    if (y === undefined) throw new RanksimError("bad-labels", `expected ${matrix.rows} labels, found none`);
    if (isLabelSets(y)) {
      throw new RanksimError(
        "bad-labels",
        "expected one label for each row; RankSimilarityProbabilisticClassifier takes several",
      );
    }
    const began = performance.now();
    refuseUnsummed(params);
    const { classes, codes } = encodeLabels(y, matrix.rows);
    const groups = groupByCode(codes, classes.length);
    const rowsOf = (c: number) => groups.rows.subarray(groups.offsets[c], groups.offsets[c + 1]);
    const notes = shapeNotes(matrix.features);
    const initialRows = params.initialRows && checkInitialRowsByClass(params.initialRows, classes, codes, groups);
    const filters = initialRows?.map((rows) => rows.length) ?? this.#allocate(matrix.rows, classes, groups, notes);

    const backend = await backendOf(run);
    const generators = streams(params.seed);
    await advance(run, { stage: "distribution", share: 0 });
    const forDistribution = generators.next().value;
    const draw = (rows: Matrix) => resolveDistribution(rows, params.distribution, params, forDistribution, run.signal);
    const common = params.distributionPerClass ? undefined : draw(matrix);

    const trained = [];
    const distributions: Float64Array[] = [];
    for (let c = 0; c < classes.length; c++) {
      const rows = rowsOf(c);
      const xc = matrix.gather(rows);
      const distribution = params.distributionPerClass ? draw(xc) : common;
      if (params.distributionPerClass && distribution) distributions.push(distribution);
      const label = classes[c];
      const share = (done: number) => (groups.offsets[c] + rows.length * done) / matrix.rows;
      const bank = await trainBank(
        xc,
        filters[c],
        { ...params, initialRows: initialRows?.[c], distribution },
        generators.next().value,
        backend,
        (bank, step) =>
          advance(run, {
            stage: step ? "spread" : "initialize",
            label,
            ...step,
            filters: bank,
            share: share((1 + (step?.iteration ?? 0)) / (params.iterations + 1)),
          }),
      );
      trained.push({ label, rows: rows.length, trained: bank, sums: sumsOf(params, xc, bank.members) });
    }
    await advance(run, { stage: "fit", share: 1 });
    const stored = storedFilters({
      bank: joinBanks(trained.map(({ trained: { bank } }) => bank)),
      members: joinGroups(trained.map(({ trained: { members } }, c) => ({ groups: members, rows: rowsOf(c) }))),
      distribution: common ?? (distributions.length > 0 ? flat(distributions) : undefined),
      kept: params.keepSums ? keep(trained, matrix.features) : undefined,
    });
    const filterClass = Uint32Array.from(filters.flatMap((count, c) => new Array<number>(count).fill(c)));
    const seconds = (performance.now() - began) / 1000;
    const report = makeReport(matrix.features, trained, notes, seconds, backend.name);
    return new ClassifierModel(stored, filterClass, classes, paramsAsJson(params), params.nBest, report);
  }

  /** Filters per class. */
  #allocate(rows: number, classes: readonly Label[], groups: Groups, notes: string[]): number[] {
    const { params } = this;
    const filters = countFilters(rows, params.filters, params.fastFilters, params.maxFilters);
    refuseFullPlusplus(params, filters, rows);
    const classRows = classes.map((_, c) => groups.offsets[c + 1] - groups.offsets[c]);
    const mayExceed = params.initialize === "weightedAverage";
    const allocated = allocateFilters(classes, classRows, filters, params.classWeight, mayExceed);
    if (!mayExceed && filters > rows) {
      notes.push(
        `${filters} filters were asked for ${rows} rows; initialize: "weightedAverage" allows more filters than rows`,
      );
    }
    return allocated;
  }
}

/** Trained filters with a class each. */
export class ClassifierModel implements PredictingModel<MatrixLike, Label> {
  readonly kind = "classifier";
  readonly features: number;
  /** The class names, sorted: numbers before strings. */
  readonly classes: readonly Label[];
  /** Class number of each filter. Not to be written to. */
  readonly filterClass: Uint32Array;
  /** The parameters the model was trained with. */
  readonly params: { readonly [name: string]: Json };
  readonly nBest: number;
  readonly report: Report;
  readonly #filters: Filters;
  #classBanks: ReturnType<typeof classBanks> | undefined;

  /** Use `RankSimilarityClassifier.fit` or `loadModel`. */
  constructor(
    filters: Filters,
    filterClass: Uint32Array,
    classes: readonly Label[],
    params: { readonly [name: string]: Json },
    nBest: number,
    report: Report,
  ) {
    this.features = filters.bank.features;
    this.classes = classes;
    this.filterClass = filterClass;
    this.params = params;
    this.nBest = nBest;
    this.report = report;
    this.#filters = filters;
  }

  /** The filters. Not to be written to. */
  get bank(): FilterBank {
    return this.#filters.bank;
  }

  /** The values the weights were drawn from (classes x features if each class has its own); absent for ranks. */
  get distribution(): Float64Array | undefined {
    return this.#filters.distribution;
  }

  /** Training rows that each filter was made from. */
  filterRows(filter: number): Uint32Array {
    const { offsets, rows } = this.#filters.members;
    return rows.slice(offsets[filter], offsets[filter + 1]);
  }

  /** The same filters with another nBest. */
  withNBest(nBest: number): ClassifierModel {
    checkParams<ClassifierParams>({ nBest }, CLASSIFIER_PARAMETERS);
    return new ClassifierModel(
      this.#filters,
      this.filterClass,
      this.classes,
      { ...this.params, nBest },
      nBest,
      this.report,
    );
  }

  /** How many of the strongest filters decide the class of a row. */
  get voters(): number {
    return (this.params.voters ?? 1) as number;
  }

  /**
   * The model with new rows added, and new classes if the labels name any; this one stays as it is. Needs `keepSums`. New
   * rows count on after the earlier ones in `filterRows`.
   */
  async partialFit(x: MatrixLike, y: Labels | LabelSets, run: Run = {}): Promise<ClassifierModel> {
    if (isLabelSets(y)) throw new RanksimError("bad-labels", "expected one label for each row, found label sets");
    const { classes, filterClass, params, report } = this;
    const grown = await addToClasses({ filters: this.#filters, filterClass, classes, params, report }, x, y, run);
    return new ClassifierModel(grown.filters, grown.filterClass, grown.classes, params, this.nBest, grown.report);
  }

  /** The class of each row. */
  async predict(x: MatrixLike, run: Run = {}): Promise<Label[]> {
    const matrix = matchingMatrix(x, this.features);
    const tell = (share: number) => advance(run, { stage: "predict", share });
    const c = this.classes.length;
    const backend = await backendOf(run);
    const labels: Label[] = [];
    const name = (codes: Uint32Array) => {
      for (const code of codes) labels.push(this.classes[code]);
    };
    if (this.voters === 1) {
      for await (const { top, tied } of strongest(matrix, this.bank, backend, tell)) {
        name(voteByStrongest(top, tied, this.filterClass, c));
      }
    } else {
      for await (const { similar } of similarities(matrix, this.bank, this.nBest, backend, tell)) {
        name(voteBySimilarity(similar, this.filterClass, c, this.voters));
      }
    }
    await tell(1);
    return labels;
  }

  /** The strongest response of each class, rows x classes in the order of `classes`. */
  async classScores(x: MatrixLike, run: Run = {}): Promise<Dense> {
    const matrix = matchingMatrix(x, this.features);
    const tell = (share: number) => advance(run, { stage: "predict", share });
    const c = this.classes.length;
    const out = new Float64Array(matrix.rows * c);
    this.#classBanks ??= classBanks(this.bank, this.filterClass, c);
    for await (const { from, scores } of classScores(matrix, this.#classBanks, await backendOf(run), tell)) {
      out.set(scores, from * c);
    }
    await tell(1);
    return Dense.of(out, matrix.rows, c);
  }

  /** The probability of each class, rows x classes in the order of `classes`. */
  async predictProbabilities(x: MatrixLike, run: Run = {}): Promise<Dense> {
    const matrix = matchingMatrix(x, this.features);
    const tell = (share: number) => advance(run, { stage: "predict", share });
    const c = this.classes.length;
    const out = new Float64Array(matrix.rows * c);
    for await (const { from, similar } of similarities(matrix, this.bank, this.nBest, await backendOf(run), tell)) {
      classProbabilities(similar, this.filterClass, c, out, from * c);
    }
    await tell(1);
    return Dense.of(out, matrix.rows, c);
  }

  /** Accuracy: the share of rows given their own label. */
  async score(x: MatrixLike, y: Labels | LabelSets, run: Run = {}): Promise<number> {
    return shareRight(await this.predict(x, run), y);
  }

  /** Why one row of `x` gets its class. */
  async explain(x: MatrixLike, row: number, run: Run = {}): Promise<ClassExplanation> {
    const one = oneRow(matchingMatrix(x, this.features), row);
    const backend = await backendOf(run);
    const classOf = (f: number) => this.filterClass[f];
    const found = await explainRow(one, this.bank, this.#filters.members, this.nBest, classOf, backend);
    const [label] = await this.predict(one, run);
    return {
      ...found,
      label,
      rivalLabel: found.rival === undefined ? undefined : this.classes[classOf(found.rival)],
      filters: found.filters.map((filter) => ({ ...filter, label: this.classes[classOf(filter.filter)] })),
    };
  }

  save(): Saved {
    const { features, params, classes } = this;
    const arrays = {
      ...filterArrays(this.#filters),
      filter_class: { shape: [this.filterClass.length], values: this.filterClass },
    };
    return { kind: this.kind, meta: { features, params, classes, report: reportAsJson(this.report) }, arrays };
  }
}

/** Rows of the whole matrix, per class, as positions among the class's rows. */
function checkInitialRowsByClass(
  initialRows: readonly (readonly number[])[],
  classes: readonly Label[],
  codes: Uint32Array,
  groups: Groups,
): Uint32Array[] {
  if (initialRows.length !== classes.length || !initialRows.every((rows) => typeof rows === "object")) {
    throw new RanksimError("bad-params", `initialRows: expected a list of rows for each of ${classes.length} classes`);
  }
  const position = new Uint32Array(codes.length);
  for (let c = 0; c < classes.length; c++) {
    for (let e = groups.offsets[c]; e < groups.offsets[c + 1]; e++) position[groups.rows[e]] = e - groups.offsets[c];
  }
  return initialRows.map((rows, c) => {
    const checked = checkInitialRows(rows, codes.length);
    const stray = checked.find((row) => codes[row] !== c);
    if (stray !== undefined) {
      throw new RanksimError(
        "bad-params",
        `initialRows: expected rows of class ${JSON.stringify(classes[c])}, found row ${stray} of class ${JSON.stringify(classes[codes[stray]])}`,
      );
    }
    return checked.map((row) => position[row]);
  });
}

/** What is kept of the rows of each class. */
function keep(classes: readonly { rows: number; sums: readonly Sum[] | undefined }[], features: number): Kept {
  const sums = joinSums(
    classes.flatMap(({ sums }) => sums ?? []),
    features,
  );
  return { sums, seen: Uint32Array.from(classes, ({ rows }) => rows) };
}

function flat(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.length * parts[0].length);
  parts.forEach((part, j) => {
    all.set(part, j * part.length);
  });
  return all;
}

/** Reads a stored classifier. */
export const classifierReader: ModelReader = {
  kind: "classifier",
  read: (saved) => {
    const filters = readFilters(saved, ["filter_class"]);
    const classes = readClasses(saved);
    const filterClass = vector(saved, "filter_class", Uint32Array);
    if (filterClass.length !== filters.bank.filters) {
      throw bad(saved, `filter_class: expected ${filters.bank.filters} classes, found ${filterClass.length}`);
    }
    if (!filterClass.every((c) => c < classes.length)) {
      throw bad(saved, `filter_class: expected class numbers below ${classes.length}`);
    }
    readVoters(saved);
    return new ClassifierModel(filters, filterClass, classes, readParams(saved), readNBest(saved), readReport(saved));
  },
};
