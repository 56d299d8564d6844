/**
 * The model that is looked at, whatever it is made of: a filter model alone, or one at the end of a pipeline whose earlier
 * steps (scalers, text vectorisers) prepare its rows. Everything the page asks of a model goes through here.
 */

import {
  type Backend,
  type BankExplanation,
  type ClassExplanation,
  ClassifierModel,
  type Contribution,
  Csr,
  Dense,
  type Matrix,
  type Model,
  narrowest,
  ProbabilisticModel,
  RanksimError,
  saveModel,
  TransformModel,
  toDense,
} from "@ranksim/core";
import { FilterWords } from "@ranksim/learn";
import type {
  Explanation,
  FilterView,
  ModelKind,
  ModelSummary,
  PatchView,
  RunPoint,
  Sample,
  StrongFilter,
} from "../protocol.ts";
import type { PatchLook } from "./patch-look.ts";
import { viewFilter } from "./pictures.ts";
import { WallFilters } from "./wall-filters.ts";

/** A model of filters. */
export type FilterModel = ClassifierModel | ProbabilisticModel | TransformModel;

/** Strongest filters that are shown. */
const SHOWN_FILTERS = 8;

/** Most features whose contribution is sent. */
const SHOWN_PARTS = 4096;

export interface SubjectParts {
  /** What is saved. */
  readonly whole: Model;
  readonly model: FilterModel;
  readonly name: string;
  readonly origin: "trained" | "file";
  /** Rows of numbers or texts as the filters take them. */
  readonly prepare: (x: Matrix | readonly string[]) => Promise<Matrix>;
  readonly takesText: boolean;
  /** Whether rows come coded, as those of tables do: what codes them is part of `whole` and not of `prepare`. */
  readonly isCoded?: boolean;
  /** Numbers a row that `prepare` takes; 0 for text. */
  readonly inputs: number;
  readonly featureNames?: readonly string[];
  /** How filters are shown whose features are patches found in images; absent where rows go to the filters as they are. */
  readonly patches?: PatchLook;
  readonly history: readonly RunPoint[];
  /** Row of the data set that each training row was; absent for a model from a file. */
  readonly trainingRows?: Uint32Array;
}

export class Subject {
  readonly parts: SubjectParts;
  readonly bytes: Uint8Array<ArrayBuffer>;
  #featureNames: readonly string[] | undefined;
  #words: FilterWords | undefined;
  #wall: WallFilters | undefined;

  constructor(parts: SubjectParts) {
    this.parts = parts;
    this.#featureNames = parts.featureNames;
    this.bytes = saveModel(parts.whole);
  }

  /** Names of the features: the model's own words, or those of the data it is looked at with. */
  get featureNames(): readonly string[] | undefined {
    return this.#featureNames;
  }

  set featureNames(names: readonly string[] | undefined) {
    this.#featureNames = names;
    this.#words = undefined;
  }

