/** Why a committee gave a row its class: that class against the one of the others that scores most, through the strongest filters of each in every bank. */

import type { Backend } from "../../backends/contract.ts";
import { indexOfLargest } from "../../kernels/measure.ts";
import type { Matrix } from "../../matrix/matrix.ts";
import { byPart, type Contribution } from "../../paper/contributions.ts";
import { type BankExplanation, partsOfLead } from "../../paper/explain.ts";
import { type KeptCommitteeBank, scoresOf } from "./committee.ts";

/** The rival (the strongest filter of the next best class, in any bank) and the features' parts, added over the banks. */
export async function explainVote(
  row: Matrix, // one row
  banks: readonly KeptCommitteeBank[],
  classes: number,
  given: number, // the row's class
  backend: Backend,
): Promise<Pick<BankExplanation, "rival" | "contributions">> {
  if (classes < 2) return { rival: undefined, contributions: [] };
  const held = await backend.hold(row);
  try {
    const scores = new Float64Array(classes);
    await scoresOf(held, banks, classes, scores);
    scores[given] = Number.NEGATIVE_INFINITY;
    const next = indexOfLargest(scores, 0, classes);
    const parts = new Map<number, Contribution>();
    let [rival, strongest, before] = [0, Number.NEGATIVE_INFINITY, 0];
    for (const { bank: keptBank, filterClass } of banks) {
      const { bank } = keptBank;
      const { filter, response } = await held.topFilters(keptBank.on(held), bank.filters);
      const best = (c: number) => filter.findIndex((f) => filterClass[f] === c);
      const [first, other] = [best(given), best(next)];
      if (response[other] > strongest) [rival, strongest] = [before + filter[other], response[other]];
      for (const part of partsOfLead(row, bank, filter[first], filter[other])) {
        const sum = (parts.get(part.feature)?.contribution ?? 0) + part.contribution;
        parts.set(part.feature, { ...part, contribution: sum });
      }
      before += bank.filters;
    }
    return { rival, contributions: byPart([...parts.values()]) };
  } finally {
    held.release();
  }
}
