/** What committees add to a stored classifier. Reading trusts nothing. */

import type { Saved } from "../saved.ts";
import { bad, readParams, vector } from "./arrays.ts";

/** The bank of each filter; absent where there is one bank. Banks come one after the other, each with filters of every class. */
export function readFilterBank(saved: Saved, filterClass: Uint32Array, classes: number): Uint32Array | undefined {
  if (!saved.arrays.filter_bank) return undefined;
  const filterBank = vector(saved, "filter_bank", Uint32Array, filterClass.length);
  if ((readParams(saved).voters ?? 1) !== 1) throw bad(saved, "voters: expected 1 for a committee");
  let bank = 0;
  let seen = new Set<number>();
  for (const [f, b] of filterBank.entries()) {
    if (b !== bank) {
      if (b !== bank + 1 || seen.size !== classes) {
        throw bad(
          saved,
          `filter_bank: filter ${f}: expected banks in ascending order, each with filters of every class`,
        );
      }
      bank = b;
      seen = new Set();
    }
    seen.add(filterClass[f]);
  }
  if (bank === 0 || seen.size !== classes) {
    throw bad(saved, "filter_bank: expected at least 2 banks, each with filters of every class");
  }
  return filterBank;
}
