/** The score of a prediction: the share of rows that are exactly right. */

import { RanksimError } from "../errors.ts";
import { encodeSets, isLabelSets, type Label, type LabelSets, type Labels } from "../matrix/labels.ts";

/** Accuracy, or for several labels per row the share of rows with exactly the right set. */
export function shareRight(predicted: readonly (Label | readonly Label[])[], y: Labels | LabelSets): number {
  const several = predicted.length > 0 && Array.isArray(predicted[0]);
  if (several !== isLabelSets(y) && predicted.length > 0) {
    throw new RanksimError(
      "bad-labels",
      `expected ${several ? "label sets" : "one label for each row"} to score against`,
    );
  }
  const truth = several ? setKeys(y as LabelSets, predicted.length) : (y as Labels);
  if (truth.length !== predicted.length) {
    throw new RanksimError(
      "bad-labels",
      `expected ${predicted.length} labels, one for each row, found ${truth.length}`,
    );
  }
  if (predicted.length === 0) throw new RanksimError("empty-input", "expected at least 1 row to score, found none");
  let right = 0;
  for (let r = 0; r < predicted.length; r++) {
    const found = several ? keyOf(predicted[r] as readonly Label[]) : predicted[r];
    if (found === truth[r]) right++;
  }
  return right / predicted.length;
}

function setKeys(y: LabelSets, rows: number): string[] {
  const { labels, present } = encodeSets(y, rows);
  return Array.from({ length: rows }, (_, r) =>
    keyOf(Array.from(present.indices.subarray(present.offsets[r], present.offsets[r + 1]), (c) => labels[c])),
  );
}

/** A set as text; numbers and strings stay apart. */
const keyOf = (set: readonly Label[]): string => JSON.stringify([...set].sort(byText));

const byText = (a: Label, b: Label): number => {
  const p = JSON.stringify(a);
  const q = JSON.stringify(b);
  return p < q ? -1 : p > q ? 1 : 0;
};
