/** Rows held out of training: at random, by groups that must not be on both sides, or by time, the latest rows. */

import { type Labels, RanksimError } from "@ranksim/core";
import type { AnyRows } from "@ranksim/data";
import { type Fold, groupFolds, trainTestRows } from "../select/split.ts";
import { isSets } from "./labels.ts";

/** How rows are split: by the group of each, or by its moment. */
export interface SplitColumn {
  readonly groups?: readonly string[];
  readonly times?: Float64Array;
}

/** Which rows are trained on, and which are held out: about a share of all. */
export function foldFor(labels: AnyRows["y"], share: number, seed: number, split: SplitColumn = {}): Fold {
  const fold = dividedBy(labels, share, seed, split);
  if (fold.train.length > 0 && fold.test.length > 0) return fold;
  throw new RanksimError(
    "empty-input",
    `expected rows on both sides of the split, found ${fold.train.length} and ${fold.test.length}`,
  );
}

/** What is known of some of the rows. */
export function partOf({ groups, times }: SplitColumn = {}, rows: Uint32Array): SplitColumn {
  return {
    ...(groups ? { groups: Array.from(rows, (r) => groups[r]) } : {}),
    ...(times ? { times: Float64Array.from(rows, (r) => times[r]) } : {}),
  };
}

function dividedBy(labels: AnyRows["y"], share: number, seed: number, split: SplitColumn): Fold {
  if (labels === undefined)
    throw new RanksimError("bad-labels", { parameter: "testShare", expected: "labels", found: "none" });
  if (split.times) return latest(split.times, share);
  if (split.groups) {
    // The first of as many folds as the share is contained in the whole.
    return groupFolds(split.groups, { folds: Math.max(2, Math.round(1 / share)), seed })[0];
  }
  return trainTestRows(labels as Labels, { testShare: share, seed, stratify: !isSets(labels) });
}

/** The latest rows to judge by, about this share of all: rows of one moment stay on one side. */
function latest(times: Float64Array, share: number): Fold {
  const sorted = times.slice().sort();
  const wanted = times.length * (1 - share);
  const cuts = Array.from(sorted.keys()).filter((r) => r > 0 && sorted[r] > sorted[r - 1]);
  if (cuts.length === 0) {
    throw new RanksimError("empty-input", {
      parameter: "timeColumn",
      expected: "rows of several moments",
      found: "one",
    });
  }
  const cut = cuts.reduce((best, r) => (Math.abs(r - wanted) < Math.abs(best - wanted) ? r : best));
  const rows = Array.from(times.keys());
  const part = (isLate: boolean) => Uint32Array.from(rows.filter((r) => times[r] >= sorted[cut] === isLate));
  return { train: part(false), test: part(true) };
}
