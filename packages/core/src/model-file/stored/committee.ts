/** What committees and refinement add to a stored classifier. Reading trusts nothing. */

import type { Saved } from "../saved.ts";
import { bad, readParams, readReport, vector } from "./filters.ts";

/** The bank of each filter; absent where there is one bank. Banks come one after the other, each with filters of every class. */
export function readFilterBank(saved: Saved, filterClass: Uint32Array, classes: number): Uint32Array | undefined {
  if (!saved.arrays.filter_bank) return undefined;
  const filterBank = vector(saved, "filter_bank", Uint32Array);
  if (filterBank.length !== filterClass.length) {
    throw bad(saved, `filter_bank: expected ${filterClass.length} banks, found ${filterBank.length}`);
  }
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

/** Refuses a record of refinement that no refinement could have left. */
export function checkRefinement(saved: Saved): void {
  const { refinement } = readReport(saved) as { refinement?: unknown };
  if (refinement === undefined) return;
  const found = (typeof refinement === "object" && refinement !== null ? refinement : {}) as { [key: string]: unknown };
  const isShare = (value: unknown) => typeof value === "number" && value >= 0 && value <= 1;
  const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
  const { refined, heldOutRows, before, after, window, epochs } = found;
  const isChosen = refined === true ? isShare(window) && isCount(epochs) : window === undefined && epochs === undefined;
  if (typeof refined === "boolean" && isCount(heldOutRows) && isShare(before) && isShare(after) && isChosen) return;
  throw bad(saved, "report: refinement: expected what was refined, by how many rows and with which gain");
}
