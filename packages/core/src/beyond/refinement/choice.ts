/**
 * Refinement of a committee, or of a single bank, with its choices made on held-out rows (deviation 31): the window and the
 * epochs by the first bank, and whether the refined filters are better than the plain ones at all. Held-out rows move
 * no prototype before all that is decided; and because the plain filters may have been made from them too, these are made anew
 * from the other rows before they are compared. Afterwards filters are refined again, with all rows, where that pays.
 */

import type { Backend, HeldRows, PieceResult, Plan, RowSource } from "../../backends/contract.ts";
import type { KeptBank } from "../../backends/kept-bank.ts";
import { RanksimError } from "../../errors.ts";
import { numbersBelow } from "../../kernels/rows.ts";
import type { FilterBank } from "../../kernels/shapes.ts";
import { copiesOf } from "../../matrix/shifted.ts";
import { areAllWhole, gatherMatrix } from "../../matrix/source.ts";
import type { Keeper } from "../../paper/train.ts";
import { drawWithoutReplacement, type RandomGenerator } from "../../random.ts";
import type { CommitteeBank } from "../committee/committee.ts";
import { holdOut } from "../held-out.ts";
import { isBetter, Judge, type Marks, sum } from "./judge.ts";
import {
  type OnPart,
  type PreparedBank,
  plainWithout,
  prepareBank,
  refineBank,
  type Schedule,
  scheduleFor,
  takeEpochs,
  windowsFor,
} from "./refine.ts";

/** What refinement did. */
export interface Refinement {
  /** Whether the refined filters were better on the held-out rows; if not, the filters are as they were. */
  readonly refined: boolean;
  /** Rows that judged. */
  readonly heldOutRows: number;
  /** Share of them given their class by filters that had not learned from them, before and after; equal if the filters are as they were. */
  readonly before: number;
  readonly after: number;
  /** What was chosen; absent if nothing was refined. */
  readonly window?: number;
  readonly epochs?: number;
}

interface RefineTask {
  readonly x: RowSource;
  /** The same in the back end, where it has them already; the caller's to release. */
  readonly held?: HeldRows | undefined;
  /** Class number of each row. */
  readonly codes: Uint32Array;
  /** How often each row comes: copy c of row r is row c * rows / copies + r. Copies are held out together and do not judge. */
  readonly copies: number;
  readonly classes: number;
  readonly banks: readonly CommitteeBank[];
  readonly distribution: Float64Array | undefined;
  /** Most epochs. */
  readonly epochs: number;
  /** The window, where it is not to be chosen. */
  readonly window: number | undefined;
  /** Random numbers for held-out rows and batches. */
  readonly generator: RandomGenerator;
  readonly backend: Backend;
  /** Where a bank is kept under a name as soon as it is done, if anywhere. */
  readonly keeperOf?: (name: string) => Keeper<PieceResult> | undefined;
  /** Called with the share of the work done and the epochs of the bank at work; may wait, or throw to stop. */
  readonly onEpoch: (share: number, epoch: number) => Promise<void>;
}

/** Share of each class that is held out, and the most rows in all: more would not make the choice much surer. */
const HELD_OUT = 0.2;
const MOST_HELD_OUT = 2500;
/** Filters are refined again, with the held-out rows, if these are more than this share of the rows: fewer add nothing to be measured. */
const FEW = 0.05;
/** Rows and epochs by which windows are compared. */
const TRIAL_ROWS = 20_000;
const TRIAL_EPOCHS = 2;
/** Standard errors by which refined filters have to be better than plain ones, and other choices than the usual ones. */
const LIKELY = 0.5;
const SURE = 2;
/** Prototypes are float64, filters x features; beyond this many numbers there is no room for them. */
const MOST_NUMBERS = 2 ** 27;

/** A committee after refinement, or as it was. */
export interface Refined {
  readonly banks: readonly CommitteeBank[];
  readonly report: Refinement;
  /** The refined bank in the back end, if it is the only one; the caller's to release, or to give to a model. */
  readonly keptBank?: KeptBank | undefined;
  /** Advice. It depends on the data and the parameters alone. */
  readonly notes: readonly string[];
}

