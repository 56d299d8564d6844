/** What adding rows to a trained model (deviation 26) has in common for all three models: what is kept, checked and joined. */

import { inForm, joinBanks } from "../bank/bank.ts";
import { joinGroups } from "../bank/groups.ts";
import { joinSums, listSums } from "../bank/sums.ts";
import type { Summed } from "../beyond/later-rows/grow-filters.ts";
import { RanksimError } from "../errors.ts";
import type { FilterBank } from "../kernels/shapes.ts";
import { type Matrix, type MatrixLike, matchingMatrix } from "../matrix/matrix.ts";
import type { Json } from "../model-file/saved.ts";
import { type Filters, storedFilters } from "../model-file/stored/filters.ts";
import type { Report, TrainingReport } from "../model-file/stored/report.ts";
import { type KeptSums, MOST_ROWS } from "../model-file/stored/sums.ts";
import type { FilterParams } from "./params.ts";

/** Refuses `keepSums` where filters are not the rank of a sum of rows. */
export function refuseUnsummed(params: FilterParams & { readonly initialRows: unknown }): void {
  if (!params.keepSums) return;
  const wrong =
    params.filterFunction !== "meanRank"
      ? `filterFunction "meanRank", found ${typeof params.filterFunction === "function" ? "a function" : `"${params.filterFunction}"`}`
      : params.spreading === "weightedAverage"
        ? 'spreading "max" or "none", found "weightedAverage"'
        : params.spreading === "none" && params.initialize === "weightedAverage" && !params.initialRows
          ? 'initialize "random" or "plusplus" with spreading "none", found "weightedAverage"'
          : undefined;
  if (wrong === undefined) return;
  throw new RanksimError("bad-params", `keepSums: only sums of whole rows can be kept: expected ${wrong}`);
}

/** What the model kept; refuses a model that kept nothing. */
export function keptSumsOf(filters: Filters, kind: string): KeptSums {
  if (filters.keptSums) return filters.keptSums;
  throw new RanksimError(
    "unsupported",
    `partialFit: expected a ${kind} model trained with keepSums: true, found one that kept no sums`,
  );
}

/** The gate of `partialFit`: at least one row, as wide as the model, and numbers left to give to the rows. */
export function addedMatrix(x: MatrixLike, features: number, { seen }: KeptSums): { matrix: Matrix; first: number } {
  const matrix = matchingMatrix(x, features);
  if (matrix.rows === 0) throw new RanksimError("empty-input", "expected at least 1 row to add, found none");
  const first = seen.reduce((sum, rows) => sum + rows, 0);
  if (first + matrix.rows > MOST_ROWS) {
    throw new RanksimError("unsupported", `partialFit: expected at most ${MOST_ROWS} rows in all`);
  }
  return { matrix, first };
}

/** Parameters of a model as a recipe takes them; a distribution of the caller's own is not among them. */
export function recipeOf(params: { readonly [name: string]: Json }): { readonly [name: string]: Json | undefined } {
  return params.distribution === "custom" ? { ...params, distribution: undefined } : params;
}

/** Filters with their sums, one by one. */
export function summed({ bank, members }: Filters, { sums }: KeptSums): Summed {
  return { bank, members, sums: listSums(sums) };
}

/** Several banks of summed filters, one after the other. */
export function joinSummed(parts: readonly Summed[]): Summed {
  const form: FilterBank["form"] = parts.every(({ bank }) => bank.form === "dense") ? "dense" : "sparse";
  return {
    bank: joinBanks(parts.map(({ bank }) => inForm(bank, form))),
    members: joinGroups(parts.map(({ members }) => ({ groups: members }))),
    sums: parts.flatMap(({ sums }) => sums),
  };
}

/** Summed filters as a model stores them. */
export function storeSummed(
  { bank, members, sums }: Summed,
  distribution: Float64Array | undefined,
  keptSums: Omit<KeptSums, "sums">,
): Filters {
  return storedFilters({ bank, members, distribution, keptSums: { ...keptSums, sums: joinSums(sums, bank.features) } });
}

/** The report of a model trained on all rows together, after `rows` more that went to its filters or to new ones. */
export function addToReport(report: Report, rows: number, training?: TrainingReport): Report {
  const [first, ...others] = report.trainings;
  return {
    ...report,
    rows: report.rows + rows,
    filters: report.filters + (training?.filters ?? 0),
    converged: report.converged && (training?.converged ?? true),
    trainings: training ? [...report.trainings, training] : [{ ...first, rows: first.rows + rows }, ...others],
  };
}
