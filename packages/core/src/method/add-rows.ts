/**
 * Rows added to trained filters without the rows they were trained on (deviation 26): one pass with the filters as they
 * stand. Each row goes to the sum of the filter that it excites most, and the filters that won rows are ranked again.
 */

import type { Backend, TopFilters } from "../backends/backend.ts";
import type { FilterBank, Groups } from "../kernels/shapes.ts";
import type { Matrix } from "../matrix/matrix.ts";
import { inForm, replaceFilters } from "./bank.ts";
import { appendToGroups, groupByCode, pickGroups, singletons } from "./groups.ts";
import { joinSums, type Sum, sumGroups } from "./sums.ts";

/** Filters, the rows each was made from, and the sums of those rows. */
export interface Summed {
  readonly bank: FilterBank;
  readonly members: Groups;
  readonly sums: readonly Sum[];
}

/** Filters that took rows in, and which filter each row went to. */
export interface Grown extends Summed {
  readonly winners: TopFilters;
}

/** Adds the rows of `x`; row r of `x` becomes the member `numbers[r]`. Equal responses go to the lowest filter. */
export async function addRows(
  { bank, members, sums }: Summed,
  x: Matrix,
  numbers: Uint32Array,
  distribution: Float64Array | undefined,
  backend: Backend,
): Promise<Grown> {
  const winners = await whileHeld(backend, x, (held) => held.topFilters(bank, 1));
  const groups = groupByCode(winners.filter, bank.filters);
  const touched = Uint32Array.from(new Set(winners.filter)).sort();
  const fresh = sumGroups(x, pickGroups(groups, touched), (j) => sums[touched[j]]);
  const all = Uint32Array.from(touched.keys());
  const ranked = await whileHeld(backend, joinSums(fresh, x.features), (held) =>
    held.rankSums(singletons(all), distribution),
  );
  const grown = [...sums];
  touched.forEach((f, j) => {
    grown[f] = fresh[j];
  });
  return {
    bank: replaceFilters(bank, touched, inForm(ranked, bank.form)).bank,
    members: appendToGroups(members, groups, numbers),
    sums: grown,
    winners,
  };
}

/** An answer about rows that a back end holds for no longer than it takes. */
async function whileHeld<T>(
  backend: Backend,
  x: Parameters<Backend["hold"]>[0],
  ask: (held: Awaited<ReturnType<Backend["hold"]>>) => Promise<T>,
): Promise<T> {
  const held = await backend.hold(x);
  try {
    return await ask(held);
  } finally {
    held.release();
  }
}
