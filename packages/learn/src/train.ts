/** From data to a model in one call, by the recipe that suits the data: what the command, the page and programs train by. */

import {
  type Checkpoint,
  type Classifier,
  type Estimator,
  type Label,
  type Labels,
  type MatrixLike,
  type Model,
  PatchTransform,
  Pipeline,
  type Run,
  runOf,
  type Schema,
  withSchema,
} from "@ranksim/core";
import { partOfRun } from "@ranksim/core/internal";
import {
  type AnyRows,
  type DataSet,
  dataBlocks,
  describeData,
  hashedInPassing,
  hashesOf,
  type ImageSize,
  isInMemory,
  type MatrixData,
  pickRows,
  type ReadOptions,
  type RowLabels,
  type TableLike,
  type TableRecord,
} from "@ranksim/data";
import { type Choice, type ChooseOptions, choose } from "./choose/choose.ts";
import { ConformalClassifier } from "./conformal.ts";
import { type Baseline, baselinesOf, refuseSeveral } from "./judge/baselines.ts";
import { foldFor, partOf, type SplitColumn } from "./judge/hold-out.ts";
import { type Judged, judge } from "./judge/judge.ts";
import { inputFor } from "./model/passage.ts";
import { dataOf, type RecordOptions, type TrainingData } from "./plan/given.ts";
import { atImageSize, type ChosenSize, chooseImageSize } from "./plan/image-size.ts";
import { takesOf } from "./plan/kind.ts";
import { type ColumnOptions, keptOf, type Prepared, prepare, type View } from "./plan/prepare.ts";
import { type Recipe, recipeFor, type Trial, trialsFor } from "./plan/recipe.ts";
import type { RecipeOptions } from "./plan/task.ts";
import type { Fold } from "./select/split.ts";

/** How a plan is made. */
export interface PlanOptions extends RecipeOptions, ColumnOptions, RecordOptions {
  /** What decides the class: the largest probability, or the largest in relation to the share of the class. */
  readonly decide?: ChooseOptions["decide"];
}

/** How `train` chooses, what it judges by, and what the model remembers. */
export interface TrainOptions extends PlanOptions {
  /** The options by which the data was read; the model remembers those that matter for further rows. */
  readonly reading?: ReadOptions;
  /** Share of the rows that is held out of training; the model is judged by it. */
  readonly testShare?: number;
  /** How these rows are chosen; default: at random. */
  readonly split?: SplitColumn;
  /** Whether simple methods are judged by the same rows. */
  readonly baselines?: boolean;
  /** How much each row counts. */
  readonly weights?: Float64Array;
  /** Whether a tenth of the rows is held out so that the model can answer with sets of classes. */
  readonly sets?: boolean;
  /** Whether the model keeps hashes by which rows seen in training are recognised (default true). */
  readonly keepsRows?: boolean;
  readonly around?: AroundFit;
}

/** What is trained, on what. */
export interface FitFacts {
  readonly estimator: Estimator<never, Model>;
  /** The rows that are trained on. */
  readonly data: AnyRows;
  /** What the model will remember of them; before the fit only where the data was to be known. */
  readonly schema?: Schema;
  readonly weights?: Float64Array;
}

/** What goes on around the fit: checkpoints, and agreement of processes that train together. */
export interface AroundFit {
  /** Whether the data has to be known before the fit. Rows that are read are then read once for it; else they are hashed as they pass by. */
  readonly knowsData: boolean;
  before(facts: FitFacts): Promise<{ readonly checkpoint?: Checkpoint }>;
  after(facts: FitFacts): Promise<void>;
}

/** What a model trained on `D` takes. */
type Taken<D> = D extends { readonly text: unknown }
  ? readonly string[]
  : D extends { readonly table: unknown } | readonly TableRecord[] | Blob
    ? TableLike
    : MatrixLike;

/** Scores on the rows that were held out. */
export interface HeldOut extends Judged {
  readonly baselines?: readonly Baseline[];
}

