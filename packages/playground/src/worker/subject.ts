/**
 * The model that is looked at, whatever it is made of: filters or planes decide, and earlier steps (encoders, vectorisers, patches)
 * prepare their rows. Everything the page asks of a model goes through here.
 */

import {
  type Backend,
  type BankExplanation,
  type ClassExplanation,
  ClassifierModel,
  type Contribution,
  type Dense,
  type Label,
  type LinearModel,
  type Matrix,
  type Model,
  type PredictingModel,
  type ProbabilisticModel,
  RanksimError,
  type Run,
  saveModel,
  schemaOf,
  TransformModel,
  type TriedRecipe,
  toDense,
} from "@ranksim/core";
import type { DataSet } from "@ranksim/data";
import { FilterWords } from "@ranksim/learn";
import type {
  Explanation,
  FilterView,
  ImageSize,
  ModelKind,
  ModelSummary,
  PatchView,
  RunPoint,
  Sample,
  StrongFilter,
} from "../protocol.ts";
import { namesOf, setOfSample } from "./data.ts";
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
  /** The part that decides: filters, or planes. */
  readonly filters?: FilterModel;
  readonly planes?: LinearModel;
  readonly name: string;
  readonly origin: "trained" | "file";
  /** Rows as the part that decides takes them. */
  readonly prepare: (set: DataSet) => Promise<Matrix>;
  /** Of a blend: the whole, which answers, what it takes, and what the part is called that is explained. */
  readonly blend?: {
    readonly model: PredictingModel<unknown>;
    input(set: DataSet): unknown;
    readonly explained: string;
  };
  readonly takesText: boolean;
  /** The columns of tables that it takes. */
  readonly columns?: readonly string[];
  /** Numbers a row that it takes; 0 for text. */
  readonly inputs: number;
  readonly imageSize?: ImageSize;
  readonly featureNames?: readonly string[];
  /** How filters are shown whose features are patches found in images; absent where rows go to the filters as they are. */
  readonly patches?: PatchLook;
  readonly about?: string;
  readonly tried?: readonly TriedRecipe[];
  readonly history: readonly RunPoint[];
  /** Row of the data set that each training row was; absent for a model from a file. */
  readonly trainingRows?: Uint32Array;
}

