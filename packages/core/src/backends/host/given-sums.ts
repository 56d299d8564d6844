/** Sums that are there already: ranked by the back end as rows of their own. */

import { inForm } from "../../bank/bank.ts";
import { singletons } from "../../bank/groups.ts";
import { joinSums } from "../../bank/sums.ts";
import { sourceOf } from "../../kernels/rows.ts";
import type { RowSource, Sum } from "../../kernels/shapes.ts";
import type { HeldBank, HeldRows } from "../contract.ts";

/** One filter a sum, in a bank of the back end in which `hold` holds rows. */
export async function rankGivenSums(
  sums: readonly Sum[],
  features: number,
  distribution: Float64Array | undefined,
  hold: (rows: RowSource) => Promise<HeldRows>,
): Promise<HeldBank> {
  const joined = joinSums(sums, features);
  const held = await hold(sourceOf(joined));
  try {
    return await held.sum(singletons(Uint32Array.from({ length: joined.rows }, (_, f) => f))).rank(distribution);
  } finally {
    held.release();
  }
}

/** The same bank in the form that filters of such rows have: a bank of few sums may have been stored sparse. */
export async function inFormOf(bank: HeldBank, rows: HeldRows, form: "dense" | "sparse"): Promise<HeldBank> {
  const host = await bank.read();
  if (host.form === form) return bank;
  try {
    return rows.load(inForm(host, form));
  } finally {
    bank.release();
  }
}
