/** What features are called: words of the model's own vocabulary, columns of the data, or their numbers. */

import { type Model, schemaOf } from "@ranksim/core";
import type { DataSet, ImageSize } from "@ranksim/data";
import { filterPart, tableModelOf, takesText, vocabularyOf } from "./parts.ts";
import { patchesOf, patchFeatureNames } from "./patch-view.ts";

/** Up to this many features without names, their numbers still say something. */
const FEW_FEATURES = 200;

/** Whether a list of features says something to people. */
export function hasTellingFeatures(model: Model, data: DataSet): boolean {
  const features = filterPart(model)?.part.features ?? 0;
  return features <= FEW_FEATURES || namesOf(model, data) !== undefined;
}

/** Names the features that the model's filters see. */
export function featureNamer(model: Model, data: DataSet, size?: ImageSize): (feature: number) => string {
  const names = namesOf(model, data);
  if (names) return (feature) => names[feature];
  if (size) return (feature) => `pixel ${feature % size.width}, ${Math.floor(feature / size.width)}`;
  return (feature) => `feature ${feature}`;
}

/** What one feature of the model's filters is called among people. */
export function featureWord(model: Model): string {
  if (takesText(model)) return "word";
  if (patchesOf(model)) return "patch";
  return schemaOf(model)?.columns ? "column" : "feature";
}

/** The words of the vectoriser, the features of a table, or the columns of training or of the data, where there is one for each feature. */
function namesOf(model: Model, data: DataSet): readonly string[] | undefined {
  const features = filterPart(model)?.part.features;
  const patches = patchesOf(model);
  if (patches && patches.pooledFeatures === features) return patchFeatureNames(patches);
  const known = [
    vocabularyOf(model),
    tableModelOf(model)?.featureNames,
    schemaOf(model)?.columns?.map(({ name }) => name),
    data.form === "matrix" ? data.featureNames : undefined,
  ];
  return known.find((list) => list !== undefined && list.length === features);
}