/** The committee after refinement, or as it was, and what refinement did. */
export async function refineCommittee(task: RefineTask): Promise<Refined> {
  const { x, codes, copies, classes, banks, generator, backend, epochs: most } = task;
  const rows = codes.length / copies;
  const share = Math.min(HELD_OUT, MOST_HELD_OUT / rows);
  const { train, heldOut } = holdOut(codes.subarray(0, rows), classes, share, generator);
  const nothing = { refined: false, heldOutRows: heldOut.length, before: 0, after: 0 };
  const notes = banks.some(({ bank }) => bank.filters * bank.features > MOST_NUMBERS) ? [tooLarge(banks)] : [];
  if (heldOut.length === 0 || notes.length > 0) return { banks, report: nothing, notes };
  const schedule = await scheduleFor(x);
  const windows = task.window === undefined ? windowsFor(schedule, most) : [task.window];
  const again = heldOut.length > FEW * rows;
  const trials = windows.length > 1 ? windows.length * TRIAL_EPOCHS : 0;
  const steps = trials + (again ? 2 : 1) * banks.length * most;
  return withRows(task, schedule, steps, async (work) => {
    const judged = await backend.hold(await gatherMatrix(x, heldOut), work.plan);
    const judge = new Judge(judged, pick(codes, heldOut), classes);
    let keptBank: KeptBank | undefined;
    try {
      const learning = copiesOf(train, rows, copies);
      const first = await prepare(work, 0, learning);
      const plain = [await plainWithout(first)];
      const chosen = await choose(work, first, judge, windows);
      keptBank = chosen.keptBank;
      const refined = [{ ...banks[0], bank: chosen.keptBank.bank }];
      const others = banks.slice(1);
      for (const [j, made] of (await refineApart(work, "bank", others, learning, chosen)).entries()) {
        refined.push({ ...others[j], bank: made.banks[0] });
        plain.push({ bank: made.banks[1], filterClass: made.numbers });
      }
      const [was, is] = [await judge.each(plain), await judge.each(refined.slice(1), chosen.right)];
      const alone = banks.length === 1;
      const before = sum(alone ? was : await judge.together(plain)) / heldOut.length;
      const after = sum(alone ? is : await judge.together(refined)) / heldOut.length;
      // Banks by themselves show a gain more clearly than together, where few rows are left to be gained.
      if (after < before || !isBetter(is, was, LIKELY)) {
        return { banks, report: { ...nothing, before, after: before }, notes };
      }
      const every = again ? await refineApart(work, "again", banks, numbersBelow(codes.length), chosen) : [];
      for (const [b, made] of every.entries()) refined[b] = { ...banks[b], bank: made.banks[0] };
      const { window, epochs } = chosen;
      const report = { ...nothing, refined: true, before, after, window, epochs };
      if (again || banks.length > 1) return { banks: refined, report, notes };
      const result = { banks: refined, report, notes, keptBank };
      keptBank = undefined;
      return result;
    } finally {
      keptBank?.release();
      judge.release();
    }
  });
}

/** The committee refined with all rows by the window and the epochs that were chosen for other rows; as it was where that refined nothing. */
export async function refineAs({ refined, window, epochs }: Refinement, task: RefineTask): Promise<Refined> {
  const { x, codes, banks } = task;
  const report = { refined, heldOutRows: 0, before: 0, after: 0 };
  if (window === undefined || epochs === undefined) return { banks, report, notes: [] };
  return withRows(task, await scheduleFor(x), banks.length * task.epochs, async (work) => {
    const made = await refineApart(work, "again", banks, numbersBelow(codes.length), { window, epochs });
    const after = made.map((one, b) => ({ ...banks[b], bank: one.banks[0] }));
    return { banks: after, report: { ...report, window, epochs }, notes: [] };
  });
}

/** The work of one call, with its progress. */
interface Work {
  readonly task: RefineTask;
  readonly held: HeldRows;
  readonly plan: Plan;
  readonly isWhole: boolean;
  readonly schedule: Schedule;
  /** Epochs of all banks, those of trials among them, and those made. */
  readonly steps: number;
  done: number;
}

