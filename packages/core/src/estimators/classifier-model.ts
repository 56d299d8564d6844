/** A trained classifier: filters with a class each, of which the strongest decides. */

import { classBanks, classScores } from "../beyond/committee/class-scores.ts";
import {
  banksOf,
  committeeScores,
  committeeVotes,
  type KeptCommitteeBank,
  keepBanks,
  scoresToProbabilities,
} from "../beyond/committee/committee.ts";
import { explainVote } from "../beyond/committee/explain.ts";
import { familiarityOf, meanWeight } from "../beyond/novelty/familiarity.ts";
import {
  applyToClasses,
  type CalibrationMethod,
  type ClassCalibration,
  calibrateClasses,
} from "../beyond/probabilities/calibration.ts";
import { sparseLengths } from "../beyond/probabilities/row-length.ts";
import { RanksimError } from "../errors.ts";
import type { RowSource } from "../kernels/shapes.ts";
import { Dense } from "../matrix/dense.ts";
import { codesAmong, isLabelSets, type Label, type LabelSets, type Labels } from "../matrix/labels.ts";
import { type MatrixLike, matchingMatrix, trainingMatrix } from "../matrix/matrix.ts";
import { gatherMatrix, matchingRows, type RowsLike, rowLengths } from "../matrix/source.ts";
import type { Json, Saved } from "../model-file/saved.ts";
import { calibrationArrays, FITTED_ARRAYS, readClassCalibration } from "../model-file/stored/calibration.ts";
import { checkRefinement, readFilterBank } from "../model-file/stored/committee.ts";
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
} from "../model-file/stored/filters.ts";
import { type Report, reportAsJson } from "../model-file/stored/report.ts";
import { type BankExplanation, explainRow, type StrongFilter } from "../paper/explain.ts";
import { similarities, strongest } from "../paper/similarity.ts";
import { classProbabilities, voteBySimilarity, voteByStrongest } from "../paper/vote.ts";
import type { CalibrateOptions, ModelReader, PredictingModel, Run } from "./estimator.ts";
import { FilterModel } from "./filter-model.ts";
import { CLASSIFIER_PARAMETERS, type ClassifierParams, checkParams } from "./params.ts";
import { addToClasses } from "./partial-classes.ts";
import { recipeOf } from "./partial-fit.ts";
import { refineClasses, refuseUnrefinable } from "./refinement.ts";
import { oneRow } from "./row.ts";
import { advance, mergeOptions, withBackend } from "./run.ts";
import { inheritSchema } from "./schema.ts";
import { shareRight } from "./score.ts";
import { showRows } from "./shown-rows.ts";

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
interface ModelParts {
  readonly filters: Filters;
  readonly filterClass: Uint32Array;
  readonly classes: readonly Label[];
  readonly params: { readonly [name: string]: Json };
  readonly nBest: number;
  readonly report: Report;
  readonly calibration?: ClassCalibration | undefined;
}

/** Trained filters with a class each. */
export class ClassifierModel extends FilterModel implements PredictingModel<MatrixLike, Label> {
  readonly kind = "classifier";
  /** The class names, sorted: numbers before strings. */
  readonly classes: readonly Label[];
  /** Class number of each filter. Not to be written to. */
  readonly filterClass: Uint32Array;
  readonly #calibration: ClassCalibration | undefined;
  #classBanks: ReturnType<typeof classBanks> | undefined;
  #committee: readonly KeptCommitteeBank[] | undefined;
  #meanWeight: number | undefined;

  /** Use `RankSimilarityClassifier.fit` or `loadModel`. */
  constructor({ filters, filterClass, classes, params, nBest, report, calibration }: ModelParts) {
    super(filters, params, nBest, report);
    this.#calibration = calibration;
    this.classes = classes;
    this.filterClass = filterClass;
  }

  /** Banks that were trained separately and whose class scores are added; 1 for a single bank. */
  get committee(): number {
    return (this.filterBank?.at(-1) ?? 0) + 1;
  }

