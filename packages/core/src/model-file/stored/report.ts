/**
 * How training went, as values, and the part of it that a file holds. Reading checks field by field, so that nothing that prints
 * or draws a report later meets anything unexpected.
 */

import type { Refinement } from "../../beyond/refinement/choice.ts";
import type { Label } from "../../matrix/labels.ts";
import type { Json } from "../saved.ts";

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

type Fields = { readonly [name: string]: Json };
type Check = readonly [isRight: (value: Json) => boolean, what: string];

const COUNT: Check = [(value) => Number.isSafeInteger(value) && (value as number) >= 0, "a whole number from 0"];
const SHARE: Check = [(value) => typeof value === "number" && value >= 0 && value <= 1, "a number from 0 to 1"];
const SIZE: Check = [(value) => typeof value === "number" && value >= 0, "a number from 0"];
const TRUTH: Check = [(value) => typeof value === "boolean", "true or false"];
const TEXTS: Check = [(value) => Array.isArray(value) && value.every((text) => typeof text === "string"), "texts"];
const LABEL: Check = [(value) => typeof value === "string" || typeof value === "number", "a class name"];
const LIST: Check = [Array.isArray, "a list"];

const REPORT = { rows: COUNT, features: COUNT, filters: COUNT, converged: TRUTH, trainings: LIST, notes: TEXTS };
const TRAINING = { rows: COUNT, filters: COUNT, converged: TRUTH, steps: LIST };
const STEP = { iteration: COUNT, moved: COUNT, empty: COUNT };
const REFINEMENT = { refined: TRUTH, heldOutRows: COUNT, before: SHARE, after: SHARE };

/** What a stored report lacks, or undefined. */
export function wrongInReport(report: Fields): string | undefined {
  const trainings = (report.trainings ?? []) as readonly Json[];
  return (
    wrongIn("", report, REPORT) ??
    first(trainings, (training, t) => {
      const steps = ((training as Fields | null)?.steps ?? []) as readonly Json[];
      return (
        wrongIn(`trainings[${t}].`, training, TRAINING, { label: LABEL }) ??
        first(steps, (step, s) => wrongIn(`trainings[${t}].steps[${s}].`, step, STEP))
      );
    }) ??
    (report.refinement === undefined
      ? undefined
      : wrongIn("refinement.", report.refinement, REFINEMENT, { window: SIZE, epochs: COUNT }))
  );
}

function wrongIn(
  where: string,
  value: Json,
  needed: { readonly [name: string]: Check },
  optional: { readonly [name: string]: Check } = {},
): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return `${where.slice(0, -1)} as an object`;
  const fields = value as Fields;
  for (const [name, [isRight, what]] of Object.entries({ ...optional, ...needed })) {
    if (name in optional && fields[name] === undefined) continue;
    if (fields[name] === undefined || !isRight(fields[name])) return `${where}${name} as ${what}`;
  }
  return undefined;
}

function first(list: readonly Json[], wrong: (value: Json, at: number) => string | undefined): string | undefined {
  if (!Array.isArray(list)) return undefined;
  for (const [at, value] of list.entries()) {
    const found = wrong(value, at);
    if (found !== undefined) return found;
  }
  return undefined;
}
