/** Fits a transform and, for one test image of each class, finds the filters that answer most, with their activations. */

import { expandFilter, RankSimilarityTransform, type Run } from "@ranksim/core";
import { type Places, testRows, trainRows } from "../../runner/data.ts";
import type { Measured } from "../../runner/results.ts";
import type { FilterPictures, StrongestTask } from "../spec.ts";

/** Pictures of images and filters, class by class; `sameClass` is the share of the filters' training rows with the image's label. */
export async function findStrongest(places: Places, task: StrongestTask, run: Run): Promise<Partial<Measured>> {
  const train = trainRows(places);
  const model = await new RankSimilarityTransform(task.params).fit(train.x, undefined, run);
  const test = testRows(places);
  const labels = test.y as Uint8Array;
  const weights = new Float64Array(model.features);
  const pictures: FilterPictures[] = [];
  const ofOneClass: number[] = [];
  for (const label of [...new Set(labels)].sort((a, b) => a - b)) {
    // The first test image of the class: the published order is random.
    const row = labels.indexOf(label);
    const { filters } = await model.explain(test.x, row, run);
    for (const { rows } of filters.slice(0, task.filtersShown)) {
      const same = rows.filter((r) => (train.y as Uint8Array)[r] === label).length;
      if (rows.length > 0) ofOneClass.push(same / rows.length);
    }
    pictures.push({
      label: String(label),
      row,
      image: greys(test.x.slice(row, row + 1).values),
      filters: filters.slice(0, task.filtersShown).map(({ filter, similarity }) => {
        expandFilter(model.bank, filter, weights);
        return { weights: greys(weights), activation: similarity };
      }),
    });
  }
  const sameClass = ofOneClass.reduce((a, b) => a + b, 0) / ofOneClass.length;
  return { pictures, facts: { filters: model.report.filters, sameClass } };
}

/** Values stretched to 0..255, in base64. */
function greys(values: ArrayLike<number>): string {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < values.length; i++) {
    low = Math.min(low, values[i]);
    high = Math.max(high, values[i]);
  }
  const scale = high > low ? 255 / (high - low) : 0;
  return Buffer.from(Uint8Array.from(values, (value) => Math.round((value - low) * scale))).toString("base64");
}