/** What a model gives a row that was trained on labels `Y`. */
type GivenBy<Y> = Y extends readonly (readonly (infer L)[])[]
  ? NamedBy<L>[]
  : Y extends ArrayLike<infer L>
    ? NamedBy<L>
    : Label;
/** Labels are named by strings or numbers, true and false by their words. */
type NamedBy<L> = Extract<L, Label> | (true extends L ? "true" : never) | (false extends L ? "false" : never);

/** What is trained on data: a classifier where it is known to have labels. */
type TrainedOn<D> = D extends { readonly y: infer Y extends RowLabels }
  ? Classifier<GivenBy<Y>, Taken<D>>
  : D extends readonly TableRecord[] | Blob
    ? Classifier<Label, Taken<D>>
    : Model;

/** Options that say which column of records holds the labels. */
type Labelled<K> = TrainOptions & Run & { readonly label: K };

/** What a model that was trained on records takes: further ones, one by itself too, which need no label. */
type RecordsLike<R> = TableLike | Partial<R> | readonly Partial<R>[];

/** A trained model and the recipe it was made by. Data with labels gives a classifier. */
export interface Trained<D extends TrainingData = DataSet, M extends Model = TrainedOn<D>> {
  readonly model: M;
  /** What was chosen, with all that was tried. */
  readonly recipe: Choice["recipe"];
  /** What the model remembers of its data. */
  readonly schema: Schema;
  /** The rows that were trained on. */
  readonly data: AnyRows;
  readonly heldOut?: HeldOut;
  /** Wall-clock seconds of the fit. */
  readonly seconds: number;
}

/** What is to be trained: the recipes that may be tried, and the rows as the first of them takes them. */
export interface TrainingPlan extends Prepared, View {
  /** Best first where nothing is tried; else in the order in which they stand. */
  readonly recipe: Recipe;
  readonly trials: readonly Trial[];
}

/** Plans without training. */
export async function plan(
  given: TrainingData,
  options: PlanOptions & Pick<Run, "signal"> = {},
): Promise<TrainingPlan> {
  const prepared = await prepare(await dataOf(given, options), options);
  const trials = trialsFor(prepared, options);
  const [recipe] = trials;
  const { data, columns } = recipe;
  return { ...prepared, data, ...(columns ? { columns } : {}), recipe, trials };
}

/** Bytes that a recipe makes of all rows in training: those of pooled patches, where rows are images. */
export function trainingBytes(data: DataSet, options: PlanOptions = {}): number {
  if (data.form !== "matrix" || data.imageSize === undefined || options.table === true) return 0;
  const { estimator } = recipeFor(data, options);
  const [first] = estimator instanceof Pipeline ? estimator.estimators : [];
  return first instanceof PatchTransform ? data.x.rows * first.trainingBytes(data.x.features) : 0;
}

/**
 * Trains what suits the data: patches for images, weighted words for text, thresholds for several labels, and so on. Rows of
 * numbers whose columns have units of their own are encoded as a table. Images that were
 * read in several sizes (`readData(folder, { sizes: IMAGE_SIZES })`) are trained on in the size that is best on held-out images.
 *
 * ```ts
 * const { model, recipe } = await train(records, { label: "species" }); // or { x, y }, { text, y }, a file
 * console.log(recipe.about, await model.predict(others));
 * ```
 */
export function train<R extends object, K extends keyof R & string>(
  records: readonly R[],
  options: Labelled<K> & { readonly text: keyof R & string },
): Promise<Trained<DataSet, Classifier<GivenBy<readonly R[K][]>, readonly string[]>>>;
export function train<R extends object, K extends keyof R & string>(
  records: readonly R[],
  options: Labelled<K>,
): Promise<Trained<DataSet, Classifier<GivenBy<readonly R[K][]>, RecordsLike<R>>>>;
export function train<D extends TrainingData>(given: D, options?: TrainOptions & Run): Promise<Trained<D>>;
export async function train(given: TrainingData, options: TrainOptions & Run = {}): Promise<{ model: Model }> {
  return trainPrepared(await prepare(await dataOf(given, options), options), options);
}

