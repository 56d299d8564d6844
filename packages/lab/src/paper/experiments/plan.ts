/** What the experiments share: seeds, the small parts of a quick run, and points by system. */

import type { DataName, FitTask, Params, PeerTask, Point, RowChoice } from "../spec.ts";

/** Seeds of samples and estimators. */
const SEEDS = [0, 1, 2] as const;

/** One of this many parts of the train and test rows has about 400 and 200 rows. */
const QUICK_PARTS: { readonly [name in DataName]: { readonly trainParts: number; readonly testParts: number } } = {
  fashion: { trainParts: 150, testParts: 50 },
  kuzushiji: { trainParts: 150, testParts: 50 },
  newsgroups: { trainParts: 28, testParts: 38 },
  "newsgroups-counts": { trainParts: 28, testParts: 38 },
  rcv1: { trainParts: 36, testParts: 66 },
};

/** The choice of rows, cut down for a quick run. */
export function rowsFor(quick: boolean, data: DataName, choice: RowChoice): RowChoice {
  if (!quick) return choice;
  const { trainParts, testParts } = QUICK_PARTS[data];
  return { ...choice, trainParts: trainParts * (choice.trainParts && choice.trainParts > 6 ? 2 : 1), testParts };
}

/** Full lists are cut to their first and last for a quick run. */
export function some<T>(quick: boolean, all: readonly T[]): readonly T[] {
  return quick && all.length > 2 ? [all[0], all[all.length - 1]] : all;
}

/** Seeds of a run: all, or one. */
export function seedsFor(quick: boolean): readonly number[] {
  return quick ? [0] : SEEDS;
}

/** A point of one of this project's systems. */
export function ours(
  name: string,
  data: DataName,
  rows: RowChoice,
  system: FitTask["system"],
  params: Params,
  more: Partial<FitTask> & { readonly late?: boolean } = {},
): Point {
  const { late, ...task } = more;
  return { name, spec: { data, rows, task: "fit", system, params, ...task }, ...(late ? { late } : {}) };
}

/** A point of a scikit-learn estimator. */
export function peer(
  name: string,
  data: DataName,
  rows: RowChoice,
  system: string,
  params: Params,
  more: Partial<PeerTask> & { readonly late?: boolean } = {},
): Point {
  const { late, scale = "none", ...task } = more;
  return { name, spec: { data, rows, task: "sklearn", system, params, scale, ...task }, ...(late ? { late } : {}) };
}

/** The paper's linear SVM: the best of the Fashion-MNIST benchmark. */
export const SVM: Params = { c: 1, loss: "hinge", seed: 0 };
