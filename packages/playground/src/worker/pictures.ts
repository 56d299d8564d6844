/** Filters as something to look at: one byte a feature for pictures, and the features that weigh most for words. */

import { expandFilter, type FilterBank } from "@ranksim/core";
import type { FilterWords } from "@ranksim/learn";
import type { FilterView } from "../protocol.ts";
import type { PatchLook } from "./patch-look.ts";

/** Wider filters have no picture: rows of text are no images, and no screen shows more pixels as a thumbnail. */
const MOST_PICTURED = { dense: 65_536, sparse: 4096 };

/** Features listed for each filter. */
const TOP_FEATURES = 12;

/** What is known of a filter besides its weights. */
interface FilterFacts {
  readonly filter: number;
  readonly shares: FilterView["shares"];
  readonly rows: number;
}

/**
 * A view of filter `at` of a bank. `words` tell what sets it apart, where features have names: the heaviest words of all
 * texts are "the" and "of", in every filter. `patches` draw it where its features are patches.
 */
export function viewFilter(
  bank: FilterBank,
  at: number,
  facts: FilterFacts,
  words: FilterWords | undefined,
  patches?: PatchLook,
): FilterView {
  const weights = new Float64Array(bank.features);
  expandFilter(bank, at, weights);
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const weight of weights) {
    if (weight < low) low = weight;
    if (weight > high) high = weight;
  }
  const span = high > low ? high - low : 1;
  const view = {
    ...facts,
    ...(patches ? { drawn: patches.draw(weights) } : {}),
    top: words
      ? words.ofFilter(at, TOP_FEATURES).map(({ feature, text }) => ({
          feature,
          weight: (weights[feature] - low) / span,
          name: text,
        }))
      : heaviest(bank, at, weights).map((feature) => ({ feature, weight: (weights[feature] - low) / span })),
  };
  if (bank.features > MOST_PICTURED[bank.form]) return view;
  return { ...view, picture: Uint8Array.from(weights, (weight) => Math.round((255 * (weight - low)) / span)) };
}

/** The features of the largest weights, largest first, equal weights by lower feature. */
function heaviest(bank: FilterBank, at: number, weights: Float64Array): number[] {
  const candidates =
    bank.form === "sparse" ? bank.indices.subarray(bank.offsets[at], bank.offsets[at + 1]) : weights.keys();
  const top: number[] = [];
  for (const feature of candidates) {
    if (top.length === TOP_FEATURES && weights[feature] <= weights[top[TOP_FEATURES - 1]]) continue;
    let j = top.length;
    while (j > 0 && weights[top[j - 1]] < weights[feature]) j--;
    top.splice(j, 0, feature);
    if (top.length > TOP_FEATURES) top.pop();
  }
  return top;
}
