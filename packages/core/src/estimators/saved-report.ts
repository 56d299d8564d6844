/** The record of training that a file holds, field by field: nothing that prints or draws it later meets anything unexpected. */

import type { Json } from "./estimator.ts";

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