/** The same for rows that `plan` has looked at already. */
export async function trainPrepared<D extends TrainingData>(
  { views }: Prepared,
  options: TrainOptions & Run = {},
): Promise<Trained<D>> {
  const run = runOf(options);
  const { seed = 0, testShare, weights, baselines, split } = options;
  const [{ data }] = views;
  if (testShare !== undefined && baselines) refuseSeveral(data.y);
  const fold = testShare === undefined ? undefined : foldFor(data.y, testShare, seed, split);
  const { at, ...sized } = await sizeFor(fold ? await pickRows(data, fold.train) : data, options, run);
  const known = await Promise.all(
    views.map(async (view) => ({ ...view, data: at(fold ? await pickRows(view.data, fold.train) : view.data) })),
  );
  const own = fold && weights ? Float64Array.from(fold.train, (r) => weights[r]) : weights;
  const choosing = {
    ...options,
    ...(own ? { weights: own } : {}),
    ...(fold ? { split: partOf(split, fold.train) } : {}),
  };
  const { trial, recipe: found } = await choose(trialsFor({ views: known }, options), choosing, partOfRun(run, 0, 0.4));
  const recipe = withSize(found, sized.about);
  const began = performance.now();
  const until = testShare === undefined ? 1 : 0.9;
  const fitted = await fit(recipe, trial.data, own, sized, options, fittingPart(run, until));
  const seconds = (performance.now() - began) / 1000;
  const heldOut = fold && (await judgedApart());
  const { preset, about, tried } = recipe;
  const schema: Schema = {
    ...fitted.schema,
    ...(heldOut ? { heldOut: storedScores(heldOut) } : {}),
    ...(preset ? { recipe: { preset, about, ...(tried ? { tried } : {}) } } : {}),
  };
  const model = withSchema(fitted.model, schema) as TrainedOn<D>;
  return { model, recipe, schema, data: trial.data, ...(heldOut ? { heldOut } : {}), seconds };

  async function judgedApart(): Promise<HeldOut> {
    const view = views.find(({ data }) => takesOf(data) === recipe.takes) as View;
    const test = at(await pickRows(view.data, (fold as Fold).test));
    return judged(fitted.model, trial.data, test, options, partOfRun(run, 0.9, 1));
  }
}

/** The part of the run in which the recipe that was chosen is fitted, with the checkpoint of the whole. */
function fittingPart(run: Run, until: number): Run {
  const part = partOfRun(run, 0.4, until);
  return run.checkpoint ? { ...part, checkpoint: run.checkpoint } : part;
}

/** Fits, with a schema of the rows, which is made before where something depends on it. */
async function fit(
  { takes, estimator, columns }: Recipe,
  data: AnyRows,
  weights: Float64Array | undefined,
  { resize }: { readonly resize?: ImageSize },
  { reading, keepsRows, sets, seed = 0, around }: TrainOptions,
  run: Run,
): Promise<{ model: Model; schema: Schema }> {
  const options = { ...reading, ...(resize ? { resize } : {}) };
  const kept = columns && keptOf(columns);
  const described = { options, rows: keepsRows !== false, ...(kept ? { columns: kept } : {}) };
  const describe = async (hashes?: Uint32Array) =>
    describeData(data, described, hashes ?? (await hashesOf(data, kept)));
  const passes = data.form === "matrix" && !isInMemory(data) && !around?.knowsData;
  const passing = passes ? hashedInPassing(data.x) : undefined;
  const before = passing ? undefined : await describe();
  const rows: AnyRows = passing && data.form === "matrix" ? { ...data, x: passing.x } : data;
  const facts = { estimator, data, ...(weights ? { weights } : {}) };
  const { checkpoint } = (await around?.before({ ...facts, ...(before ? { schema: before } : {}) })) ?? {};
  const fitting = { ...run, ...(checkpoint ? { checkpoint } : {}), ...(weights ? { weights } : {}) };
  const model = sets
    ? await fitSets(new ConformalClassifier<unknown>(estimator as never, { seed }), takes, rows, fitting)
    : await (estimator as unknown as FittingRows).fit(rowsOf(rows), rows.y, fitting);
  await checkpoint?.settled?.();
  const schema = before ?? (await describe(await passing?.hashes()));
  await around?.after({ ...facts, schema });
  return { model, schema };
}

