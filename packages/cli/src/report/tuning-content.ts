/** What tuning found, as plain values for the terminal, programs, the page and the plot. */

import {
  CLASSIFIER_PARAMETERS,
  type Json,
  type Model,
  type TuneOutcome,
  type TuneResult,
  type Tuning,
} from "@ranksim/core";
import type { Baseline } from "../model/baselines.ts";

/** One candidate. */
export interface CandidateView {
  /** From 1, in the order of merit. */
  readonly place: number;
  /** In a few words: the parameters that are not the usual ones. */
  readonly title: string;
  readonly params: { readonly [name: string]: Json };
  readonly outcome: TuneOutcome;
  readonly onFront: boolean;
  /** The last round it was judged in; absent if there was none. */
  readonly judged?: {
    readonly rows: number;
    readonly score: number;
    readonly standardDeviation: number;
    readonly multiplyAdds: number;
    readonly bytes: number;
    readonly secondsPerThousand: number;
    readonly fitSeconds: number;
  };
  readonly reason?: string;
}

/** The whole outcome. */
export interface TuningView {
  readonly data: string;
  readonly scoring: string;
  readonly folds: number;
  readonly complete: boolean;
  readonly seconds: number;
  readonly rounds: Tuning<never, Model>["rounds"];
  readonly candidates: readonly CandidateView[];
  /** What simple methods reach in the same folds, where that was asked for. */
  readonly baselines?: readonly Baseline[];
}

/** Gathers the outcome. */
export function viewOf<X, M extends Model>(
  tuning: Tuning<X, M>,
  about: { readonly data: string; readonly scoring: string; readonly folds: number },
): TuningView {
  const { complete, seconds, rounds } = tuning;
  return { ...about, complete, seconds, rounds, candidates: tuning.results.map(candidateOf) };
}

function candidateOf<X, M extends Model>(result: TuneResult<X, M>, j: number): CandidateView {
  const { outcome, onFront, reason } = result;
  const params = Object.fromEntries(
    Object.entries(result.params).map(([name, value]) => [name.slice(name.lastIndexOf(".") + 1), asJson(value)]),
  );
  const last = result.rounds.at(-1);
  const judged = last && {
    rows: last.rows,
    score: last.mean,
    standardDeviation: last.standardDeviation,
    multiplyAdds: last.multiplyAdds,
    bytes: last.bytes,
    secondsPerThousand: last.secondsPerThousand,
    fitSeconds: last.fitSeconds,
  };
  return {
    place: j + 1,
    title: titleOf(params),
    params,
    outcome,
    onFront,
    ...(judged ? { judged } : {}),
    ...(reason === undefined ? {} : { reason }),
  };
}

const asJson = (value: unknown): Json => (JSON.parse(JSON.stringify(value ?? null)) ?? null) as Json;

/** The filters, and what is not as usual. */
function titleOf(params: { readonly [name: string]: Json }): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(params)) {
    const usual = CLASSIFIER_PARAMETERS.find((info) => info.name === name)?.default;
    if (name === "filters")
      parts.unshift(`${value === "auto" ? "auto" : Number(value).toLocaleString("en-US")} filters`);
    else if (name === "distribution") parts.push(String(value));
    else if (value === usual || value === false || value === null) continue;
    else if (value === true) parts.push(name);
    else parts.push(`${name} ${typeof value === "string" ? value : JSON.stringify(value)}`);
  }
  return parts.length === 0 ? "as given" : parts.join(", ");
}
