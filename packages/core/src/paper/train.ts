/** The training of one bank (the paper's algorithm 1): initialise, spread, and say how it went. */

import type { Backend, HeldBank, RowSource, Work } from "../backends/contract.ts";
import { KeptBank } from "../backends/kept-bank.ts";
import { assignmentOf } from "../bank/assignment.ts";
import type { FilterBank, Groups, Sum } from "../kernels/shapes.ts";
import type { RandomGenerator } from "../random.ts";
import { type FilterFunction, filterMaker } from "./filter-function.ts";
import { type Initialize, initialize, type Start } from "./initialize.ts";
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
  /** Whether to return the sums of the rows that filters were made from. */
  readonly keepSums: boolean;
  /** Called before the trained filters are searched for the strongest of each row; absent: they are not. */
  readonly beforeWinners?: () => Promise<void>;
  /** Whether the bank stays in the back end, with what searches have made of it there. */
  readonly keepBank?: boolean;
}

/** A trained bank. */
export interface Trained {
  readonly bank: FilterBank;
  /** The bank as the back end has it, where that was asked for: the caller's to use or to release. */
  readonly loaded: KeptBank | undefined;
  /** The rows of `x` each filter was made from. */
  readonly members: Groups;
  readonly steps: readonly TimedStep[];
  readonly converged: boolean;
  /** The strongest filter of each row, where it was asked for. */
  readonly winners: Uint32Array | undefined;
  /** The sums of the rows each filter was made from, where they were asked for. */
  readonly sums: readonly Sum[] | undefined;
  readonly work: Work;
}

/** An iteration and its wall-clock seconds. */
interface TimedStep extends Step {
  readonly seconds: number;
}

/** Called after initialisation (no spread yet) and after each iteration; may wait, or throw to stop. Filters are read if asked for. */
type OnStep = (filters: () => Promise<FilterBank>, step: Step | undefined) => Promise<void>;

/** What a bank in training has reached: enough to go on from. */
export interface BankState {
  readonly bank: FilterBank;
  /** The rows each filter was made from. */
  readonly members: Groups;
  /** The filter of each row in the last iteration; absent before the first. */
  readonly winners: Uint32Array | undefined;
  readonly steps: readonly Step[];
  readonly converged: boolean;
}

/** Where what was reached is kept, if it is time to, and found again. */
export interface Keeper<T> {
  recall(): Promise<T | undefined>;
  keep(reached: () => T | Promise<T>): Promise<void>;
}

/** Trains `filters` filters on the rows of `x`, or goes on from what was kept. Whatever happens, nothing stays held. */
export async function trainBank(
  x: RowSource,
  filters: number,
  options: TrainOptions,
  generator: RandomGenerator,
  backend: Backend,
  onStep: OnStep,
  keeper?: Keeper<BankState>,
): Promise<Trained> {
  const held = await backend.hold(x, { filters, searches: options.iterations });
  let start: Start | undefined;
  let reached: Spread | undefined;
  let handedOut: HeldBank | undefined;
  try {
    const maker = filterMaker(x, held, options.filterFunction, options.distribution);
    const how = options.initialRows ?? options.initialize;
    const known = await keeper?.recall();
    start = known
      ? { bank: held.load(known.bank), members: known.members }
      : await initialize(how, x, held, filters, maker, generator);
    const first = start;
    if (!known) {
      const { bank, members } = first;
      await keeper?.keep(async () => ({
        ...{ bank: await bank.read(), members, winners: undefined },
        ...{ steps: [], converged: false },
      }));
    }
    await onStep(() => first.bank.read(), known?.steps.at(-1));

    const steps: TimedStep[] = (known?.steps ?? []).map((step) => ({ ...step, seconds: 0 }));
    let before = performance.now();
    const initialized = options.initialRows ? "rows" : options.initialize;
    const resumed = {
      iterations: steps.length,
      before: known?.winners && assignmentOf(known.winners, filters, known.winners),
    };
    const rounds =
      known?.converged && options.spreading === "max"
        ? []
        : options.spreading === "max"
          ? spreadMax(start.bank, held, maker, options, resumed)
          : options.spreading === "weightedAverage"
            ? spreadWeighted(start, held, maker, initialized, options, resumed)
            : [];
    for await (const round of rounds) {
      reached = round;
      const now = performance.now();
      steps.push({ ...round.step, seconds: (now - before) / 1000 });
      await keeper?.keep(() => stateOf(round, steps));
      await onStep(() => round.bank.read(), round.step);
      before = performance.now();
    }
    await options.beforeWinners?.();
    const bank = reached?.bank ?? start.bank;
    const earlier = reached?.assignment ?? resumed.before;
    const winners = options.beforeWinners && (await held.assign(bank, earlier)).winners;
    const members = reached ? reached.members() : start.members;
    const sums = options.keepSums ? await held.sum(members) : undefined;
    const filtersRead = await bank.read();
    if (options.keepBank) handedOut = bank;
    return {
      bank: filtersRead,
      loaded: handedOut && new KeptBank(filtersRead, { held: handedOut, backend: held.backend }),
      members,
      steps,
      converged: reached?.converged ?? (known?.converged === true || options.spreading === "none"),
      winners,
      sums,
      work: held.work(),
    };
  } finally {
    for (const bank of [reached?.bank, start?.bank]) if (bank !== handedOut) bank?.release();
    held.release();
  }
}

async function stateOf(round: Spread, steps: readonly Step[]): Promise<BankState> {
  const { bank, members, assignment, converged } = round;
  return {
    bank: await bank.read(),
    members: members(),
    winners: assignment.winners,
    steps: steps.map(({ iteration, moved, empty }) => ({ iteration, moved, empty })),
    converged,
  };
}
