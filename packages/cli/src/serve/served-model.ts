/** A model as a server sees it: what it takes, what it answers, and a queue in front of it. */

import {
  type Backend,
  BlendModel,
  ConformalModel,
  type Dense,
  type FilterBank,
  isClassifier,
  isTransformer,
  type Label,
  type Matrix,
  type Model,
  PipelineModel,
  type PredictingModel,
  RanksimError,
  type Report,
  type Run,
  type Schema,
  schemaOf,
  type TransformingModel,
  toDense,
} from "@ranksim/core";
import type { TableModel } from "@ranksim/data";
import { isMultilabel, stepsOf, tableModelOf, takesText, widthOf } from "@ranksim/learn";
import type { OpenedModel } from "../load-model.ts";
import { type Asker, Batcher } from "./batcher.ts";
import { badRequest } from "./http-error.ts";
import { joinRows, type Rows } from "./input.ts";
import type { Limits } from "./limits.ts";

/** What is asked of rows. */
export interface Wanted {
  readonly labels: boolean;
  readonly probabilities: boolean;
  readonly similarities: boolean;
}

/** What rows are given, in their order. */
export interface Answers {
  readonly labels: readonly (Label | readonly Label[])[];
  /** rows x classes. */
  readonly probabilities: Float64Array | undefined;
  /** rows x filters. */
  readonly similarities: Float64Array | undefined;
}

/** A loaded model that answers. */
export class ServedModel {
  readonly name: string;
  /** The beginning of the file's digest: another file, another version. */
  readonly version: string;
  readonly model: Model;
  /** What encodes tables, where the model takes them: each request by itself, so that a bad cell is refused to who sent it. */
  readonly encoder: TableModel | undefined;
  /** The model behind the encoder: what is searched. */
  readonly behind: Model;
  readonly takesText: boolean;
  /** Numbers in a row that is searched; 0 for text. */
  readonly features: number;
  readonly classes: readonly Label[];
  readonly isMultilabel: boolean;
  readonly canPredict: boolean;
  readonly hasProbabilities: boolean;
  readonly canTransform: boolean;
  /** Columns of `similarities`. */
  readonly outputWidth: number;
  readonly schema: Schema | undefined;
  /** Whether its filters are sparse: a dense row may then be far larger than the model. */
  readonly isSparse: boolean;
  /** Labels with the share of the training rows that had them; empty where the model does not know. */
  readonly trainingShares: readonly (readonly [label: Label, share: number])[];
  readonly batcher: Batcher;
  /** Its own, so that all it holds goes with it when another version takes its place. */
  readonly backend: Backend;
  /** The rows that the file keeps beside the model. */
  readonly kept: OpenedModel["kept"];

  constructor(
    name: string,
    version: string,
    model: Model,
    backend: Backend,
    limits: Limits,
    kept: OpenedModel["kept"] = undefined,
  ) {
    this.kept = kept;
    this.name = name;
    this.version = version;
    this.model = model;
    this.takesText = takesText(model);
    this.encoder = tableModelOf(model);
    this.behind = this.encoder ? withoutFirst(model) : model;
    const [first] = stepsOf(this.behind);
    const last = stepsOf(model).at(-1);
    this.features = this.takesText ? 0 : (this.encoder?.features ?? widthOf(model) ?? 0);
    this.isSparse = (first as { bank?: FilterBank }).bank?.form === "sparse";
    this.classes = isClassifier(model) ? model.classes : [];
    this.isMultilabel = isMultilabel(model);
    this.canPredict = isClassifier(model);
    this.hasProbabilities = isClassifier(model) && model.predictProbabilities !== undefined;
    this.canTransform = !this.canPredict && isTransformer(model);
    this.outputWidth = (last as { bank?: { filters: number } }).bank?.filters ?? 0;
    this.schema = schemaOf(model);
    this.trainingShares = sharesOf((last as { report?: Report }).report);
    this.backend = backend;
    this.batcher = new Batcher(limits, (parts, wanted) => this.#search(parts, wanted));
  }

  /** How many numbers answer a row. */
  answerWidth({ labels, probabilities, similarities }: Wanted): number {
    const c = this.classes.length;
    return (labels ? (this.isMultilabel ? c : 1) : 0) + (probabilities ? c : 0) + (similarities ? this.outputWidth : 0);
  }

  /** Answers for rows, searched together with those of others; dropped where there is nobody left to answer. */
  ask(rows: Rows, wanted: Wanted, asker?: Asker): Promise<Answers> {
    if (rows.form === "text" ? !this.takesText : this.takesText) {
      const [takes, found] = this.takesText ? ["texts", "rows of numbers"] : ["rows of numbers", "texts"];
      throw badRequest(`model ${this.name}: expected ${takes}, found ${found}`);
    }
    if ((wanted.labels || wanted.probabilities) && !this.canPredict) {
      throw badRequest(`model ${this.name}: a ${this.model.kind} does not predict; ask infer for its similarities`);
    }
    if (wanted.probabilities && !this.hasProbabilities) {
      throw badRequest(`model ${this.name}: a ${this.model.kind} has no probabilities`);
    }
    if (rows.rows === 0) return Promise.resolve({ labels: [], probabilities: undefined, similarities: undefined });
    return this.batcher.add(rows, wanted, asker);
  }

  /** One search each for labels, probabilities and similarities, as far as anyone asks. */
  async #search(parts: readonly Rows[], wanted: Wanted): Promise<Answers> {
    const x = joinRows(parts, this.features);
    const run: Run = { backend: this.backend };
    const predicting = this.behind as unknown as PredictingModel<Matrix | readonly string[]>;
    const labels = wanted.labels ? await predicting.predict(x, run) : [];
    const found = wanted.probabilities ? await predicting.predictProbabilities?.(x, run) : undefined;
    const transforming = this.behind as unknown as TransformingModel<Matrix | readonly string[]>;
    const similar = wanted.similarities ? toDense(await transforming.transform(x, run)) : undefined;
    return { labels, probabilities: doubles(found), similarities: doubles(similar) };
  }
}

/** The steps after the first: a model of their own. The server gives no sets, so that what a model of `--sets` holds is enough. */
function withoutFirst(whole: Model): Model {
  const model: Model = whole instanceof ConformalModel ? whole.model : whole;
  if (model instanceof BlendModel) {
    const [only, ...others] = model.steps;
    if (others.length === 0) return new BlendModel({ ...model, steps: [withoutFirst(only) as typeof only] });
    // Each part encodes the columns in its own way.
    throw new RanksimError(
      "unsupported",
      "serve: expected a model of tables with one encoder, found a blend; train with --preset balanced",
    );
  }
  const { names, steps } = model as PipelineModel;
  return steps.length === 2 ? steps[1] : new PipelineModel(names.slice(1), steps.slice(1));
}

function sharesOf(report: Report | undefined): (readonly [Label, number])[] {
  const rows = new Map<Label, number>();
  // The banks of a committee are trained on the same rows, so that shares are those of one.
  for (const { label, rows: own } of report?.trainings ?? []) {
    if (label !== undefined) rows.set(label, (rows.get(label) ?? 0) + own);
  }
  const all = [...rows.values()].reduce((sum, own) => sum + own, 0);
  return [...rows].map(([label, own]) => [label, own / all] as const);
}

const doubles = (x: Dense | undefined): Float64Array | undefined =>
  x && (x.values instanceof Float64Array ? x.values : Float64Array.from(x.values));
