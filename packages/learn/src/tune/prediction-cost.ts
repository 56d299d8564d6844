/** The cost of using a model, counted and not timed, so that it is the same everywhere: multiplications a row, and bytes. */

import {
  asMatrix,
  BlendModel,
  type FilterBank,
  isTransformer,
  LinearModel,
  type Matrix,
  type MatrixLike,
  type Model,
  PatchModel,
  PipelineModel,
  type Run,
  type Saved,
  type SparseBank,
  UnionModel,
} from "@ranksim/core";
import { countRows, gatherRows, type Samples } from "../select/split.ts";

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
  return (await costOf(model, few, quiet)).cost;
}

/** What a model costs, and what it makes of the rows if it transforms them and that is asked for. */
async function costOf(model: Model, data: unknown, run: Run, isLast = true): Promise<{ cost: number; made?: unknown }> {
  const made = isLast || !isTransformer(model) ? {} : { made: await model.transform(data as MatrixLike, run) };
  let cost = 0;
  if (model instanceof PipelineModel) {
    let at: unknown = data;
    for (const [j, step] of model.steps.entries()) {
      const found = await costOf(step, at, run, j === model.steps.length - 1);
      cost += found.cost;
      at = found.made;
    }
  } else if (model instanceof UnionModel || model instanceof BlendModel) {
    for (const step of model.steps) cost += (await costOf(step, data, run)).cost;
  } else if (model instanceof PatchModel) cost = model.multiplyAdds;
  else if (model instanceof LinearModel)
    cost = Math.round(meanEntries(asMatrix(data as MatrixLike)) * model.intercepts.length);
  else if (hasBank(model)) cost = costOfBank(model.bank, asMatrix(data as MatrixLike));
  return { cost, ...made };
}

const meanEntries = (x: Matrix): number =>
  x.form === "dense" ? x.features : (x.offsets[x.rows] - x.offsets[0]) / Math.max(1, x.rows);

/** Bytes of the arrays of a model as it is saved. */
export function arrayBytes({ arrays, steps = [] }: Saved): number {
  const own = Object.values(arrays).reduce((sum, { values }) => sum + values.byteLength, 0);
  return steps.reduce((sum, step) => sum + arrayBytes(step), own);
}

const hasBank = (model: Model): model is Model & { readonly bank: FilterBank } => "bank" in model;

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
