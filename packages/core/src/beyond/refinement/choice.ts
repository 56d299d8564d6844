/**
 * Refinement of a committee, or of a single bank, with its choices made on held-out rows (deviation 31): the window and the
 * epochs by the first bank, and whether the refined filters are better than the plain ones at all. Held-out rows move
 * no prototype before all that is decided; and because the plain filters may have been made from them too, these are made anew
 * from the other rows before they are compared. Afterwards filters are refined again, with all rows, where that pays.
 */

import type { Backend, HeldRows, Made, Plan, RowSource } from "../../backends/contract.ts";
import type { KeptBank } from "../../backends/kept-bank.ts";
import { RanksimError } from "../../errors.ts";
import { numbersBelow } from "../../kernels/rows.ts";
import type { FilterBank } from "../../kernels/shapes.ts";
import { copiesOf } from "../../matrix/shifted.ts";
import { areAllWhole, gatherMatrix } from "../../matrix/source.ts";
import { drawWithoutReplacement, type RandomGenerator } from "../../random.ts";
import type { CommitteeBank } from "../committee/committee.ts";
import { holdOut } from "../held-out.ts";
import { madeApart, type RefinementKeeper } from "./apart.ts";
import { isBetter, Judge, type Marks, sum } from "./judge.ts";
import {
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
  /** Where banks are kept as soon as they are done, if anywhere. */
  readonly keeper?: RefinementKeeper | undefined;
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
  const { x, codes, copies, classes, banks, generator, backend } = task;
  const rows = codes.length / copies;
  const share = Math.min(HELD_OUT, MOST_HELD_OUT / rows);
  const { train, heldOut } = holdOut(codes.subarray(0, rows), classes, share, generator);
  const nothing = { refined: false, heldOutRows: heldOut.length, before: 0, after: 0 };
  const notes = banks.some(({ bank }) => bank.filters * bank.features > MOST_NUMBERS) ? [tooLarge(banks)] : [];
  if (heldOut.length === 0 || notes.length > 0) return { banks, report: nothing, notes };
  const schedule = await scheduleFor(x);
  const plan = { filters: banks[0].bank.filters, searches: task.epochs };
  const held = await backend.hold(x, plan);
  let judge: Judge | undefined;
  let keptBank: KeptBank | undefined;
  try {
    const judged = await backend.hold(await gatherMatrix(x, heldOut), plan);
    judge = new Judge(judged, pick(codes, heldOut), classes);
    const again = heldOut.length > FEW * rows;
    const learning = copiesOf(train, rows, copies);
    const refiner = new Refiner(task, held, plan, await areAllWhole(x), schedule, learning, again);
    const first = await refiner.prepare(0, learning);
    const plain = [await plainWithout(first)];
    const chosen = await refiner.choose(first, judge);
    keptBank = chosen.keptBank;
    const refined = [{ ...banks[0], bank: chosen.keptBank.bank }];
    const others = banks.slice(1);
    for (const [j, made] of (await refiner.refineApart("bank", others, learning, chosen)).entries()) {
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
    const every = again ? await refiner.refineApart("again", banks, numbersBelow(codes.length), chosen) : [];
    for (const [b, made] of every.entries()) refined[b] = { ...banks[b], bank: made.banks[0] };
    const { window, epochs } = chosen;
    const report = { ...nothing, refined: true, before, after, window, epochs };
    if (again || banks.length > 1) return { banks: refined, report, notes };
    const result = { banks: refined, report, notes, keptBank };
    keptBank = undefined;
    return result;
  } finally {
    keptBank?.release();
    judge?.release();
    held.release();
  }
}

/** The committee refined with all rows by the window and the epochs that were chosen for other rows; as it was where that refined nothing. */
export async function refineAs({ refined, window, epochs }: Refinement, task: RefineTask): Promise<Refined> {
  const { x, codes, banks, backend } = task;
  const report = { refined, heldOutRows: 0, before: 0, after: 0 };
  if (window === undefined || epochs === undefined) return { banks, report, notes: [] };
  const plan = { filters: banks[0].bank.filters, searches: task.epochs };
  const all = numbersBelow(codes.length);
  const held = await backend.hold(x, plan);
  try {
    const once = { ...task, window };
    const refiner = new Refiner(once, held, plan, await areAllWhole(x), await scheduleFor(x), all, false);
    const made = await refiner.refineApart("again", banks, all, { window, epochs });
    const after = made.map((one, b) => ({ ...banks[b], bank: one.banks[0] }));
    return { banks: after, report: { ...report, window, epochs }, notes: [] };
  } finally {
    held.release();
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

/** The work of one call, with its progress. */
class Refiner {
  readonly #task: RefineTask;
  readonly #held: HeldRows;
  readonly #plan: Plan;
  readonly #whole: boolean;
  readonly #schedule: Schedule;
  readonly #learning: Uint32Array;
  readonly #windows: readonly number[];
  readonly #steps: number;
  #done = 0;

  constructor(
    task: RefineTask,
    held: HeldRows,
    plan: Plan,
    isWhole: boolean,
    schedule: Schedule,
    learning: Uint32Array,
    again: boolean,
  ) {
    this.#task = task;
    this.#held = held;
    this.#plan = plan;
    this.#whole = isWhole;
    this.#schedule = schedule;
    this.#learning = learning;
    this.#windows = task.window === undefined ? windowsFor(schedule, task.epochs) : [task.window];
    const trials = this.#windows.length > 1 ? this.#windows.length * TRIAL_EPOCHS : 0;
    this.#steps = trials + (again ? 2 : 1) * task.banks.length * task.epochs;
  }

  /** Bank b with the rows it learns from. */
  prepare(b: number, rows: Uint32Array, held = this.#held): Promise<PreparedBank> {
    const { banks, distribution, codes } = this.#task;
    const { bank, filterClass } = banks[b];
    return prepareBank(held, this.#whole, bank, filterClass, distribution, codes, rows, this.#schedule);
  }

  /** Window and epochs, chosen by the first bank; as they were kept, if they were. */
  async choose(prepared: PreparedBank, judge: Judge): Promise<Chosen> {
    const { keeper, generator, epochs } = this.#task;
    const trial = this.#windows.length > 1 ? sampleRows(this.#learning, TRIAL_ROWS, generator) : undefined;
    const own = takeEpochs(generator, epochs);
    const kept = await keeper?.recall("first");
    if (kept) {
      const [choice, done] = kept.numbers;
      if (!(choice < this.#windows.length && done <= epochs)) throw otherRefinement("first");
      refuseOther(kept, this.#task.banks[0], "first");
      const keptBank = judge.keep(kept.banks[0]);
      const right = await judge.rightBy(keptBank, prepared.start.filterClass);
      return { keptBank, window: this.#windows[choice], epochs: done, right };
    }
    const choice = trial ? await this.#chooseWindow(prepared, judge, trial, own) : 0;
    const chosen = await this.#chooseEpochs(prepared, this.#windows[choice], judge, own);
    if (await keeper?.isDue()) {
      await keeper?.keep("first", { banks: [chosen.keptBank.bank], numbers: Uint32Array.of(choice, chosen.epochs) });
    }
    return chosen;
  }

  /**
   * The smallest window, unless a wider one leaves more held-out rows right than chance explains: trials are short, and in
   * few epochs wide windows do better than in many.
   */
  async #chooseWindow(
    prepared: PreparedBank,
    judge: Judge,
    rows: Uint32Array,
    generator: RandomGenerator,
  ): Promise<number> {
    let best: { choice: number; right: Marks } | undefined;
    for (const [choice, window] of this.#windows.entries()) {
      const epochs = TRIAL_EPOCHS;
      await this.#refine({ ...prepared, rows }, generator.clone(), window, epochs, epochs, async (done, filters) => {
        if (done < epochs) return;
        const right = await judge.rightByStrongest({ ...prepared.start, bank: await filters() });
        if (!best || isBetter(right, best.right, SURE)) best = { choice, right };
      });
    }
    return best?.choice ?? 0;
  }

  /** How many epochs to make: all, unless an earlier part left more held-out rows right than chance explains. */
  async #chooseEpochs(
    prepared: PreparedBank,
    window: number,
    judge: Judge,
    generator: RandomGenerator,
  ): Promise<Chosen> {
    const { epochs } = this.#task;
    let chosen = undefined as Chosen | undefined;
    const judged = async (done: number, filters: () => Promise<FilterBank>): Promise<void> => {
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
      await this.#refine(prepared, generator, window, epochs, epochs, judged);
    } catch (error) {
      chosen?.keptBank.release();
      throw error;
    }
    return chosen as Chosen; // set by the last part, if not before
  }

  /** The banks after the chosen epochs, each apart; those to be judged with what they would be unrefined and the classes of these filters. */
  async refineApart(
    what: "bank" | "again",
    banks: readonly CommitteeBank[],
    rows: Uint32Array,
    { window, epochs: until }: Pick<Chosen, "window" | "epochs">,
  ): Promise<Made[]> {
    const isJudged = what === "bank";
    const { generator, keeper, backend, x } = this.#task;
    const numbers = banks.map((bank) => this.#task.banks.indexOf(bank));
    const generators = banks.map(() => takeEpochs(generator, until));
    const done = this.#done + banks.length * until;
    const made = await madeApart(
      numbers.map((b) => `${what}-${b}`),
      backend,
      keeper,
      async (place, own) => {
        const held = own ? await own.hold(x, this.#plan) : this.#held;
        try {
          const prepared = await this.prepare(numbers[place], rows, held);
          const plain = isJudged ? await plainWithout(prepared) : undefined;
          const bank = await this.#refined(prepared, generators[place], window, until);
          return { banks: plain ? [bank, plain.bank] : [bank], numbers: plain?.filterClass ?? new Uint32Array(0) };
        } finally {
          if (own) held.release();
        }
      },
    );
    for (const [j, one] of made.entries()) refuseOther(one, banks[j], `${what}-${numbers[j]}`);
    this.#done = done;
    return made;
  }

  async #refined(
    prepared: PreparedBank,
    generator: RandomGenerator,
    window: number,
    until: number,
  ): Promise<FilterBank> {
    let bank: FilterBank | undefined;
    await this.#refine(prepared, generator, window, this.#task.epochs, until, async (done, filters) => {
      if (done === until) bank = await filters();
    });
    return bank as FilterBank;
  }

  #refine(
    prepared: PreparedBank,
    generator: RandomGenerator,
    window: number,
    epochs: number,
    until: number,
    onPart: (done: number, filters: () => Promise<FilterBank>) => Promise<void>,
  ): Promise<void> {
    let epoch = 0;
    const onEpoch = () => this.#task.onEpoch(++this.#done / this.#steps, ++epoch);
    return refineBank(prepared, this.#schedule, { window, epochs, until, onEpoch, onPart }, generator);
  }
}

/** Refuses what was kept of a bank of another size. */
function refuseOther({ banks: [refined, plain], numbers }: Made, { bank }: CommitteeBank, name: string): void {
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
