/** What an experiment beyond the paper is: something measured once for each seed, a table of it, and what it has to show. */

import type { Backend } from "@ranksim/core";
import type { Shelf } from "./shelf.ts";

/** Figures of one seed by name. */
export type Figures = { readonly [name: string]: number };

/** What a measurement may use. */
export interface Bench {
  readonly shelf: Shelf;
  readonly backend: Backend;
  /** Whether small parts of the data are enough, to see that everything runs. */
  readonly quick: boolean;
}

/** A figure that the experiment has to reach. */
export interface Target {
  readonly name: string;
  readonly wanted: string;
  readonly measured: string;
  readonly met: boolean;
}

/** The figures of another experiment, by seed. */
export type ResultsOf = (name: string) => readonly Figures[];

/** One experiment. */
export interface Experiment {
  readonly name: string;
  readonly title: string;
  /** What was done, in a sentence or two for the page. */
  readonly about: string;
  /** One figure for each name, with a title for the table; in processor seconds where it says so. */
  readonly columns: readonly { readonly figure: string; readonly title: string }[];
  measure(seed: number, bench: Bench): Promise<Figures>;
  /** What stands in the place of the table of columns. */
  show?(runs: readonly Figures[], resultsOf: ResultsOf): string;
  /** Pictures beside the results, by file name. */
  pictures?(runs: readonly Figures[], resultsOf: ResultsOf): readonly { readonly name: string; readonly svg: string }[];
  /** Judges the figures of all seeds. */
  targets(runs: readonly Figures[], resultsOf: ResultsOf): readonly Target[];
}

/** Runs `work` and gives its value with the processor seconds it took, all threads together. */
export async function timed<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly cpu: number }> {
  const before = process.cpuUsage();
  const value = await work();
  const { user, system } = process.cpuUsage(before);
  return { value, cpu: (user + system) / 1e6 };
}

/** The figures of one name, in the order of the runs that have it. */
export const figuresOf = (runs: readonly Figures[], name: string): number[] => runs.flatMap((run) => run[name] ?? []);
