/**
 * Numbers by which caches know banks again without keeping them. A `WeakRef` would keep each until the event loop turns,
 * and a training in which nothing waits for anything else takes a single turn.
 */

import type { FilterBank } from "../../kernels/shapes.ts";

const numbers = new WeakMap<FilterBank, number>();
let last = 0;

/** The number of this bank and of no other. */
export function numberOf(bank: FilterBank): number {
  const known = numbers.get(bank);
  if (known !== undefined) return known;
  numbers.set(bank, ++last);
  return last;
}