export class Subject {
  readonly parts: SubjectParts;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Names of the columns of the data it is looked at with. */
  columnNames: readonly string[] | undefined;
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
    this.#words ??= new FilterWords(this.filters.bank, (feature) => names[feature]);
    return this.#words;
  }

  /** The filters; refused where planes decide. */
  get filters(): FilterModel {
    const { filters } = this.parts;
    if (filters) return filters;
    throw new RanksimError("unsupported", "This model decides by weights of its columns and has no filters.");
  }

  /** The part that decides. */
  get #decides(): FilterModel | LinearModel {
    return this.parts.filters ?? (this.parts.planes as LinearModel);
  }

  get classes(): readonly Label[] {
    const part = this.#decides;
    return part instanceof TransformModel ? [] : part.classes;
  }

  get multilabel(): boolean {
    const part = this.#decides;
    return "multilabel" in part && part.multilabel;
  }

  /** Whether it takes rows: texts, tables that have its columns, or as many numbers. */
  takes(set: DataSet): boolean {
    const { takesText, columns, inputs } = this.parts;
    if (set.form === "text" || takesText) return set.form === "text" && takesText;
    if (!columns) return set.form === "matrix" && set.x.features === inputs;
    const { featureNames } = namesOf(set);
    if (featureNames) return columns.every((name) => featureNames.includes(name));
    return set.form === "matrix" && set.x.features === columns.length;
  }

  /** What it answers to all rows. */
  async answers(set: DataSet, run: Run): Promise<{ predicted: Label[] | Label[][]; probabilities?: Dense; x: Matrix }> {
    const { blend } = this.parts;
    const part = this.#decides as unknown as PredictingModel<unknown>;
    const x = await this.parts.prepare(set);
    const [model, input] = blend ? [blend.model, blend.input(set)] : [part, x];
    const predicted = (await model.predict(input, run)) as Label[] | Label[][];
    const probabilities = await model.predictProbabilities?.(input, run);
    return { predicted, x, ...(probabilities ? { probabilities } : {}) };
  }

  /** What is sent to the page. */
  summary(): ModelSummary {
    const { parts } = this;
    const { filters, planes } = parts;
    const report = filters?.report;
    const { about, tried, imageSize } = parts;
    return {
      kind: planes ? "linear" : ((filters as FilterModel).kind as ModelKind),
      origin: parts.origin,
      name: parts.name,
      classes: this.classes.map(String),
      multilabel: this.multilabel,
      features: this.#decides.features,
      inputs: parts.inputs,
      filters: filters?.bank.filters ?? 0,
      filtersPerClass: this.groups().map((own) => own.length),
      params: filters?.params ?? {},
      converged: report?.converged ?? true,
      notes: report?.notes ?? [],
      byteLength: this.bytes.byteLength,
      digest: digestOf(this.bytes),
      text: parts.takesText,
      ...(parts.patches ? { patches: parts.patches.summary } : {}),
      ...(about === undefined ? {} : { about }),
      ...(tried ? { tried } : {}),
      ...(imageSize ? { imageSize } : {}),
      ...(parts.blend ? { explained: parts.blend.explained } : {}),
      trainingRows: parts.trainingRows?.length ?? report?.rows ?? schemaOf(parts.whole)?.training?.rows ?? 0,
      steps: (report?.trainings ?? []).flatMap(({ label, rows, steps }) =>
        steps.map(({ iteration, moved, empty }) => ({
          ...(label === undefined ? {} : { label: String(label) }),
          iteration,
          moved,
          empty,
          rows,
        })),
      ),
      history: parts.history,
      ...(report?.seconds === undefined ? {} : { seconds: report.seconds }),
      ...(report?.backend === undefined ? {} : { backend: report.backend }),
      ...(report?.pruned === undefined ? {} : { pruned: report.pruned }),
    };
  }

  /** The filters of each class (for a probabilistic model: of the class most of its rows have), most rows first. */
  groups(): Uint32Array[] {
    const model = this.parts.filters;
    if (!model) return [];
    const count = Math.max(this.classes.length, 1);
    const groups: number[][] = Array.from({ length: count }, () => []);
    for (let filter = 0; filter < model.bank.filters; filter++) groups[this.#classOf(filter)].push(filter);
    const rows = Uint32Array.from({ length: model.bank.filters }, (_, filter) => model.filterRows(filter).length);
    return groups.map((filters) => Uint32Array.from(filters.sort((a, b) => rows[b] - rows[a] || a - b)));
  }

  /** The filters to show all at once, at most `most`. From now on explanations include their responses. */
  wall(most: number): FilterView[] {
    if (!this.parts.filters) return [];
    this.#wall = new WallFilters(this.filters.bank, this.groups(), most);
    return Array.from(this.#wall.filters, (filter) => this.view(filter));
  }

  /** A filter to look at. */
  view(filter: number): FilterView {
    const model = this.filters;
    const facts = { filter, shares: this.#sharesOf(filter), rows: model.filterRows(filter).length };
    return viewFilter(model.bank, filter, facts, this.#wordsOf(), this.parts.patches);
  }

  /** Rows of the data set that a filter was made from; empty where they are not known. */
  membersOf(filter: number): number[] {
    const { trainingRows } = this.parts;
    return trainingRows ? Array.from(this.filters.filterRows(filter), (row) => trainingRows[row]) : [];
  }

  /** Why a sample is decided as it is. */
  async explain(sample: Sample, backend: Backend): Promise<Explanation> {
    const began = performance.now();
    const names = this.featureNames;
    const set = await this.#setOf(sample);
    const run = { backend };
    const { filters, planes } = this.parts;
    const isTransform = filters instanceof TransformModel;
    const { predicted, probabilities, x } = isTransform
      ? { predicted: [], probabilities: undefined, x: await this.parts.prepare(set) }
      : await this.answers(set, run);
    const [answer] = predicted;
    const found = planes ? await planes.explain(x, 0, run) : undefined;
    const strong = filters && (await filters.explain(x, 0, run));
    const contributions = strong ? this.#decisive(set, strong) : (found?.contributions ?? []);
    const shown = contributions.slice(0, SHOWN_PARTS);
    const responses = this.#wall?.responses(x);
    const between = found && found.rivalLabel !== undefined ? [found.label, found.rivalLabel].map(String) : undefined;
    return {
      labels: answer === undefined ? [] : [answer].flat().map(String),
      ...(probabilities ? { probabilities: Float64Array.from(probabilities.values) } : {}),
      strongest: (strong?.filters ?? []).slice(0, SHOWN_FILTERS).map((one) => this.#strong(one)),
      isEmpty: strong ? strong.filters.length === 0 : false,
      ...(strong?.rival === undefined ? {} : { rival: this.view(strong.rival) }),
      ...(between ? { between: between as [string, string] } : strong ? this.#between(strong) : {}),
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
    if (!(this.parts.filters instanceof ClassifierModel)) return {};
    const { label, rivalLabel } = found as ClassExplanation;
    return rivalLabel === undefined ? {} : { between: [String(label), String(rivalLabel)] };
  }

  /** The parts of the decision by their size: of features, or of the pixels in whose windows patches were found. */
  #decisive(set: DataSet, found: BankExplanation): readonly Contribution[] {
    const { patches } = this.parts;
    if (!patches || set.form !== "matrix") return found.contributions;
    const { values } = toDense(set.x);
    return Array.from(patches.where(set.x, found) ?? [], (contribution, feature) => ({
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
    const set = await this.#setOf(sample);
    const found = await this.filters.explain(await this.parts.prepare(set), 0, { backend });
    if (found.filters.length === 0 || set.form !== "matrix") return null;
    const nameOf = (filter: number) => String(this.classes[this.#classOf(filter)] ?? `filter ${filter}`);
    const rival = found.rival === undefined ? undefined : nameOf(found.rival);
    // The strongest filter of a committee may be of another class than the one it gave.
    const chosen = "rivalLabel" in found ? String((found as ClassExplanation).label) : nameOf(found.filters[0].filter);
    return patches.view(set.x, found, { given: chosen, rival });
  }

  /** A sample as the filters take it. */
  async prepared(sample: Sample): Promise<Float64Array> {
    return Float64Array.from(toDense(await this.parts.prepare(await this.#setOf(sample))).values);
  }

  /** The strongest filter of a row and, if it is among the similar ones, the strongest of class `truth`. */
  async blame(
    x: Matrix,
    truth: number,
    backend: Backend,
  ): Promise<{ strongest?: StrongFilter; missed?: StrongFilter }> {
    if (!this.parts.filters) return {};
    const { filters } = await this.filters.explain(x, 0, { backend });
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
    const model = this.filters;
    if (model instanceof ClassifierModel) return model.filterClass[filter];
    if (model instanceof TransformModel) return 0;
    const shares = model.filterShares(filter);
    return shares.indexOf(Math.max(...shares));
  }

  #sharesOf(filter: number): FilterView["shares"] {
    const model = this.filters;
    const classes = this.classes.map(String);
    if (model instanceof TransformModel) return [];
    if (model instanceof ClassifierModel) return [{ label: classes[model.filterClass[filter]], share: 1 }];
    return Array.from(model.filterShares(filter), (share, c) => ({ label: classes[c], share }))
      .filter(({ share }) => share > 0)
      .sort((a, b) => b.share - a.share)
      .slice(0, 3);
  }

  /** A sample as a data set; refused where the model takes something else. */
  async #setOf(sample: Sample): Promise<DataSet> {
    const { takesText, inputs, columns } = this.parts;
    if (sample.form === "text" && !takesText) {
      throw new RanksimError("wrong-width", `the model takes ${inputs} numbers a row, found text`);
    }
    if (sample.form !== "text" && takesText)
      throw new RanksimError("wrong-width", "the model takes text, found numbers");
    return setOfSample(sample, inputs, this.columnNames ?? columns ?? []);
  }
}

/** The digest that the file states, at the head of its header. */
export function digestOf(bytes: Uint8Array): string {
  const head = new TextDecoder().decode(bytes.subarray(0, 256));
  return /"digest":"([0-9a-f]{64})"/.exec(head)?.[1] ?? "";
}
