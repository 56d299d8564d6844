/** How training went: the report that a fit gives. */

import type { Label } from "../matrix/labels.ts";
import type { Report } from "../model-file/stored/report.ts";
import type { Trained } from "../paper/train.ts";

/** Below this many features the paper advises against rank filters: too few orders to distinguish rows. */
const FEW_FEATURES = 9;

/** Advice that depends on the shape of the data alone. */
export function shapeNotes(features: number): string[] {
  if (features >= FEW_FEATURES) return [];
  return [
    `${features} features have few rank orders; rank filters work best with ${FEW_FEATURES} or more features of one unit`,
  ];
}

/** Puts a report together. */
export function makeReport(
  features: number,
  trained: readonly { readonly label?: Label; readonly rows: number; readonly trained: Trained }[],
  notes: readonly string[],
  seconds: number,
  backend: string,
): Report {
  const pairs = trained.reduce((sum, { trained: { work } }) => sum + work.pairs, 0);
  const exact = trained.reduce((sum, { trained: { work } }) => sum + work.exact, 0);
  return {
    rows: trained.reduce((sum, { rows }) => sum + rows, 0),
    features,
    filters: trained.reduce((sum, { trained: { bank } }) => sum + bank.filters, 0),
    converged: trained.every(({ trained: { converged } }) => converged),
    trainings: trained.map(({ label, rows, trained: { bank, converged, steps } }) => ({
      ...(label === undefined ? {} : { label }),
      rows,
      filters: bank.filters,
      converged,
      steps,
    })),
    notes,
    seconds,
    backend,
    pruned: pairs === 0 ? 0 : 1 - exact / pairs,
    fallbacks: [...new Set(trained.flatMap(({ trained: { work } }) => work.notes))],
  };
}
