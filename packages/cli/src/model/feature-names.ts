/** What features are called: words of the model's own vocabulary, columns of the data, or their numbers. */

import type { Model } from "@ranksim/core";
import type { DataSet, ImageSize } from "@ranksim/data";
import { filterPart, vocabularyOf } from "./parts.ts";

/** Names the features that the model's filters see. */
export function featureNamer(model: Model, data: DataSet, size?: ImageSize): (feature: number) => string {
  const features = filterPart(model)?.part.features;
  const known = [vocabularyOf(model), data.form === "matrix" ? data.featureNames : undefined];
  const names = known.find((list) => list !== undefined && list.length === features);
  if (names) return (feature) => names[feature];
  if (size) return (feature) => `pixel ${feature % size.width}, ${Math.floor(feature / size.width)}`;
  return (feature) => `feature ${feature}`;
}
