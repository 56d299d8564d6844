/**
 * How training went, as values, and the part of it that a file holds. Reading checks field by field, so that nothing that prints
 * or draws a report later meets anything unexpected.
 */

import type { Refinement } from "../../beyond/refinement/choice.ts";
import type { Label } from "../../matrix/labels.ts";
import type { Json, Saved } from "../saved.ts";
import { bad } from "./arrays.ts";
import { type Check, COUNT, FLAG, isPlain, listOf, record, SHARE, such, TEXT } from "./record.ts";

/** One iteration of spreading. */
export interface ReportStep {
  readonly iteration: number;
  /** Rows whose strongest filter changed. */
  readonly moved: number;
  /** Filters that won no row. */
  readonly empty: number;
  /** Wall-clock seconds; absent in a loaded model. */
  readonly seconds?: number;
}

/** The training of one bank: one class of the classifier, or all rows. */
export interface TrainingReport {
  /** The class, where classes train separately. */
  readonly label?: Label;
  readonly rows: number;
  readonly filters: number;
  readonly converged: boolean;
  readonly steps: readonly ReportStep[];
}

/** How training went. */
export interface Report {
  readonly rows: number;
  readonly features: number;
  readonly filters: number;
  /** Whether every bank converged within its iterations. Not converging is a result, not an error. */
  readonly converged: boolean;
  readonly trainings: readonly TrainingReport[];
  /** Advice. */
  readonly notes: readonly string[];
  /** What refinement did; absent where it was not asked for. */
  readonly refinement?: Refinement;
  /** Wall-clock seconds of the whole call; absent in a loaded model. */
  readonly seconds?: number;
  /** Where it ran; absent in a loaded model. */
  readonly backend?: string;
  /** Share of row-filter products that the exact search did not have to compute; absent in a loaded model. */
  readonly pruned?: number;
  /** What was done another way than usual, and why, such as too little memory; absent in a loaded model. It never changes a result. */
  readonly fallbacks?: readonly string[];
}

/** The part of a report that is stored. */
export function reportAsJson(report: Report): Json {
  const { rows, features, filters, converged, notes, refinement } = report;
  const trainings = report.trainings.map((training) => ({
    ...(training.label === undefined ? {} : { label: training.label }),
    rows: training.rows,
    filters: training.filters,
    converged: training.converged,
    steps: training.steps.map(({ iteration, moved, empty }) => ({ iteration, moved, empty })),
  }));
  const stored = { rows, features, filters, converged, trainings, notes };
  return refinement ? { ...stored, refinement: { ...refinement } } : stored;
}

/** Iterations as they are stored. */
export const STEPS = listOf(record({ iteration: COUNT, moved: COUNT, empty: COUNT }));
const LABEL = such("a class name", (value) => typeof value === "string" || typeof value === "number");
const TRAINING = record({ rows: COUNT, filters: COUNT, converged: FLAG, steps: STEPS }, { label: LABEL });

const KEPT = { refined: FLAG, heldOutRows: COUNT, before: SHARE, after: SHARE };
/** Filters that were refined have a window and epochs, those that were kept have none. */
const [WAS_REFINED, WAS_KEPT] = [record({ ...KEPT, window: SHARE, epochs: COUNT }), record(KEPT)];
const REFINEMENT: Check = (value, place) =>
  (isPlain(value) && value.refined === true ? WAS_REFINED : WAS_KEPT)(value, place);

const REPORT = record(
  { rows: COUNT, features: COUNT, filters: COUNT, converged: FLAG, trainings: listOf(TRAINING), notes: listOf(TEXT) },
  { refinement: REFINEMENT },
);

/** The stored report of a model. */
export function readReport(saved: Saved): Report {
  const { report } = saved.meta;
  const wrong = REPORT(report, "report");
  if (wrong !== undefined) throw bad(saved, wrong);
  return report as unknown as Report;
}
