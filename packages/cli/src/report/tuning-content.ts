/** What tuning found, as plain values for the terminal, programs, the page and the plot. */

import { CLASSIFIER_PARAMETERS, type Json, type Model } from "@ranksim/core";
import type { Baseline, Preset, TuneOutcome, TuneResult, Tuning } from "@ranksim/learn";

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

/** Gathers the outcome. `presets` names the preset of the candidates that are recipes. */
export function viewOf<X, M extends Model>(
  tuning: Tuning<X, M>,
  about: { readonly data: string; readonly scoring: string; readonly folds: number },
  presets: ReadonlyMap<unknown, Preset> = new Map(),
): TuningView {
  const { complete, seconds, rounds, results } = tuning;
  const names = presets.size === 0 ? undefined : differing(results.filter(({ estimator }) => !presets.has(estimator)));
  const candidates = results.map((result, j) => {
    if (!names) return candidateOf(result, byName(result.params), j);
    const preset = presets.get(result.estimator);
    // A recipe has steps and parameters of its own; those in which the others differ are shown of it too.
    const own = byName(preset === undefined ? result.params : result.estimator.params);
    const shown = Object.fromEntries(names.map((name) => [name, own[name] ?? null]));
    return candidateOf(result, { preset: preset ?? null, ...shown }, j);
  });
  return { ...about, complete, seconds, rounds, candidates };
}

/** Parameters by name, without the step that they are of; those of a later step count. */
function byName(params: { readonly [name: string]: unknown }): { readonly [name: string]: Json } {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name.slice(name.lastIndexOf(".") + 1), asJson(value)]),
  );
}

/** The names of parameters that are not the same in all results. */
function differing(results: readonly TuneResult<never, Model>[]): string[] {
  const all = results.map(({ params }) => byName(params));
  const names = Object.keys(all[0] ?? {});
  return names.filter((name) => new Set(all.map((params) => JSON.stringify(params[name]))).size > 1);
}

function candidateOf<X, M extends Model>(
  result: TuneResult<X, M>,
  params: { readonly [name: string]: Json },
  j: number,
): CandidateView {
  const { outcome, onFront, reason } = result;
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

/** A parameter in a table. */
export function shownParam(value: Json): string {
  if (value === null) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The filters, and what is not as usual. */
function titleOf(params: { readonly [name: string]: Json }): string {
  const parts: string[] = [];
  if (params.preset)
    return `${params.filters === undefined ? "" : `${params.filters} filters, `}preset ${params.preset}`;
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
