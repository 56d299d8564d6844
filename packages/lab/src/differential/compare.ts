/** Cases asked of several back ends, the first of which is right by definition. */

import { createHash } from "node:crypto";
import type { Backend } from "@ranksim/core";
import { type Answer, answersOf } from "./answer.ts";
import { type Case, drawCase } from "./case.ts";

/** A back end under comparison. */
export interface Subject {
  readonly name: string;
  readonly backend: Backend;
}

/** An answer that is not the first back end's. */
export interface Difference {
  readonly case: number;
  readonly backend: string;
  readonly question: string;
  readonly expected: string;
  readonly found: string;
}

/** What was compared, counted. */
export interface Counts {
  cases: number;
  /** Cases that were refused, by all alike. */
  refused: number;
  /** Answers of back ends other than the first. */
  compared: number;
  /** Cases by what they are about. */
  readonly of: { [aspect: string]: { [value: string]: number } };
}

export const noCounts = (): Counts => ({ cases: 0, refused: 0, compared: 0, of: {} });

/** Asks all back ends about one case; the differences, and a digest of the right answers. */
export async function compareCase(
  seed: number,
  number: number,
  subjects: readonly Subject[],
  counts: Counts,
): Promise<{ differences: Difference[]; digest: string }> {
  const one = drawCase(seed, number);
  const [first, ...others] = subjects;
  const right = await answersOrError(one, first.backend);
  const differences: Difference[] = [];
  for (const { name, backend } of others) {
    const found = await answersOrError(one, backend);
    counts.compared += found.length;
    differences.push(...differencesOf(number, name, right, found));
  }
  count(counts, one, right);
  const digest = createHash("sha256").update(JSON.stringify(right)).digest("hex").slice(0, 16);
  return { differences, digest };
}

/** An error that is no refusal is a finding too: no back end may give one. */
async function answersOrError(one: Case, backend: Backend): Promise<Answer[]> {
  try {
    return await answersOf(one, backend);
  } catch (error) {
    return [["error", String(error)]];
  }
}

/** Where the answers are not the right ones. */
export function differencesOf(
  number: number,
  backend: string,
  right: readonly Answer[],
  found: readonly Answer[],
): Difference[] {
  const differences: Difference[] = [];
  const add = (question: string, expected: string, answer: string) =>
    differences.push({ case: number, backend, question, expected, found: answer });
  for (let j = 0; j < Math.max(right.length, found.length); j++) {
    const [question, expected] = right[j] ?? [found[j][0], "nothing"];
    const [asked, answer] = found[j] ?? ["", "nothing"];
    if (asked !== question || answer !== expected || question === "error") add(question, expected, answer);
  }
  return differences;
}

function count(counts: Counts, { estimator, plan, params, refine }: Case, right: readonly Answer[]): void {
  counts.cases++;
  if (right.at(-1)?.[0] === "refused") counts.refused++;
  const { features, rows, type, form, style } = plan;
  const around = (value: number, threshold: number) => (value < threshold ? `below ${threshold}` : `from ${threshold}`);
  const aspects = {
    estimator,
    form: `${form} ${type}`,
    style,
    features: features > 2 ** 20 ? "above 2^20" : around(features, 192),
    rows: around(rows, 256),
    filters: params.filters === "auto" ? "auto" : around(params.filters as number, 64),
    nBest: around(params.nBest as number, 8),
    asked: params.refine || refine ? "refined" : params.keepSums ? "rows added" : "plain",
  };
  for (const [aspect, value] of Object.entries(aspects)) {
    counts.of[aspect] ??= {};
    counts.of[aspect][value] = (counts.of[aspect][value] ?? 0) + 1;
  }
}