  /** Bank number of each filter of a committee. Not to be written to. */
  get filterBank(): Uint32Array | undefined {
    return this.filters.filterBank;
  }

  /** The same filters with another nBest. */
  withNBest(nBest: number): ClassifierModel {
    checkParams<ClassifierParams>({ nBest }, CLASSIFIER_PARAMETERS);
    return this.#with({ nBest, params: { ...this.params, nBest } });
  }

  /**
   * The same filters with probabilities fitted to rows that the model was not trained on. Predictions do not change. A method
   * by itself and a `Run` after it, as in 0.1, are deprecated and go in 0.3.
   */
  async calibrate(
    x: RowsLike,
    y: Labels,
    options: CalibrateOptions | CalibrationMethod = {},
    apart?: Run,
  ): Promise<ClassifierModel> {
    const { method = "temperature", ...run } = mergeOptions<CalibrateOptions, "method">("method", options, apart);
    const { calibrate } = checkParams<ClassifierParams>({ calibrate: method }, CLASSIFIER_PARAMETERS);
    const asked = matchingRows(x, this.features);
    // Scores and lengths are two readings: rows that are made would be made twice.
    const rows = asked.made
      ? await gatherMatrix(
          asked,
          Uint32Array.from({ length: asked.rows }, (_, r) => r),
        )
      : asked;
    const scores = await this.classScores(rows, run);
    if (scores.rows === 0) throw new RanksimError("empty-input", "expected at least 1 row to calibrate on, found none");
    const truth = codesAmong(y, this.classes, scores.rows);
    const values = scores.values as Float64Array;
    const lengths = await sparseLengths(rows);
    const fitted = calibrateClasses(values, "responses", truth, this.classes.length, method, lengths);
    return this.#with({ calibration: fitted, params: { ...this.params, calibrate } });
  }

  /** The same filters with the probabilities that were fitted for a model of the same classes, whose training the report counts in. */
  calibratedAs(other: ClassifierModel): ClassifierModel {
    const [own, more] = [this.report, other.report];
    const seconds = (own.seconds ?? 0) + (more.seconds ?? 0);
    const fallbacks = [...new Set([...(own.fallbacks ?? []), ...(more.fallbacks ?? [])])];
    return this.#with({ calibration: other.#calibration, report: { ...own, seconds, fallbacks } });
  }

  /** The same filters with the probabilities of the method itself; this model where none were fitted. */
  uncalibrated(): ClassifierModel {
    return this.#calibration ? this.#with(this.#unfitted()) : this;
  }

