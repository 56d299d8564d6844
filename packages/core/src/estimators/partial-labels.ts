/**
 * Rows added to a probabilistic classifier (deviation 26). Rows whose labels the model knows go to its filters; rows with a
 * label it has never seen get filters of their own. The counts behind the label shares grow with them.
 */

import type { Backend, Sum } from "../backends/contract.ts";
import { type Grown, growFilters } from "../beyond/later-rows/grow-filters.ts";
import { RanksimError } from "../errors.ts";
import { Csr } from "../matrix/csr.ts";
import {
  compareLabels,
  encodeLabels,
  encodeSets,
  isLabelSets,
  type Label,
  type LabelSets,
  type Labels,
} from "../matrix/labels.ts";
import { isZeroRow, type Matrix, type MatrixLike } from "../matrix/matrix.ts";
import type { Json } from "../model-file/saved.ts";
import type { Filters } from "../model-file/stored/filters.ts";
import type { Report, TrainingReport } from "../model-file/stored/report.ts";
import { countFilters } from "../paper/allocate.ts";
import {
  addCounts,
  countPresence,
  countsOf,
  joinCounts,
  type LabelShares,
  renumberClasses,
  sharesOf,
} from "../paper/filter-labels.ts";
import { trainBank } from "../paper/train.ts";
import { Streams } from "../random.ts";
import type { Run } from "./estimator.ts";
import { checkParams, PROBABILISTIC_PARAMETERS, type ProbabilisticParams, type WholeParams } from "./params.ts";
import { addedMatrix, addToReport, joinSummed, keptSumsOf, recipeOf, storeSummed, summed } from "./partial-fit.ts";
import { advance } from "./run.ts";

/** What a probabilistic classifier consists of, as far as new rows change it. */
interface ProbabilisticParts {
  readonly filters: Filters;
  readonly labels: LabelShares;
  readonly classes: readonly Label[];
  readonly report: Report;
}

/** The parts of the model with the rows of `x` added. */
export async function addToLabels(
  model: ProbabilisticParts & { readonly multilabel: boolean; readonly params: { readonly [name: string]: Json } },
  x: MatrixLike,
  y: Labels | LabelSets,
  backend: Backend,
  run: Run,
): Promise<ProbabilisticParts> {
  const { filters, multilabel } = model;
  const keptSums = keptSumsOf(filters, "probabilistic");
  const { matrix, first } = addedMatrix(x, filters.bank.features, keptSums);
  const began = performance.now();
  const { classes, present } = joinLabels(model.classes, encodeEither(y, matrix.rows, multilabel));
  const position = new Map(classes.map((label, c) => [label, c]));
  const numbers = model.classes.map((label) => position.get(label) as number);
  const isKnown = new Uint8Array(classes.length);
  for (const c of numbers) isKnown[c] = 1;
  const params = checkParams<ProbabilisticParams>(recipeOf(model.params), PROBABILISTIC_PARAMETERS);

  // Rows of zeros excite no filter: like `fit`, this leaves them out.
  const filled = Uint32Array.from({ length: matrix.rows }, (_, r) => r).filter((r) => !isZeroRow(matrix, r));
  const isNew = (r: number) =>
    present.indices.subarray(present.offsets[r], present.offsets[r + 1]).some((c) => isKnown[c] === 0);
  const known = filled.filter((r) => !isNew(r));
  const strange = filled.filter(isNew);

  await advance(run, { stage: "spread", share: 0 });
  let grown = summed(filters, keptSums);
  const before = model.labels.counts ?? countsOf(model.labels, keptSums.labelRows as Uint32Array);
  let counts = renumberClasses(before, numbers, classes.length);
  let report = model.report;
  if (known.length > 0) {
    const rows = known.map((row) => first + row);
    const added = await growFilters(grown, matrix.gather(known), rows, filters.distribution, backend);
    counts = addCounts(counts, countPresence(added.winners, present.gather(known), added.bank.filters));
    grown = added;
    report = addToReport(report, known.length);
  }
  const share = known.length / Math.max(1, filled.length);
  await advance(run, { stage: "spread", share });
  if (strange.length > 0) {
    const count = countNewFilters(params, strange.length, first + matrix.rows);
    const rows = strange.map((row) => first + row);
    const tell = (done: number) => advance(run, { stage: "spread", share: share + (1 - share) * done });
    const { training, ...fresh } = await trainNew(
      matrix.gather(strange),
      rows,
      count,
      { ...params, distribution: filters.distribution },
      backend,
      tell,
    );
    const own = countPresence(fresh.winners, present.gather(strange), count);
    counts = joinCounts(counts, own);
    grown = joinSummed([grown, fresh]);
    report = addToReport(report, strange.length, training);
  }
  await advance(run, { stage: "fit", share: 1 });
  const seen = Uint32Array.of(first + matrix.rows);
  return {
    filters: storeSummed(grown, filters.distribution, { seen, labelRows: counts.rows }),
    labels: sharesOf(counts, multilabel, params.combine),
    classes,
    report: { ...report, seconds: (performance.now() - began) / 1000, backend: backend.name },
  };
}

