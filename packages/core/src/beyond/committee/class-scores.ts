/**
 * Class scores: the strongest response of each class, in place of the strongest filter alone. What probabilities are
 * calibrated from, and what the banks of a committee would add up.
 */

import type { Backend, RowSource } from "../../backends/contract.ts";
import { KeptBank } from "../../backends/kept-bank.ts";
import { groupByCode } from "../../bank/groups.ts";
import { pickFilters } from "../../kernels/pick-filters.ts";
import type { FilterBank } from "../../kernels/shapes.ts";
import { chunksOf, type OnChunk } from "../../paper/similarity.ts";

/** The filters of each class as banks of their own; undefined for a class without filters. */
export function classBanks(
  bank: FilterBank,
  filterClass: Uint32Array,
  classes: number,
): readonly (KeptBank | undefined)[] {
  const { offsets, rows: filters } = groupByCode(filterClass, classes);
  return Array.from({ length: classes }, (_, c) => {
    const own = filters.subarray(offsets[c], offsets[c + 1]);
    return own.length === 0 ? undefined : new KeptBank(pickFilters(bank, own));
  });
}

/** Writes the largest response of each class to `out`, rows x classes. A class without filters has the lowest score of the row. */
export async function classScores(
  x: RowSource,
  banks: readonly (KeptBank | undefined)[],
  backend: Backend,
  onChunk: OnChunk,
  out: Float64Array,
): Promise<void> {
  const c = banks.length;
  const filters = banks.reduce((sum, bank) => sum + (bank?.bank.filters ?? 0), 0);
  for await (const { from, rows, held } of chunksOf(x, filters, backend, onChunk)) {
    const scores = out.subarray(from * c, (from + rows) * c);
    for (const [j, bank] of banks.entries()) {
      if (!bank) continue;
      const { response } = await held.topFilters(bank.on(held), 1);
      for (let r = 0; r < rows; r++) scores[r * c + j] = response[r];
    }
    fillMissing(scores, banks);
  }
}

/** Gives classes without filters the lowest score of their row. */
function fillMissing(scores: Float64Array, banks: readonly unknown[]): void {
  const c = banks.length;
  const missing = [...banks.keys()].filter((j) => banks[j] === undefined);
  if (missing.length === 0) return;
  for (let at = 0; at < scores.length; at += c) {
    let lowest = Number.POSITIVE_INFINITY;
    for (let j = 0; j < c; j++) if (banks[j] && scores[at + j] < lowest) lowest = scores[at + j];
    for (const j of missing) scores[at + j] = lowest;
  }
}
