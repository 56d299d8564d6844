/**
 * Class scores: the strongest response of each class, in place of the strongest filter alone. What probabilities are
 * calibrated from, and what the banks of a committee would add up.
 */

import type { Backend } from "../backends/backend.ts";
import { pickFilters } from "../kernels/pick-filters.ts";
import type { FilterBank } from "../kernels/shapes.ts";
import type { Matrix } from "../matrix/matrix.ts";
import { groupByCode } from "./groups.ts";
import { chunksOf, type OnChunk } from "./similarity.ts";

/** The filters of each class as banks of their own; undefined for a class without filters. */
export function classBanks(
  bank: FilterBank,
  filterClass: Uint32Array,
  classes: number,
): readonly (FilterBank | undefined)[] {
  const { offsets, rows: filters } = groupByCode(filterClass, classes);
  return Array.from({ length: classes }, (_, c) => {
    const own = filters.subarray(offsets[c], offsets[c + 1]);
    return own.length === 0 ? undefined : pickFilters(bank, own);
  });
}

/** Writes the largest response of each class to `out`, rows x classes. A class without filters has the lowest score of the row. */
export async function classScores(
  x: Matrix,
  banks: readonly (FilterBank | undefined)[],
  backend: Backend,
  onChunk: OnChunk,
  out: Float64Array,
): Promise<void> {
  const c = banks.length;
  for await (const { from, chunk, held } of chunksOf(x, backend, onChunk)) {
    const scores = out.subarray(from * c, (from + chunk.rows) * c);
    for (const [j, bank] of banks.entries()) {
      if (!bank) continue;
      const { response } = await held.topFilters(bank, 1);
      for (let r = 0; r < chunk.rows; r++) scores[r * c + j] = response[r];
    }
    fillMissing(scores, banks);
  }
}

/** Gives classes without filters the lowest score of their row. */
function fillMissing(scores: Float64Array, banks: readonly (FilterBank | undefined)[]): void {
  const c = banks.length;
  const missing = [...banks.keys()].filter((j) => banks[j] === undefined);
  if (missing.length === 0) return;
  for (let at = 0; at < scores.length; at += c) {
    let lowest = Number.POSITIVE_INFINITY;
    for (let j = 0; j < c; j++) if (banks[j] && scores[at + j] < lowest) lowest = scores[at + j];
    for (const j of missing) scores[at + j] = lowest;
  }
}
