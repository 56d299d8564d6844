/** The cost of using a model, counted and not timed, so that it is the same everywhere: multiplications a row, and bytes. */

import type { Model, Run } from "../estimators/estimator.ts";
import { PatchModel } from "../estimators/patches.ts";
import type { FilterBank, SparseBank } from "../kernels/shapes.ts";
import { asMatrix, type Matrix, type MatrixLike } from "../matrix/matrix.ts";
import type { Saved } from "../model-file/saved.ts";
import { isTransformer, PipelineModel } from "./pipeline.ts";
import { countRows, gatherRows, type Samples } from "./split.ts";

/** Rows that the cost is averaged over: the first ones. */
const MOST_ROWS = 200;

/**
 * Multiply-adds that one row takes when every filter or plane is compared with it, averaged over the first rows of `x`; zeros
 * of sparse rows cost nothing. The searches of the back ends skip many of them and give the same answer. Steps that only scale or
 * count words are left out, as are models of other kinds.
 */
export async function multiplyAdds(model: Model, x: Samples, run: Run = {}): Promise<number> {
  const few = gatherRows(
    x,
    Array.from({ length: Math.min(MOST_ROWS, countRows(x)) }, (_, r) => r),
  );
  const { backend, signal } = run;
  const quiet: Run = { ...(backend ? { backend } : {}), ...(signal ? { signal } : {}) };
  const steps = model instanceof PipelineModel ? model.steps : [model];
  let data: unknown = few;
  let sum = 0;
  for (const [j, step] of steps.entries()) {
    if (hasBank(step)) sum += costOfBank(step.bank, asMatrix(data as MatrixLike));
    else if (step instanceof PatchModel) sum += step.multiplyAdds;
    else if (isLinear(step)) sum += step.weights.length;
    if (j < steps.length - 1 && isTransformer(step)) data = await step.transform(data as MatrixLike, quiet);
  }
  return sum;
}

/** Bytes of the arrays of a model as it is saved. */
export function arrayBytes({ arrays, steps = [] }: Saved): number {
  const own = Object.values(arrays).reduce((sum, { values }) => sum + values.byteLength, 0);
  return steps.reduce((sum, step) => sum + arrayBytes(step), own);
}

const hasBank = (model: Model): model is Model & { readonly bank: FilterBank } => "bank" in model;

const isLinear = (model: Model): model is Model & { readonly weights: Float64Array } =>
  "weights" in model && model.weights instanceof Float64Array;

/** Dense rows meet every weight. Sparse rows meet, for each feature they have, the filters in which it is an exception. */
function costOfBank(bank: FilterBank, x: Matrix): number {
  if (x.form === "dense") return bank.filters * bank.features;
  const met = bank.form === "sparse" ? exceptionsOf(bank) : undefined;
  let sum = 0;
  for (let e = x.offsets[0]; e < x.offsets[x.rows]; e++) sum += met ? met[x.indices[e]] : bank.filters;
  return Math.round(sum / Math.max(1, x.rows)) + (met ? bank.filters : 0);
}

function exceptionsOf(bank: SparseBank): Uint32Array {
  const found = new Uint32Array(bank.features);
  for (const i of bank.indices) found[i]++;
  return found;
}