  /** What changes where probabilities were fitted to another model. */
  #unfitted(): Pick<ModelParts, "params" | "calibration"> {
    return { params: { ...this.params, calibrate: "none" }, calibration: undefined };
  }

  /** The same model with some parts replaced. */
  #with(changes: Partial<ModelParts>, hasNewRows = false): ClassifierModel {
    const { filterClass, classes, params, nBest, report } = this;
    const own = { filters: this.filters, filterClass, classes, params, nBest, report, calibration: this.#calibration };
    return inheritSchema(new ClassifierModel({ ...own, ...changes }), this, hasNewRows);
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
    const parts = { filters: this.filters, filterClass, classes, params, report };
    const grown = await withBackend(run, (backend) => addToClasses(parts, x, y, backend, run));
    return this.#with({ ...grown, ...this.#unfitted() }, true);
  }

  /**
   * The model with filters that learned from rows they get wrong (deviation 31), or with the same filters if that did not
   * help on held-out rows; this one stays as it is. `report.refinement` says which. With the rows and labels of `fit` the
   * filters are those of `fit` with `refine: true`.
   */
  async refine(x: MatrixLike, y: Labels | LabelSets, run: Run = {}): Promise<ClassifierModel> {
    if (isLabelSets(y)) throw new RanksimError("bad-labels", "expected one label for each row, found label sets");
    const matrix = trainingMatrix(matchingMatrix(x, this.features));
    const { classes, filterClass } = this;
    const { calibration, params: unfitted } = this.#unfitted();
    const params = { ...unfitted, refine: true };
    const recipe = checkParams<ClassifierParams>(recipeOf(params), CLASSIFIER_PARAMETERS);
    refuseUnrefinable(recipe);
    const codes = codesAmong(y, classes, matrix.rows);
    const task = { ...showRows(matrix, codes, recipe), filters: this.filters, filterClass, classes, params: recipe };
    const { filters, report, notes } = await withBackend(run, (backend) => refineClasses(task, backend, run, 0));
    const told = { ...this.report, notes: [...new Set([...this.report.notes, ...notes])], refinement: report };
    return this.#with({ filters: storedFilters(filters), params, report: told, calibration });
  }

  /** The class of each row. */
  predict(x: RowSource, run?: Run): Promise<Label[]>;
  predict(x: MatrixLike, run?: Run): Promise<Label[]>;
  async predict(x: RowsLike, run: Run = {}): Promise<Label[]> {
    const matrix = matchingRows(x, this.features);
    const tell = (share: number) => advance(run, { stage: "predict", share });
    const c = this.classes.length;
    return withBackend(run, async (backend) => {
      const labels: Label[] = [];
      const name = (codes: Uint32Array) => {
        for (const code of codes) labels.push(this.classes[code]);
      };
      if (this.committee > 1) {
        for await (const { voted } of committeeVotes(matrix, this.#committeeBanks(), c, backend, tell)) name(voted);
      } else if (this.voters === 1) {
        for await (const { top, tied } of strongest(matrix, this.keptBank, backend, tell)) {
          name(voteByStrongest(top, tied, this.filterClass, c));
        }
      } else {
        // Similarities are scaled so that the strongest filter that does not vote has 0.
        for await (const { similar } of similarities(matrix, this.keptBank, this.voters + 1, backend, tell)) {
          name(voteBySimilarity(similar, this.filterClass, c));
        }
      }
      await tell(1);
      return labels;
    });
  }

  /** The strongest response of each class, in a committee added up over its banks: rows x classes in the order of `classes`. */
  async classScores(x: RowsLike, run: Run = {}): Promise<Dense> {
    const matrix = matchingRows(x, this.features);
    const tell = (share: number) => advance(run, { stage: "predict", share });
    const c = this.classes.length;
    const out = new Float64Array(matrix.rows * c);
    await withBackend(run, async (backend) => {
      if (this.committee > 1) await committeeScores(matrix, this.#committeeBanks(), c, backend, tell, out);
      else await classScores(matrix, this.#byClass(), backend, tell, out);
      await tell(1);
    });
    return Dense.of(out, matrix.rows, c);
  }

  /** How much each row is like the filter it is most like (deviation 35): low where a row is unlike all that was trained on. */
  async familiarity(x: MatrixLike, run: Run = {}): Promise<Float64Array> {
    const matrix = matchingMatrix(x, this.features);
    const scores = await this.classScores(matrix, run);
    const strongest = Float64Array.from({ length: matrix.rows }, (_, r) => {
      const row = scores.row(r) as Float64Array;
      return row.reduce((most, score) => Math.max(most, score)) / this.committee;
    });
    this.#meanWeight ??= meanWeight(this.bank);
    return familiarityOf(matrix, strongest, this.#meanWeight);
  }

  /** The probability of each class, rows x classes in the order of `classes`. */
  predictProbabilities(x: RowSource, run?: Run): Promise<Dense>;
  predictProbabilities(x: MatrixLike, run?: Run): Promise<Dense>;
  async predictProbabilities(x: RowsLike, run: Run = {}): Promise<Dense> {
    if (this.#calibration) {
      const rows = matchingRows(x, this.features);
      const scores = await this.classScores(rows, run);
      const lengths = this.#calibration.halfway > 0 ? await rowLengths(rows) : undefined;
      applyToClasses(this.#calibration, "responses", scores.values as Float64Array, this.classes.length, lengths);
      return scores;
    }
    if (this.committee > 1) {
      const scores = await this.classScores(x, run);
      scoresToProbabilities(scores.values as Float64Array, this.classes.length);
      return scores;
    }
    const matrix = matchingRows(x, this.features);
    const tell = (share: number) => advance(run, { stage: "predict", share });
    const c = this.classes.length;
    return withBackend(run, async (backend) => {
      const out = new Float64Array(matrix.rows * c);
      for await (const { from, similar } of similarities(matrix, this.keptBank, this.nBest, backend, tell)) {
        classProbabilities(similar, this.filterClass, c, out, from * c);
      }
      await tell(1);
      return Dense.of(out, matrix.rows, c);
    });
  }

  /** Accuracy: the share of rows given their own label. */
  score(x: RowSource, y: Labels | LabelSets, run?: Run): Promise<number>;
  score(x: MatrixLike, y: Labels | LabelSets, run?: Run): Promise<number>;
  async score(x: RowsLike, y: Labels | LabelSets, run: Run = {}): Promise<number> {
    return shareRight(await this.predict(x as RowSource, run), y, this.classes);
  }

  /** Why one row of `x` gets its class. */
  async explain(x: MatrixLike, row: number, run: Run = {}): Promise<ClassExplanation> {
    const one = oneRow(matchingMatrix(x, this.features), row);
    const classOf = (f: number) => this.filterClass[f];
    const [label] = await this.predict(one, run);
    const given = this.classes.indexOf(label);
    const found = await withBackend(run, async (backend) => {
      const strong = await explainRow(one, this.keptBank, this.filters.members, this.nBest, classOf, backend, given);
      // A row that no filter responds to, such as one of zeros, has no rival either.
      if (this.committee === 1 || strong.filters.length === 0) return strong;
      return { ...strong, ...(await explainVote(one, this.#committeeBanks(), this.classes.length, backend)) };
    });
    return {
      ...found,
      label,
      rivalLabel: found.rival === undefined ? undefined : this.classes[classOf(found.rival)],
      filters: found.filters.map((filter) => ({ ...filter, label: this.classes[classOf(filter.filter)] })),
    };
  }

  #byClass(): ReturnType<typeof classBanks> {
    this.#classBanks ??= classBanks(this.bank, this.filterClass, this.classes.length);
    return this.#classBanks;
  }

  #committeeBanks(): readonly KeptCommitteeBank[] {
    const filterBank = this.filterBank as Uint32Array;
    this.#committee ??= keepBanks(banksOf(this.bank, this.filterClass, filterBank), this.classes.length);
    return this.#committee;
  }

  save(): Saved {
    const { features, params, classes } = this;
    const arrays = {
      ...filterArrays(this.filters),
      filter_class: { shape: [this.filterClass.length], values: this.filterClass },
      ...calibrationArrays(this.#calibration),
    };
    return { kind: this.kind, meta: { features, params, classes, report: reportAsJson(this.report) }, arrays };
  }
}

/** Reads a stored classifier. */
export const classifierReader: ModelReader = {
  kind: "classifier",
  read: (saved) => {
    const filters = readFilters(saved, ["filter_class", "filter_bank", ...FITTED_ARRAYS]);
    const classes = readClasses(saved);
    const filterClass = vector(saved, "filter_class", Uint32Array);
    if (filterClass.length !== filters.bank.filters) {
      throw bad(saved, `filter_class: expected ${filters.bank.filters} classes, found ${filterClass.length}`);
    }
    if (!filterClass.every((c) => c < classes.length)) {
      throw bad(saved, `filter_class: expected class numbers below ${classes.length}`);
    }
    readVoters(saved);
    checkRefinement(saved);
    const [params, nBest, report] = [readParams(saved), readNBest(saved), readReport(saved)];
    if (saved.arrays.thresholds) throw bad(saved, "unknown array thresholds");
    const calibration = readClassCalibration(saved, classes.length, true);
    const all = { ...filters, filterBank: readFilterBank(saved, filterClass, classes.length) };
    return new ClassifierModel({ filters: all, filterClass, classes, params, nBest, report, calibration });
  },
};