/** Does work on the rows while a back end has them. */
async function withRows<T>(
  task: RefineTask,
  schedule: Schedule,
  steps: number,
  use: (work: Work) => Promise<T>,
): Promise<T> {
  const { x, banks, backend, epochs } = task;
  const plan = { filters: banks[0].bank.filters, searches: epochs };
  const held = task.held ?? (await backend.hold(x, plan));
  try {
    return await use({ task, held, plan, isWhole: await areAllWhole(x), schedule, steps, done: 0 });
  } finally {
    if (!task.held) held.release();
  }
}

function tooLarge(banks: readonly CommitteeBank[]): string {
  const filters = Math.max(...banks.map(({ bank }) => bank.filters));
  const { features } = banks[0].bank;
  const most = Math.floor(MOST_NUMBERS / features);
  return `filters were not refined: ${filters} filters of ${features} features have more than ${MOST_NUMBERS} weights; refine at most ${most} filters a bank, or fewer features`;
}

const pick = (codes: Uint32Array, rows: Uint32Array): Uint32Array => rows.map((r) => codes[r]);

/** The first bank after some epochs, and the held-out rows it gets right. */
interface Chosen {
  readonly keptBank: KeptBank;
  readonly window: number;
  readonly epochs: number;
  readonly right: Marks;
}

/** Bank b with the rows it learns from. */
function prepare(
  { task, isWhole, schedule, held: all }: Work,
  b: number,
  rows: Uint32Array,
  held = all,
): Promise<PreparedBank> {
  const { bank, filterClass } = task.banks[b];
  return prepareBank(held, isWhole, bank, filterClass, task.distribution, task.codes, rows, schedule);
}

/** Window and epochs, chosen by the first bank; as they were kept, if they were. */
async function choose(work: Work, prepared: PreparedBank, judge: Judge, windows: readonly number[]): Promise<Chosen> {
  const { keeperOf, generator, epochs, banks } = work.task;
  const trial = windows.length > 1 ? sampleRows(prepared.rows, TRIAL_ROWS, generator) : undefined;
  const own = takeEpochs(generator, epochs);
  const keeper = keeperOf?.("first");
  const kept = await keeper?.recall();
  if (kept) {
    const [choice, done] = kept.numbers;
    if (!(choice < windows.length && done <= epochs)) throw otherRefinement("first");
    refuseOther(kept, banks[0], "first");
    const keptBank = judge.keep(kept.banks[0]);
    const right = await judge.rightBy(keptBank, prepared.start.filterClass);
    return { keptBank, window: windows[choice], epochs: done, right };
  }
  const choice = trial ? await chooseWindow(work, { ...prepared, rows: trial }, judge, windows, own) : 0;
  const chosen = await chooseEpochs(work, prepared, windows[choice], judge, own);
  await keeper?.keep(() => ({ banks: [chosen.keptBank.bank], numbers: Uint32Array.of(choice, chosen.epochs) }));
  return chosen;
}

/**
 * The smallest window, unless a wider one leaves more held-out rows right than chance explains: trials are short, and in
 * few epochs wide windows do better than in many.
 */
async function chooseWindow(
  work: Work,
  prepared: PreparedBank,
  judge: Judge,
  windows: readonly number[],
  generator: RandomGenerator,
): Promise<number> {
  let best: { choice: number; right: Marks } | undefined;
  for (const [choice, window] of windows.entries()) {
    const epochs = TRIAL_EPOCHS;
    await refine(work, prepared, generator.clone(), { window, epochs, until: epochs }, async (done, filters) => {
      if (done < epochs) return;
      const right = await judge.rightByStrongest({ ...prepared.start, bank: await filters() });
      if (!best || isBetter(right, best.right, SURE)) best = { choice, right };
    });
  }
  return best?.choice ?? 0;
}

/** How many epochs to make: all, unless an earlier part left more held-out rows right than chance explains. */
async function chooseEpochs(
  work: Work,
  prepared: PreparedBank,
  window: number,
  judge: Judge,
  generator: RandomGenerator,
): Promise<Chosen> {
  const { epochs } = work.task;
  let chosen = undefined as Chosen | undefined;
  const onPart: OnPart = async (done, filters) => {
    const keptBank = judge.keep(await filters());
    let spare: KeptBank | undefined = keptBank; // until it is chosen
    try {
      const right = await judge.rightBy(keptBank, prepared.start.filterClass);
      if (chosen && isBetter(chosen.right, right, SURE)) return;
      spare = chosen?.keptBank;
      chosen = { keptBank, window, epochs: done, right };
    } finally {
      spare?.release();
    }
  };
  try {
    await refine(work, prepared, generator, { window, epochs, until: epochs }, onPart);
  } catch (error) {
    chosen?.keptBank.release();
    throw error;
  }
  return chosen as Chosen; // set by the last part, if not before
}

