/** What a table or a figure of the paper is here: points to measure, and a section of the page made from what was found. */

import type { DataName, SourceFacts } from "../runner/data.ts";
import type { Plot } from "./drawing/plot.ts";
import type { Measured, Point } from "./spec.ts";

/** The outcome of a check. */
export type Verdict =
  | "holds"
  | "holds on a substitute"
  | "holds in part"
  | "differs"
  | "does not hold"
  | "not measured";

/** A statement of the paper and what was measured. */
export interface Claim {
  /** The statement, in our words, with the paper's numbers as printed. */
  readonly paper: string;
  /** What was measured. */
  readonly ours: string;
  readonly verdict: Verdict;
}

/** A section of the page. */
export interface Section {
  /** Markdown: tables and remarks. */
  readonly text: string;
  readonly plots: readonly Plot[];
  readonly claims: readonly Claim[];
}

/** What there is to make a section from. */
export interface Found {
  readonly quick: boolean;
  /** What was measured for a point, if it was. */
  readonly find: (point: Point) => Measured | undefined;
  /** The data set behind a name, once it was opened. */
  readonly source: (name: DataName) => SourceFacts | undefined;
}

/** One table or figure, or panels of a figure that share their points. */
export interface Experiment {
  /** Names that a command may give, e.g. figure-2a and figure-2b. */
  readonly panels: readonly string[];
  readonly title: string;
  points(quick: boolean): readonly Point[];
  section(found: Found): Section;
}

/** The verdict where some of the data are others than the paper's. */
export const withSubstitute = (verdict: Verdict, substitute: boolean): Verdict =>
  substitute && verdict === "holds" ? "holds on a substitute" : verdict;

/** The name of an experiment's files: "figure-2ab" for the panels figure-2a and figure-2b. */
export function idOf({ panels }: Experiment): string {
  return (
    panels[0] +
    panels
      .slice(1)
      .map((panel) => panel.at(-1))
      .join("")
  );
}

/**
 * All parts true, some, or none. While parts are missing a statement is not measured, unless it already holds and fails in
 * parts, which no further part can change.
 */
export function judge(parts: readonly (boolean | undefined)[]): Verdict {
  if (parts.includes(true) && parts.includes(false)) return "holds in part";
  if (parts.length === 0 || parts.includes(undefined)) return "not measured";
  return parts.includes(true) ? "holds" : "does not hold";
}

/** Whether each value passes; undefined where there is none. */
export function whether<T>(
  values: readonly (T | undefined)[],
  passes: (value: T) => boolean,
): readonly (boolean | undefined)[] {
  return values.map((value) => (value === undefined ? undefined : passes(value)));
}