  /** What sets filters apart, in words; undefined where features have no names. */
  #wordsOf(): FilterWords | undefined {
    const names = this.#featureNames;
    if (!names) return undefined;
    this.#words ??= new FilterWords(this.model.bank, (feature) => names[feature]);
    return this.#words;
  }

  get model(): FilterModel {
    return this.parts.model;
  }

  get classes(): readonly string[] {
    return this.model instanceof TransformModel ? [] : this.model.classes.map(String);
  }

  /** What is sent to the page. */
  summary(): ModelSummary {
    const { model, parts } = this;
    const { report } = model;
    return {
      kind: model.kind as ModelKind,
      origin: parts.origin,
      name: parts.name,
      classes: this.classes,
      multilabel: model instanceof ProbabilisticModel && model.multilabel,
      features: model.features,
      inputs: parts.inputs,
      filters: model.bank.filters,
      filtersPerClass: this.groups().map((filters) => filters.length),
      params: model.params,
      converged: report.converged,
      notes: report.notes,
      byteLength: this.bytes.byteLength,
      digest: digestOf(this.bytes),
      text: parts.takesText,
      ...(parts.patches ? { patches: parts.patches.summary } : {}),
      trainingRows: report.rows,
      steps: report.trainings.flatMap(({ label, rows, steps }) =>
        steps.map(({ iteration, moved, empty }) => ({
          ...(label === undefined ? {} : { label: String(label) }),
          iteration,
          moved,
          empty,
          rows,
        })),
      ),
      history: parts.history,
      ...(report.seconds === undefined ? {} : { seconds: report.seconds }),
      ...(report.backend === undefined ? {} : { backend: report.backend }),
      ...(report.pruned === undefined ? {} : { pruned: report.pruned }),
    };
  }

  /** The filters of each class (for a probabilistic model: of the class most of its rows have), most rows first. */
  groups(): Uint32Array[] {
    const { model } = this;
    const count = Math.max(this.classes.length, 1);
    const groups: number[][] = Array.from({ length: count }, () => []);
    for (let filter = 0; filter < model.bank.filters; filter++) groups[this.#classOf(filter)].push(filter);
    const rows = Uint32Array.from({ length: model.bank.filters }, (_, filter) => model.filterRows(filter).length);
    return groups.map((filters) => Uint32Array.from(filters.sort((a, b) => rows[b] - rows[a] || a - b)));
  }

  /** The filters to show all at once, at most `most`. From now on explanations include their responses. */
  wall(most: number): FilterView[] {
    this.#wall = new WallFilters(this.model.bank, this.groups(), most);
    return Array.from(this.#wall.filters, (filter) => this.view(filter));
  }

  /** A filter to look at. */
  view(filter: number): FilterView {
    const { model } = this;
    const facts = { filter, shares: this.#sharesOf(filter), rows: model.filterRows(filter).length };
    return viewFilter(model.bank, filter, facts, this.#wordsOf(), this.parts.patches);
  }

  /** Rows of the data set that a filter was made from; empty where they are not known. */
  membersOf(filter: number): number[] {
    const { trainingRows } = this.parts;
    return trainingRows ? Array.from(this.model.filterRows(filter), (row) => trainingRows[row]) : [];
  }

  /** Why a sample is decided as it is. */
  async explain(sample: Sample, backend: Backend): Promise<Explanation> {
    const began = performance.now();
    const { model } = this;
    const names = this.featureNames;
    const given = this.#asInput(sample);
    const x = await this.parts.prepare(given);
    const run = { backend };
    const found = await model.explain(x, 0, run);
    const answer = "label" in found ? found.label : undefined;
    const probabilities =
      model instanceof TransformModel
        ? undefined
        : Float64Array.from((await model.predictProbabilities(x, run)).values);
    const shown = this.#decisive(given, found).slice(0, SHOWN_PARTS);
    const responses = this.#wall?.responses(x);
    return {
      labels: answer === undefined ? [] : Array.isArray(answer) ? answer.map(String) : [String(answer)],
      ...(probabilities ? { probabilities } : {}),
      strongest: found.filters.slice(0, SHOWN_FILTERS).map((strong) => this.#strong(strong)),
      ...(found.rival === undefined ? {} : { rival: this.view(found.rival) }),
      ...this.#between(found),
      features: Uint32Array.from(shown, ({ feature }) => feature),
      parts: Float64Array.from(shown, ({ contribution }) => contribution),
      values: Float64Array.from(shown, ({ value }) => value),
      ...(names ? { names: shown.map(({ feature }) => names[feature]) } : {}),
      ...(responses ? { responses } : {}),
      ...this.#seen(x),
      milliseconds: performance.now() - began,
    };
  }

  #between(found: BankExplanation): Pick<Explanation, "between"> {
    if (!(this.model instanceof ClassifierModel)) return {};
    const { label, rivalLabel } = found as ClassExplanation;
    return rivalLabel === undefined ? {} : { between: [String(label), String(rivalLabel)] };
  }

  /** The parts of the decision by their size: of features, or of the pixels in whose windows patches were found. */
  #decisive(given: Matrix | readonly string[], found: BankExplanation): readonly Contribution[] {
    const { patches } = this.parts;
    if (!patches) return found.contributions;
    const { values } = toDense(given as Matrix);
    return Array.from(patches.where(given as Matrix, found) ?? [], (contribution, feature) => ({
      feature,
      contribution,
      value: values[feature],
    })).sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution) || a.feature - b.feature);
  }

  /** What the filters see of an image where patches come first. */
  #seen(x: Matrix): Pick<Explanation, "seen"> {
    const { patches } = this.parts;
    if (!patches) return {};
    const values = Float64Array.from(toDense(x).values);
    return { seen: { values, drawn: patches.draw(values) } };
  }

  /** The patches behind the answer for a sample. */
  async foundPatches(sample: Sample, backend: Backend): Promise<PatchView | null> {
    const { patches } = this.parts;
    if (!patches) return null;
    const given = this.#asInput(sample) as Matrix;
    const found = await this.model.explain(await this.parts.prepare(given), 0, { backend });
    if (found.filters.length === 0) return null;
    const nameOf = (filter: number) => this.classes[this.#classOf(filter)] ?? `filter ${filter}`;
    const rival = found.rival === undefined ? undefined : nameOf(found.rival);
    // The strongest filter of a committee may be of another class than the one it gave.
    const chosen = "rivalLabel" in found ? String((found as ClassExplanation).label) : nameOf(found.filters[0].filter);
    return patches.view(given, found, { given: chosen, rival });
  }

  /** A sample as the filters take it. */
  async prepared(sample: Sample): Promise<Float64Array> {
    return Float64Array.from(toDense(await this.parts.prepare(this.#asInput(sample))).values);
  }

  /** The strongest filter of a row and, if it is among the similar ones, the strongest of class `truth`. */
  async blame(
    x: Matrix,
    truth: number,
    backend: Backend,
  ): Promise<{ strongest?: StrongFilter; missed?: StrongFilter }> {
    const { filters } = await this.model.explain(x, 0, { backend });
    const missed = filters.find(({ filter }) => this.#classOf(filter) === truth);
    const [strongest] = filters;
    return {
      ...(strongest && { strongest: this.#strong(strongest) }),
      ...(missed && { missed: this.#strong(missed) }),
    };
  }

  #strong({ filter, similarity, response }: { filter: number; similarity: number; response: number }): StrongFilter {
    return { ...this.view(filter), similarity, response };
  }

  #classOf(filter: number): number {
    const { model } = this;
    if (model instanceof ClassifierModel) return model.filterClass[filter];
    if (model instanceof TransformModel) return 0;
    const shares = model.filterShares(filter);
    return shares.indexOf(Math.max(...shares));
  }

  #sharesOf(filter: number): FilterView["shares"] {
    const { model, classes } = this;
    if (model instanceof TransformModel) return [];
    if (model instanceof ClassifierModel) return [{ label: classes[model.filterClass[filter]], share: 1 }];
    return Array.from(model.filterShares(filter), (share, c) => ({ label: classes[c], share }))
      .filter(({ share }) => share > 0)
      .sort((a, b) => b.share - a.share)
      .slice(0, 3);
  }

  #asInput(sample: Sample): Matrix | readonly string[] {
    const { takesText } = this.parts;
    if (sample.form === "text") {
      if (takesText) return [sample.text];
      throw new RanksimError("wrong-width", `the model takes ${this.model.features} numbers a row, found text`);
    }
    if (takesText) throw new RanksimError("wrong-width", "the model takes text, found numbers");
    if (sample.form === "dense") return Dense.of(narrowest(sample.values), 1, sample.values.length);
    const offsets = Uint32Array.of(0, sample.indices.length);
    return Csr.of(offsets, sample.indices, narrowest(sample.values), this.model.features);
  }
}

/** The digest that the file states, at the head of its header. */
export function digestOf(bytes: Uint8Array): string {
  const head = new TextDecoder().decode(bytes.subarray(0, 256));
  return /"digest":"([0-9a-f]{64})"/.exec(head)?.[1] ?? "";
}