/** One label or several for each row, in one form. */
function encodeEither(
  y: Labels | LabelSets,
  rows: number,
  several: boolean,
): { classes: readonly Label[]; present: Csr } {
  if (isLabelSets(y) !== several) {
    throw new RanksimError(
      "bad-labels",
      several
        ? "expected label sets, as the model has several labels"
        : "expected one label for each row, found label sets",
    );
  }
  if (isLabelSets(y)) {
    const { labels, present } = encodeSets(y, rows);
    return { classes: labels, present };
  }
  const { classes, codes } = encodeLabels(y, rows);
  const offsets = Uint32Array.from({ length: rows + 1 }, (_, r) => r);
  return { classes, present: Csr.of(offsets, codes, new Uint8Array(rows).fill(1), classes.length) };
}

/** All labels, known and new, in order, and which of them each row has. */
function joinLabels(
  known: readonly Label[],
  given: { classes: readonly Label[]; present: Csr },
): { classes: readonly Label[]; present: Csr } {
  const classes = [...new Set([...known, ...given.classes])].sort(compareLabels);
  const position = new Map(classes.map((label, c) => [label, c]));
  const column = given.classes.map((label) => position.get(label) as number);
  const { offsets, indices, values } = given.present;
  // Both lists are sorted, so columns keep their order and rows stay ascending.
  return {
    classes,
    present: Csr.of(
      offsets,
      indices.map((c) => column[c]),
      values,
      classes.length,
    ),
  };
}

/** The filters of rows with new labels, as many as their share of all rows so far, and how they won those rows. */
async function trainNew(
  x: Matrix,
  numbers: Uint32Array,
  count: number,
  params: Omit<WholeParams, "distribution"> & { readonly distribution: Float64Array | undefined },
  backend: Backend,
  tell: (share: number) => Promise<void>,
): Promise<Grown & { readonly training: TrainingReport }> {
  const rounds = params.iterations + 1;
  const options = { ...params, initialRows: undefined, beforeWinners: async () => {} };
  const trained = await trainBank(x, count, options, new Streams(params.seed).training(), backend, (_, step) =>
    tell((1 + (step?.iteration ?? 0)) / rounds),
  );
  const { bank, converged, steps } = trained;
  return {
    bank,
    members: { offsets: trained.members.offsets, rows: trained.members.rows.map((row) => numbers[row]) },
    sums: trained.sums as readonly Sum[],
    winners: trained.winners as Uint32Array,
    training: { rows: x.rows, filters: count, converged, steps },
  };
}

/** Filters for rows with new labels: their share of what `fit` would give all rows so far. */
function countNewFilters(params: WholeParams, rows: number, all: number): number {
  const filters = countFilters(all, params.filters, params.fastFilters, params.maxFilters);
  return Math.max(1, Math.min(Math.floor((filters * rows) / all), rows));
}
