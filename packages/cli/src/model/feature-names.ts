/** What features are called: words of the model's own vocabulary, columns of the data, pairs of them, filters, or their numbers. */

import { type Model, schemaOf } from "@ranksim/core";
import { type FeatureNames, namesAfter } from "@ranksim/core/internal";
import type { DataSet, ImageSize } from "@ranksim/data";
import { stepsOf, takesText } from "@ranksim/learn";
import { patchesOf } from "./patch-view.ts";

/** Up to this many features without names, their numbers still say something. */
const FEW_FEATURES = 200;

/** A part with the model that it is a step of. */
export interface PlacedPart {
  readonly model: Model;
  readonly part: { readonly features: number };
  readonly step: number;
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
function featuresOf({ model, part, step }: PlacedPart, whole: Model, data?: DataSet): FeatureNames | undefined {
  const names =
    schemaOf(whole)?.columns?.map(({ name }) => name) ?? (data?.form === "matrix" ? data.featureNames : undefined);
  return namesAfter(stepsOf(model).slice(0, step), names, part.features);
}
