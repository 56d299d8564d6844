/** Pairs of times as ratios: what counts is how the two sides of a pair compare, because a machine is not equally fast at all times. */

import type { PairResult } from "./measure.ts";

/** Both sides of one turn. */
export interface Pair {
  readonly base: PairResult;
  readonly head: PairResult;
}

/** How much faster the second commit is in one call: times of the base divided by its own, one ratio a pair. */
interface RowSummary {
  readonly work: string;
  readonly phase: string;
  readonly pairs: number;
  readonly median: number;
  /** The middle half of the ratios. */
  readonly quartiles: readonly [number, number];
  readonly range: readonly [number, number];
  /** Median seconds of each side. */
  readonly base: number;
  readonly head: number;
  /** Whether both gave the same model in every pair. */
  readonly sameModel: boolean;
}

/** A summary of each call of one piece of work. */
export function summarize(work: string, pairs: readonly Pair[]): RowSummary[] {
  const [first] = pairs;
  if (!first) return [];
  return Object.keys(first.base.cpu).map((phase) => {
    const ratios = pairs.map(({ base, head }) => base.cpu[phase] / head.cpu[phase]).sort((a, b) => a - b);
    return {
      work,
      phase,
      pairs: pairs.length,
      median: quantile(ratios, 0.5),
      quartiles: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
      range: [ratios[0], ratios[ratios.length - 1]],
      base: medianOf(pairs.map(({ base }) => base.cpu[phase])),
      head: medianOf(pairs.map(({ head }) => head.cpu[phase])),
      sameModel: pairs.every(({ base, head }) => base.digest === head.digest),
    };
  });
}

const medianOf = (values: number[]): number =>
  quantile(
    values.sort((a, b) => a - b),
    0.5,
  );

/** By straight lines between the sorted values. */
function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const below = Math.floor(at);
  return sorted[below] + (at - below) * ((sorted[below + 1] ?? sorted[below]) - sorted[below]);
}

/** The table that is printed. */
export function tableOf(rows: readonly RowSummary[]): string {
  const line = ({ work, phase, median, quartiles, range, base, head, sameModel }: RowSummary) =>
    [
      `${work}, ${phase}`.padEnd(34),
      median.toFixed(3).padStart(7),
      quartiles
        .map((ratio) => ratio.toFixed(3))
        .join("–")
        .padStart(13),
      range
        .map((ratio) => ratio.toFixed(3))
        .join("–")
        .padStart(13),
      `${base.toFixed(3)} s`.padStart(10),
      `${head.toFixed(3)} s`.padStart(10),
      sameModel ? "same model" : "ANOTHER MODEL",
    ].join("  ");
  const head = ["", " median", "  middle half", "        range", "      base", "      head"];
  return [[head[0].padEnd(34), ...head.slice(1)].join("  "), ...rows.map(line)].join("\n");
}