interface FittingRows {
  fit(x: unknown, y: unknown, run: object): Promise<Model>;
}

const rowsOf = (data: AnyRows): unknown =>
  data.form === "matrix" ? data.x : data.form === "text" ? data.text : data.table;

/** Some rows are held out, and say how well the model knows rows like them. */
async function fitSets(
  conformal: ConformalClassifier<unknown>,
  takes: Recipe["takes"],
  data: AnyRows,
  { weights, ...run }: Run & { readonly weights?: Float64Array },
): Promise<Model> {
  const fold = conformal.divide(data.y as Labels, (data.y ?? []).length);
  const [train, apart] = [await pickRows(data, fold.train), await pickRows(data, fold.test)];
  async function* heldOut() {
    for await (const block of dataBlocks(apart)) yield { x: inputFor(takes, block) as unknown, y: block.y as Labels };
  }
  const own = weights ? { weights: Float64Array.from(fold.train, (r) => weights[r]) } : {};
  return conformal.fitDivided({ x: rowsOf(train), y: train.y as Labels }, heldOut(), { ...run, ...own });
}

async function judged(
  model: Model,
  train: AnyRows,
  test: AnyRows,
  { baselines }: TrainOptions,
  run: Run,
): Promise<HeldOut> {
  const found = await judge(model, test, run);
  return baselines ? { ...found, baselines: await baselinesOf(model, train, test, run) } : found;
}

const storedScores = ({ rows, judgement: { report } }: HeldOut): NonNullable<Schema["heldOut"]> => ({
  rows,
  scores: { accuracy: report.accuracy, macroF1: report.macro.f1 },
});

/** The size for images that were read in several, which the model remembers, and what to say of it. The paper's method takes the largest. */
async function sizeFor(
  data: AnyRows,
  { preset, estimator, seed = 0 }: TrainOptions,
  { backend, signal }: Run,
): Promise<{ at(some: AnyRows): AnyRows; resize?: ImageSize; about?: string }> {
  if (data.form !== "matrix" || !data.scaled || !isInMemory(data)) return { at: (some) => some };
  const at = (size: ImageSize) => (some: AnyRows) => atImageSize(some as MatrixData, size);
  if (preset === "paper" || estimator) {
    const largest = data.imageSize as ImageSize;
    return { at: at(largest), resize: largest };
  }
  const quiet = { ...(backend ? { backend } : {}), ...(signal ? { signal } : {}) };
  const { imageSize, compared } = (await chooseImageSize(data, { seed, ...quiet })) as ChosenSize;
  const { from } = data.scaled;
  const scores = compared?.map((one) => `${one.imageSize.width} x ${one.imageSize.height} ${one.accuracy.toFixed(3)}`);
  const why = scores
    ? `accuracy on held-out images: ${scores.join(", ")}`
    : "sizes not compared: too few labelled images";
  const about = `images of ${from.width} x ${from.height} made ${imageSize.width} x ${imageSize.height} (${why})`;
  return { at: at(imageSize), resize: imageSize, about };
}

const withSize = (recipe: Choice["recipe"], size: string | undefined): Choice["recipe"] =>
  size === undefined ? recipe : { ...recipe, about: `${recipe.about}; ${size}` };
