/** How training went, as values. What depends on the machine (seconds, pruning) is not stored with a model. */

import type { Label } from "../matrix/labels.ts";
import type { Refinement } from "../method/refine-choice.ts";
import type { Trained } from "../method/train.ts";
import type { Json } from "./estimator.ts";

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
  /** The class, where classes train apart. */
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

/** Below this many features the paper advises against rank filters: too few orders to tell rows apart. */
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
