/**
 * Rows added to trained filters without the rows they were trained on (deviation 26): one pass with the filters as they
 * stand. Each row goes to the sum of the filter that it excites most, and the filters that won rows are ranked again.
 */

import type { Backend } from "../../backends/contract.ts";
import { membersOf } from "../../bank/assignment.ts";
import { appendToGroups, emptyGroups, pickGroups } from "../../bank/groups.ts";
import type { FilterBank, Groups, Sum } from "../../kernels/shapes.ts";
import type { Matrix } from "../../matrix/matrix.ts";

/** Filters, the rows each was made from, and the sums of those rows. */
export interface Summed {
  readonly bank: FilterBank;
  readonly members: Groups;
  readonly sums: readonly Sum[];
}

/** Filters that took rows in, and which filter each row went to. */
export interface Grown extends Summed {
  readonly winners: Uint32Array;
}

/** Adds the rows of `x`; row r of `x` becomes the member `numbers[r]`. Equal responses go to the lowest filter. */
export async function growFilters(
  { bank, members, sums }: Summed,
  x: Matrix,
  numbers: Uint32Array,
  distribution: Float64Array | undefined,
  backend: Backend,
): Promise<Grown> {
  const held = await backend.hold(x, { filters: bank.filters });
  const old = held.load(bank);
  try {
    const assignment = await held.assign(old);
    const touched = Uint32Array.from(assignment.wins.keys()).filter((f) => assignment.wins[f] > 0);
    const won = membersOf(assignment);
    const onto = Array.from(touched, (f) => sums[f]);
    const fresh = await held.sum(pickGroups(won, touched), onto);
    const ranked = await held.rank(emptyGroups(touched.length), distribution, fresh);
    const replaced = await old.replace(touched, ranked).finally(() => ranked.release());
    const grown = [...sums];
    touched.forEach((f, j) => {
      grown[f] = fresh[j];
    });
    try {
      return {
        bank: await replaced.read(),
        members: appendToGroups(members, won, numbers),
        sums: grown,
        winners: assignment.winners,
      };
    } finally {
      replaced.release();
    }
  } finally {
    old.release();
    held.release();
  }
}
