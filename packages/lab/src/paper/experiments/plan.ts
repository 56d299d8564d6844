/** What the experiments share: seeds, the small parts of a quick run, and points by system. */

import type { DataName } from "../../runner/data.ts";
import type { RowChoice } from "../../runner/rows.ts";
import type { FitTask, Params, PeerTask, Point } from "../spec.ts";

/** Seeds of samples and estimators. */
const SEEDS = [0, 1, 2] as const;

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
