/** The score of a prediction: the share of rows that are exactly right. */

import { RanksimError } from "../errors.ts";
import {
  type EncodedSets,
  encodeSets,
  isLabelSets,
  type Label,
  type LabelSets,
  type Labels,
  refuseOtherType,
} from "../matrix/labels.ts";

/**
 * Accuracy, or for several labels per row the share of rows with exactly the right set. Labels that the model, with these
 * `classes`, has in another type are refused; others that it does not know are wrong.
 */
export function shareRight(
  predicted: readonly (Label | readonly Label[])[],
  y: Labels | LabelSets,
  classes: readonly Label[],
): number {
  const several = predicted.length > 0 && Array.isArray(predicted[0]);
  if (several !== isLabelSets(y) && predicted.length > 0) {
    throw new RanksimError(
      "bad-labels",
      `expected ${several ? "label sets" : "one label for each row"} to score against`,
    );
  }
  const sets = several ? encodeSets(y as LabelSets, predicted.length) : undefined;
  const truth = sets ? keysOf(sets) : (y as Labels);
  if (truth.length !== predicted.length) {
    throw new RanksimError(
      "bad-labels",
      `expected ${predicted.length} labels, one for each row, found ${truth.length}`,
    );
  }
  if (predicted.length === 0) throw new RanksimError("empty-input", "expected at least 1 row to score, found none");
  refuseOtherType(sets?.labels ?? new Set(Array.from(y as Labels)), new Set(classes), "the model has");
  let right = 0;
  for (let r = 0; r < predicted.length; r++) {
    const found = several ? JSON.stringify(predicted[r]) : predicted[r];
    if (found === truth[r]) right++;
  }
  return right / predicted.length;
}

/** Each set as text, which keeps numbers and strings apart: its labels are in order, as those of predictions are. */
function keysOf({ labels, present: { rows, offsets, indices } }: EncodedSets): string[] {
  return Array.from({ length: rows }, (_, r) =>
    JSON.stringify(Array.from(indices.subarray(offsets[r], offsets[r + 1]), (c) => labels[c])),
  );
}
