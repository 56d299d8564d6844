/** What features are called: words of the model's own vocabulary, columns of the data, pairs of them, filters, or their numbers. */

import {
  type Model,
  PairModel,
  PatchModel,
  PipelineModel,
  RowScalerModel,
  ScalerModel,
  schemaOf,
  UnionModel,
} from "@ranksim/core";
import { CountModel, type DataSet, type ImageSize, TableModel, TfidfModel } from "@ranksim/data";
import { isFilterModel, stepsOf, takesText } from "@ranksim/learn";
import { patchesOf, patchFeatureNames } from "./patch-view.ts";

/** Up to this many features without names, their numbers still say something. */
const FEW_FEATURES = 200;

/** A part with the model that it is a step of. */
export interface PlacedPart {
  readonly model: Model;
  readonly part: { readonly features: number };
  readonly step: number;
}

/** What is known of the features of a step. */
interface Features {
  readonly count: number;
  nameOf(feature: number): string;
  /** The feature of the encoder of columns that it is; undefined where it is made of several, or of none. */
  encodedOf(feature: number): number | undefined;
}

/** Whether a list of features says something to people. */
export function hasTellingFeatures(placed: PlacedPart, whole: Model, data: DataSet): boolean {
  return placed.part.features <= FEW_FEATURES || featuresOf(placed, whole, data) !== undefined;
}

/** Names the features that a part of the model is given; undefined where they have no names. */
export function knownNamer(
  placed: PlacedPart,
  whole: Model,
  data?: DataSet,
): ((feature: number) => string) | undefined {
  return featuresOf(placed, whole, data)?.nameOf;
}

/** The same with numbers in the place of names where there are none. */
export function featureNamer(
  placed: PlacedPart,
  whole: Model,
  data?: DataSet,
  size?: ImageSize,
): (feature: number) => string {
  const known = knownNamer(placed, whole, data);
  if (known) return known;
  if (size) return (feature) => `pixel ${feature % size.width}, ${Math.floor(feature / size.width)}`;
  return (feature) => `feature ${feature}`;
}

/** The feature of the encoder of columns that a feature of the part is, where it is one. */
export function encodedFeature(placed: PlacedPart, whole: Model): (feature: number) => number | undefined {
  return featuresOf(placed, whole)?.encodedOf ?? (() => undefined);
}

/** What one feature is called among people. */
export function featureWord(model: Model): string {
  if (takesText(model)) return "word";
  if (patchesOf(model)) return "patch";
  return schemaOf(model)?.columns ? "column" : "feature";
}

/** The features of a part, by what the steps before it make of the columns of training or of the data; undefined where they have no names. */
function featuresOf({ model, part, step }: PlacedPart, whole: Model, data?: DataSet): Features | undefined {
  const columns = schemaOf(whole)?.columns?.map(({ name }) => name);
  const names = columns ?? (data?.form === "matrix" ? data.featureNames : undefined);
  let found = names && listed(names);
  for (const one of stepsOf(model).slice(0, step)) found = madeBy(one, found);
  return found?.count === part.features ? found : undefined;
}

const NONE = () => undefined;

const listed = (names: readonly string[]): Features => ({
  count: names.length,
  nameOf: (feature) => names[feature],
  encodedOf: NONE,
});

/** What a step makes of features. */
function madeBy(step: Model, given: Features | undefined): Features | undefined {
  if (step instanceof TableModel) return { ...listed(step.featureNames), encodedOf: (feature) => feature };
  if (step instanceof CountModel || step instanceof TfidfModel) return listed(step.featureNames);
  if (step instanceof PatchModel) return listed(patchFeatureNames(step));
  if (step instanceof ScalerModel || step instanceof RowScalerModel) return given;
  if (step instanceof PipelineModel)
    return step.steps.reduce<Features | undefined>((made, one) => madeBy(one, made), given);
  if (step instanceof PairModel) return given && pairsOf(step, given);
  if (step instanceof UnionModel) {
    const parts = step.steps.map((one) => madeBy(one, given));
    return sideBySide(step.hasRows ? [given, ...parts] : parts);
  }
  if (!isFilterModel(step)) return undefined;
  return { count: step.bank.filters, nameOf: (filter) => `likeness to filter ${filter}`, encodedOf: NONE };
}

function pairsOf({ features: n, pairs }: PairModel, { nameOf, encodedOf }: Features): Features {
  return {
    count: n + pairs.length,
    nameOf: (feature) => {
      if (feature < n) return nameOf(feature);
      const pair = pairs[feature - n];
      return `${nameOf(Math.floor(pair / n))} and ${nameOf(pair % n)}`;
    },
    encodedOf: (feature) => (feature < n ? encodedOf(feature) : undefined),
  };
}

function sideBySide(parts: readonly (Features | undefined)[]): Features | undefined {
  const known = parts.filter((part) => part !== undefined);
  if (known.length < parts.length) return undefined;
  const of = <T>(feature: number, ask: (part: Features, own: number) => T): T => {
    let own = feature;
    const part = known.find(({ count }) => {
      if (own < count) return true;
      own -= count;
      return false;
    });
    return ask(part as Features, own);
  };
  return {
    count: known.reduce((sum, { count }) => sum + count, 0),
    nameOf: (feature) => of(feature, (part, own) => part.nameOf(own)),
    encodedOf: (feature) => of(feature, (part, own) => part.encodedOf(own)),
  };
}
