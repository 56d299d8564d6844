/** What a measuring process is told besides the specification: where its data are and where the result goes. */

import { type Backend, openBackend, RanksimError } from "@ranksim/core";
import { type Rows, readRowNumbers, readRows } from "./data.ts";
import type { Spec } from "./spec.ts";

/** Paths of one point. */
export interface Places {
  readonly folder: string;
  readonly multilabel: boolean;
  /** Files with row numbers. */
  readonly train: string;
  readonly test: string;
  readonly out: string;
}

/** A point as a process is given it. */
export interface Job extends Places {
  readonly spec: Spec;
  /** Most processor time that a scikit-learn estimator is given. */
  readonly limitSeconds: number;
}

/** Rows to train on. */
export function trainRows({ folder, multilabel, train }: Places): Rows {
  return readRows(folder, multilabel, readRowNumbers(train));
}

/** Rows to test on. */
export function testRows({ folder, multilabel, test }: Places): Rows {
  return readRows(folder, multilabel, readRowNumbers(test));
}

/** The fastest back end of one thread: all times of the paper are of one core. */
export async function oneThread(): Promise<Backend> {
  try {
    return await openBackend("wasm");
  } catch (error) {
    if (error instanceof RanksimError && error.code === "no-backend") return openBackend("reference");
    throw error;
  }
}