function refine(
  work: Work,
  prepared: PreparedBank,
  generator: RandomGenerator,
  how: { readonly window: number; readonly epochs: number; readonly until: number },
  onPart: OnPart,
): Promise<void> {
  let epoch = 0;
  const onEpoch = () => work.task.onEpoch(++work.done / work.steps, ++epoch);
  return refineBank(prepared, work.schedule, { ...how, onEpoch, onPart }, generator);
}

/**
 * The banks after the chosen epochs, each apart; those to be judged with what they would be unrefined and the classes of these filters.
 * Each is found where it was kept, else made by one of the processes. As many are made at a time as there are processes, so that what is
 * done is kept before the next ones begin.
 */
async function refineApart(
  work: Work,
  what: "bank" | "again",
  banks: readonly CommitteeBank[],
  rows: Uint32Array,
  { window, epochs: until }: Pick<Chosen, "window" | "epochs">,
): Promise<PieceResult[]> {
  const { generator, keeperOf, backend, x, epochs, banks: every } = work.task;
  const names = banks.map((bank) => `${what}-${every.indexOf(bank)}`);
  const generators = banks.map(() => takeEpochs(generator, until));
  const done = work.done + banks.length * until;
  const make = async (place: number, own?: Backend): Promise<PieceResult> => {
    const held = own ? await own.hold(x, work.plan) : work.held;
    try {
      const prepared = await prepare(work, every.indexOf(banks[place]), rows, held);
      const plain = what === "bank" ? await plainWithout(prepared) : undefined;
      let bank: FilterBank | undefined;
      await refine(work, prepared, generators[place], { window, epochs, until }, async (reached, filters) => {
        if (reached === until) bank = await filters();
      });
      const refined = bank as FilterBank; // set by the last part
      return plain ? { banks: [refined, plain.bank], numbers: plain.filterClass } : { banks: [refined], numbers: NONE };
    } finally {
      if (own) held.release();
    }
  };
  const { processes } = backend;
  const all: PieceResult[] = [];
  for (let from = 0; from < banks.length; ) {
    const some = names.slice(from, from + (processes?.count ?? 1));
    const keepers = some.map((name) => keeperOf?.(name));
    const known: (PieceResult | undefined)[] = [];
    for (const keeper of keepers) known.push(await keeper?.recall());
    const open = [...some.keys()].filter((j) => !known[j]);
    const first = from;
    const made =
      processes && open.length > 0
        ? await processes.pieces(open.length, (j, own) => make(first + open[j], own))
        : await Promise.all(open.map((j) => make(first + j)));
    for (const [at, j] of open.entries()) {
      await keepers[j]?.keep(() => made[at]);
      known[j] = made[at];
    }
    for (const one of known) all.push(one as PieceResult);
    from += some.length;
  }
  for (const [j, one] of all.entries()) refuseOther(one, banks[j], names[j]);
  work.done = done;
  return all;
}

const NONE = new Uint32Array(0);

/** Refuses what was kept of a bank of another size. */
function refuseOther({ banks: [refined, plain], numbers }: PieceResult, { bank }: CommitteeBank, name: string): void {
  if (refined?.filters !== bank.filters || (plain && plain.filters !== numbers.length)) throw otherRefinement(name);
}

const otherRefinement = (name: string): RanksimError =>
  new RanksimError("bad-file", `checkpoint, refine-${name}: expected the bank of this training, found another`);

/** At most `most` of the rows, ascending. */
function sampleRows(rows: Uint32Array, most: number, generator: RandomGenerator): Uint32Array {
  if (rows.length <= most) return rows;
  return drawWithoutReplacement(generator, most, rows.length)
    .sort()
    .map((j) => rows[j]);
}
