/** The training of one bank (the paper's algorithm 1): initialise, spread, and say how it went. */

import type { Backend, TopFilters, Work } from "../backends/backend.ts";
import type { FilterBank, Groups } from "../kernels/shapes.ts";
import type { Matrix } from "../matrix/matrix.ts";
import type { RandomGenerator } from "../random.ts";
import { type FilterFunction, filterMaker } from "./filter-function.ts";
import { type Initialize, initialize } from "./initialize.ts";
import { type Spread, type Spreading, type Step, spreadMax, spreadWeighted } from "./spread.ts";

/** How one bank is trained. */
export interface TrainOptions {
  readonly initialize: Initialize;
  /** Rows of `x` to start from, in place of `initialize`. */
  readonly initialRows: Uint32Array | undefined;
  readonly spreading: Spreading;
  readonly iterations: number;
  readonly tolerance: number;
  readonly filterFunction: FilterFunction;
  readonly distribution: Float64Array | undefined;
  /** Whether the banks given to `onStep` may be kept; absent: they may. */
  readonly watched?: boolean;
  /** Called before the trained filters are searched for the strongest of each row; absent: they are not. */
  readonly beforeWinners?: () => Promise<void>;
}

/** A trained bank. */
export interface Trained {
  readonly bank: FilterBank;
  /** The rows of `x` each filter was made from. */
  readonly members: Groups;
  readonly steps: readonly TimedStep[];
  readonly converged: boolean;
  /** The strongest filter of each row, where it was asked for. */
  readonly winners: TopFilters | undefined;
  readonly work: Work;
}

/** An iteration and its wall-clock seconds. */
export interface TimedStep extends Step {
  readonly seconds: number;
}

/** Called after initialisation (no spread yet) and after each iteration; may wait, or throw to stop. */
export type OnStep = (bank: FilterBank, step: Step | undefined) => Promise<void>;

/** Trains `filters` filters on the rows of `x`. Whatever happens, nothing stays held. */
export async function trainBank(
  x: Matrix,
  filters: number,
  options: TrainOptions,
  generator: RandomGenerator,
  backend: Backend,
  onStep: OnStep,
): Promise<Trained> {
  const held = await backend.hold(x);
  try {
    const makeFilters = filterMaker(x, held, options.filterFunction, options.distribution);
    const how = options.initialRows ?? options.initialize;
    const start = await initialize(how, x, held, filters, makeFilters, generator);
    await onStep(start.bank, undefined);

    let reached: Omit<Spread, "step"> = { ...start, converged: options.spreading === "none" };
    const steps: TimedStep[] = [];
    let before = performance.now();
    const initialized = options.initialRows ? "rows" : options.initialize;
    const rounds =
      options.spreading === "max"
        ? spreadMax(start, held, x.rows, makeFilters, options)
        : options.spreading === "weightedAverage"
          ? spreadWeighted(start, held, x.rows, makeFilters, initialized, options)
          : [];
    for await (const round of rounds) {
      reached = round;
      const now = performance.now();
      steps.push({ ...round.step, seconds: (now - before) / 1000 });
      await onStep(round.bank, round.step);
      before = performance.now();
    }
    await options.beforeWinners?.();
    const { bank, members, converged, since } = reached;
    const winners = options.beforeWinners && (await held.topFilters(bank, 1, since));
    return { bank, members, steps, converged, winners, work: held.work() };
  } finally {
    held.release();
  }
}
