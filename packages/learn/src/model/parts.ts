/**
 * What a model is made of. A pipeline is seen as its steps; the commands ask here for the part that has filters, for the
 * part that answers, and for the names of features, and need not know how models are put together.
 */

import {
  BlendModel,
  ClassifierModel,
  ConformalModel,
  type GrowingModel,
  isClassifier,
  isTransformer,
  isUpdatable,
  type Label,
  LinearModel,
  type Model,
  PatchModel,
  PipelineModel,
  type PredictingModel,
  ProbabilisticModel,
  RanksimError,
  type TransformingModel,
  TransformModel,
  UnionModel,
} from "@ranksim/core";
import { CountModel, HashingModel, TableModel, TfidfModel } from "@ranksim/data";

/** A model with filters of its own. */
export type FilterModel = ClassifierModel | ProbabilisticModel | TransformModel;

/** The parts of a model, in the order data goes through them. A blend, whose parts all take the same data, is one. */
export function stepsOf(model: Model): readonly Model[] {
  if (model instanceof ConformalModel) return stepsOf(model.model);
  return model instanceof PipelineModel ? model.steps : [model];
}

/** The part that data comes to first; those of a blend, and of a union that takes no numbers, take the same. */
function firstPart(model: Model): Model {
  if (model instanceof ConformalModel) return firstPart(model.model);
  const isSame = model instanceof BlendModel || (model instanceof UnionModel && !model.hasRows);
  return isSame || model instanceof PipelineModel ? firstPart(model.steps[0]) : model;
}

/** The first part that has filters, with its place among the steps. */
export function filterPart(model: Model): { readonly part: FilterModel; readonly step: number } | undefined {
  const steps = stepsOf(model);
  const step = steps.findIndex(isFilterModel);
  return step < 0 ? undefined : { part: steps[step] as FilterModel, step };
}

/** The part that answers are explained by, filters or planes, with its place among the steps of its model. */
export interface DecidingPart {
  /** The model itself; of a blend the one that counts most. */
  readonly model: Model;
  readonly part: FilterModel | LinearModel;
  readonly step: number;
  /** Of a blend: what its model is called, and how much it counts. */
  readonly member?: { readonly name: string; readonly weight: number };
}

/** The part that answers are explained by: planes where these come last, else filters. */
export function decidingPart(model: Model): DecidingPart | undefined {
  if (model instanceof ConformalModel) return decidingPart(model.model);
  if (model instanceof BlendModel) {
    const { names, steps, weights } = model;
    const heaviest = weights.indexOf(Math.max(...weights));
    const found = decidingPart(steps[heaviest]);
    return found && { ...found, member: { name: names[heaviest], weight: weights[heaviest] } };
  }
  const steps = stepsOf(model);
  const last = steps[steps.length - 1];
  if (last instanceof LinearModel) return { model, part: last, step: steps.length - 1 };
  const found = filterPart(model);
  return found && { model, ...found };
}

export function isFilterModel(model: Model): model is FilterModel {
  return model instanceof ClassifierModel || model instanceof ProbabilisticModel || model instanceof TransformModel;
}

/** Bytes that the steps of a model make of so many rows. Only patches are counted: what they make is many times as large as the rows. */
export function madeBytes(model: Model, rows: number): number {
  const patches = stepsOf(model).find((step) => step instanceof PatchModel);
  return patches ? rows * patches.pooledBytes : 0;
}

/** The model as one that predicts; refused, with what it can do, if it does not. */
export function asPredicting<X>(model: Model): PredictingModel<X> {
  if (isClassifier(model)) return model as unknown as PredictingModel<X>;
  throw new RanksimError("unsupported", `a ${model.kind} model does not predict; use ranksim transform`);
}

/** The model as one that transforms; refused if it does not. */
export function asTransforming<X>(model: Model): TransformingModel<X> {
  if (isTransformer(model)) return model as unknown as TransformingModel<X>;
  throw new RanksimError("unsupported", `a ${model.kind} model does not transform; use ranksim predict`);
}

/** The model as one that takes in new rows; refused if it does not. */
export function asGrowing<X>(model: Model): GrowingModel<X> {
  if (isUpdatable(model)) return model as unknown as GrowingModel<X>;
  throw new RanksimError("unsupported", `a ${model.kind} model takes in no new rows; train it again`);
}

/** The model as one that answers with sets and knows what is novel; refused, with the cure, if it does not. */
export function asConformal(model: Model, flag: string): ConformalModel<never> {
  if (model instanceof ConformalModel) return model as ConformalModel<never>;
  throw new RanksimError("unsupported", `${flag}: the model was trained without --sets, which holds out rows for it`);
}

/** Whether rows have several labels. */
export const isMultilabel = (model: Model): boolean => {
  const last = stepsOf(model).at(-1);
  return (last instanceof ProbabilisticModel || last instanceof LinearModel) && last.multilabel;
};

/** The class number of each filter: its own, or the label most of its rows have; undefined where filters have none. */
export function filterClasses(part: FilterModel): Uint32Array | undefined {
  if (part instanceof ClassifierModel) return part.filterClass;
  if (part instanceof TransformModel) return undefined;
  const c = part.classes.length;
  return Uint32Array.from({ length: part.bank.filters }, (_, f) => {
    const shares = part.filterShares(f);
    let best = 0;
    for (let o = 1; o < c; o++) if (shares[o] > shares[best]) best = o;
    return best;
  });
}

/** The names of the classes of a part's filters. */
export const classesOf = (part: FilterModel): readonly Label[] => (part instanceof TransformModel ? [] : part.classes);

/** Whether the model takes text: its first step is a vectoriser. */
export const takesText = (model: Model): boolean => isVectorizer(firstPart(model));

/** The encoder of tables that the model begins with, if it does. */
export function tableModelOf(model: Model): TableModel | undefined {
  const first = firstPart(model);
  return first instanceof TableModel ? first : undefined;
}

/** Columns of numbers that a row must have; undefined for text. */
export function widthOf(model: Model): number | undefined {
  if (takesText(model)) return undefined;
  return tableModelOf(model)?.columns.length ?? (firstPart(model) as { features?: number }).features;
}

/** The words of the model's vectoriser, where it keeps them. */
export function vocabularyOf(model: Model): readonly string[] | undefined {
  const [first] = stepsOf(model);
  return first instanceof CountModel || first instanceof TfidfModel ? first.featureNames : undefined;
}

const isVectorizer = (model: Model): boolean =>
  model instanceof CountModel || model instanceof TfidfModel || model instanceof HashingModel;
