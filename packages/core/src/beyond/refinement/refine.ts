/**
 * Refinement of one bank (deviation 31): learning vector quantisation on rank filters, epoch by epoch. What one update does
 * is defined by the kernel; here rows get the filters they are compared with, batches are drawn, steps shrink, and prototypes
 * are averaged over the ends of epochs. Which of the candidates stays is decided by `choice.ts`.
 */

import type { HeldRows, Prototypes, RefineRule, RowSource, TopFilters, Turn } from "../../backends/contract.ts";
import { groupByCode, pickGroups, singletons } from "../../bank/groups.ts";
import { looksOf } from "../../kernels/measure.ts";
import { pickFilters } from "../../kernels/pick-filters.ts";
import { numbersBelow, sourceOf } from "../../kernels/rows.ts";
import type { FilterBank, Sum } from "../../kernels/shapes.ts";
import { expandFilter } from "../../kernels/top.ts";
import { drawBelow, type RandomGenerator } from "../../random.ts";
import type { CommitteeBank } from "../committee/committee.ts";
import { inChunks, positiveQuantile } from "./long-arrays.ts";
import { RowState } from "./row-state.ts";

/** How rows move prototypes. All numbers were chosen on held-out rows of Fashion-MNIST, KMNIST and 20 Newsgroups (lab, REFINEMENT.md). */
export interface Schedule {
  readonly rule: RefineRule;
  /** Windows to choose from, see `windowsFor`. */
  readonly windows: readonly number[];
  /** The first step, and what it loses from epoch to epoch: with more than 12 epochs less, so that the last is much the same. */
  readonly step: number;
  readonly loss: number;
  /** Rows of a batch, about; and at most this many for each filter, or one update would move it too far. */
  readonly batch: number;
  readonly batchPerFilter: number;
  /** Moves after which a prototype is ranked again. */
  readonly patience: number;
  /** Strongest filters of a row that are looked at, at least, and how many of them at most it is compared with: own, others. */
  readonly strongest: number;
  readonly own: number;
  readonly rivals: number;
  /** Epochs until filters are searched again, and those at the end without a search, which would come too late; for 12 epochs (`searchesFor`). */
  readonly refresh: number;
  readonly late: number;
  /** A row that leads by this many windows is skipped until the next search. */
  readonly skip: number;
}

/** Prototypes are means times this, so that steps on whole numbers are whole and sums exact. */
const UNIT = 1024;

/** Epochs that windows and losses are meant for. */
const USUAL_EPOCHS = 12;
/** With more epochs than this filters are searched again twice as often. */
const MANY_EPOCHS = 24;
/** Share by which the window narrows over the epochs. */
const NARROWING = 0.5;

/** Dense data: rows are added to prototypes. */
export const ADDING: Schedule = {
  rule: "add",
  windows: [0.01, 0.02, 0.04],
  step: 0.05 * UNIT,
  loss: 0.2,
  batch: 1000,
  batchPerFilter: 4,
  patience: 8,
  strongest: 6,
  own: 3,
  rivals: 5,
  refresh: 4,
  late: 2,
  skip: 4,
};

/** Sparse data: features scale prototypes, so that what no row has stays tied. */
export const MULTIPLYING: Schedule = {
  ...ADDING,
  rule: "multiply",
  windows: [0.05, 0.1],
  step: 0.3,
  loss: 0.1,
  batch: 500,
  batchPerFilter: 500,
  refresh: 1,
  late: 0,
};

/** Where a class has many filters, more of the strongest are looked at, or no other class would be among them. */
const CLASS_SHARE = 8;
const DEEPEST = 32;

/** Data with at least this share of zeros are treated as sparse, whatever form they are stored in. */
const SPARSE_ZEROS = 0.95;
/** Rows that are looked at to tell. */
const LOOKED_AT = 1000;
/** Smallest sum added to the means of sparse data: this share of the means that are not zero lie below it. */
const SMALL_MEANS = 0.1;

/** The schedule that suits the data. */
export async function scheduleFor(x: RowSource): Promise<Schedule> {
  const every = Math.max(1, Math.floor(x.rows / LOOKED_AT));
  const some = Uint32Array.from({ length: Math.ceil(x.rows / every) }, (_, j) => j * every);
  const { filled, negative } = looksOf(await x.gather(some));
  return !negative && filled <= (1 - SPARSE_ZEROS) * some.length * x.features ? MULTIPLYING : ADDING;
}

/** The windows to choose from: more epochs get wider windows, to avoid overfitting. No row leads by more than 1. */
export function windowsFor({ windows }: Schedule, epochs: number): number[] {
  const wider = Math.sqrt(Math.max(1, epochs / USUAL_EPOCHS));
  return windows.map((window) => Math.min(1, window * wider));
}

/**
 * Epochs until filters are searched again, and those at the end without a search. Of fewer than 12 epochs they are the same share: with
 * 6 epochs filters would else be searched once, before any is refined, and rows compared with those to the end.
 */
export function searchesFor(
  { refresh, late }: Schedule,
  epochs: number,
): { readonly refresh: number; readonly late: number } {
  const share = Math.min(1, epochs / USUAL_EPOCHS);
  const often = epochs > MANY_EPOCHS ? refresh / 2 : refresh;
  return { refresh: Math.ceil(often * share), late: Math.floor(late * share) };
}

/** A bank about to be refined, and the rows it may learn from. */
export interface PreparedBank {
  readonly held: HeldRows;
  readonly start: Prototypes;
  /** The strongest filters of each row of `held`, by the filters as they were. */
  readonly top: TopFilters;
  /** Class number of each row of `held`. */
  readonly codes: Uint32Array;
  /** Rows of `held` to learn from, ascending. */
  readonly rows: Uint32Array;
  /** The filters that some of these rows are nearest to: the others were made from held-out rows alone. */
  readonly learned: Uint32Array;
  /** Used by one refinement at a time, as are the arrays, which the next one reuses. */
  readonly state: RowState;
  readonly rooms: { sum?: Float64Array; latest?: Float64Array };
}

/** Searches a bank's filters for all rows and makes its prototypes from the rows to learn from. */
export async function prepareBank(
  held: HeldRows,
  whole: boolean, // whether all values are whole numbers
  bank: FilterBank,
  filterClass: Uint32Array,
  distribution: Float64Array | undefined,
  codes: Uint32Array,
  rows: Uint32Array,
  schedule: Schedule,
): Promise<PreparedBank> {
  const perClass = bank.filters / new Set(filterClass).size;
  const deep = Math.min(DEEPEST, Math.ceil(perClass / CLASS_SHARE));
  const loaded = held.load(bank);
  const k = Math.min(Math.max(schedule.strongest, deep), bank.filters);
  const top = await held.topFilters(loaded, k).finally(() => loaded.release());
  const { values, learned } = await means(held, bank, filterClass, top, codes, rows);
  if (schedule.rule === "multiply") await raise(values, held.turn);
  else await scaleByUnit(values, whole, held.turn);
  const { filters, features } = bank;
  const start = { filters, features, values, filterClass, rule: schedule.rule, distribution };
  const state = new RowState(codes, filterClass, schedule.own, schedule.rivals);
  return { held, start, top, codes, rows, learned, state, rooms: {} };
}

/** The mean of the rows whose strongest filter of their own class it is; a filter without any: its weights, as large. */
async function means(
  held: HeldRows,
  bank: FilterBank,
  filterClass: Uint32Array,
  top: TopFilters,
  codes: Uint32Array,
  rows: Uint32Array,
): Promise<{ values: Float64Array; learned: Uint32Array }> {
  const [m, n] = [bank.filters, bank.features];
  const winners = ownWinners(top, filterClass, codes, rows, held.rows, m);
  const groups = groupByCode(winners, m + 1);
  const learned = Uint32Array.from({ length: m }, (_, f) => f).filter((f) => groups.offsets[f] < groups.offsets[f + 1]);
  const values = new Float64Array(m * n);
  let total = 0;
  const added = await held.sum(pickGroups(groups, learned));
  for (let j = 0; j < added.length; j++) {
    const f = learned[j];
    const count = groups.offsets[f + 1] - groups.offsets[f];
    total = takeMean(added[j], count, values.subarray(f * n, (f + 1) * n), total);
    await held.turn.pause();
  }
  const size = total === 0 ? 1 : total / learned.length;
  for (let f = 0; f < m; f++) {
    if (groups.offsets[f] !== groups.offsets[f + 1]) continue;
    takeWeights(bank, f, size, values.subarray(f * n, (f + 1) * n));
    await held.turn.pause();
  }
  return { values, learned };
}

// Loops over values are functions of their own: an engine that finds a loop busy compiles all of the function around it.

/** The strongest filter of its own class of each of the listed rows, among those that were found; of all others `none`. */
function ownWinners(
  { filter, k }: TopFilters,
  filterClass: Uint32Array,
  codes: Uint32Array,
  listed: Uint32Array,
  rows: number,
  none: number,
): Uint32Array {
  const winners = new Uint32Array(rows).fill(none);
  for (let j = 0; j < listed.length; j++) {
    const r = listed[j];
    for (let e = r * k; e < (r + 1) * k && winners[r] === none; e++) {
      if (filterClass[filter[e]] === codes[r]) winners[r] = filter[e];
    }
  }
  return winners;
}

/** Writes the mean of `count` rows with the given sum. Returns `total` plus the absolute values of the mean. */
function takeMean({ indices, values }: Sum, count: number, out: Float64Array, total: number): number {
  if (indices) for (let e = 0; e < indices.length; e++) out[indices[e]] = values[e];
  else out.set(values);
  for (let i = 0; i < out.length; i++) {
    out[i] /= count;
    total += Math.abs(out[i]);
  }
  return total;
}

/** Writes the weights of a filter, scaled to the given size. */
function takeWeights(bank: FilterBank, f: number, size: number, out: Float64Array): void {
  expandFilter(bank, f, out);
  for (let i = 0; i < out.length; i++) out[i] *= size / bank.norm[f];
}

/** The plain filters made again from the training rows alone: what refinement has to beat. */
export async function plainWithout({ start, learned, held }: PreparedBank): Promise<CommitteeBank> {
  const all = await rank(start.values, start, held);
  if (learned.length === 0) return { bank: all, filterClass: start.filterClass };
  return { bank: pickFilters(all, learned), filterClass: learned.map((f) => start.filterClass[f]) };
}

function scaleByUnit(values: Float64Array, whole: boolean, turn: Turn): Promise<void> {
  return inChunks(values.length, turn, (from, to) => {
    for (let i = from; i < to; i++) values[i] = whole ? Math.round(values[i] * UNIT) : values[i] * UNIT;
  });
}

/** Adds a small number to all, so that factors can move them: what was zero stays tied. */
async function raise(values: Float64Array, turn: Turn): Promise<void> {
  const small = (await positiveQuantile(values, SMALL_MEANS, turn)) ?? 1;
  await inChunks(values.length, turn, (from, to) => {
    for (let i = from; i < to; i++) values[i] = Math.max(0, values[i]) + small;
  });
}

/** Called after each part of the epochs with its last epoch and a maker of the filters averaged over it. */
export type OnPart = (epochs: number, filters: () => Promise<FilterBank>) => Promise<void>;

/** How a bank is refined. */
interface RefineSettings {
  readonly window: number;
  /** In three parts, over each of which prototypes are averaged. */
  readonly epochs: number;
  /** Stops after this many epochs. */
  readonly until: number;
  readonly onEpoch: () => Promise<void>;
  readonly onPart: OnPart;
}

/** Refines a bank. Whatever happens, only the rows of `prepared` stay held. */
export async function refineBank(
  prepared: PreparedBank,
  schedule: Schedule,
  settings: RefineSettings,
  generator: RandomGenerator,
): Promise<void> {
  const { held, start, rows, state, rooms } = prepared;
  const refining = await held.refine(start);
  /** The strongest filters of all rows, or of some, by the filters as they now are. */
  const strongest = async (of?: Uint32Array): Promise<TopFilters> => {
    const bank = await refining.bank();
    return held.topFilters(bank, prepared.top.k, of).finally(() => bank.release());
  };
  const part = Math.ceil(settings.epochs / 3);
  const size = Math.min(schedule.batch, schedule.batchPerFilter * start.filters);
  try {
    let sum: Float64Array | undefined; // of the prototypes after each epoch of this part
    let step = schedule.step;
    const left = 1 - schedule.loss * Math.min(1, USUAL_EPOCHS / settings.epochs);
    const { refresh, late } = searchesFor(schedule, settings.epochs);
    for (let epoch = 0; epoch < settings.until; epoch++) {
      const searching = epoch % refresh === 0 && epoch + late < settings.epochs;
      if (epoch === 0) state.list(prepared.top, rows);
      else if (searching && epoch % (2 * refresh) === 0) {
        state.list(await strongest(), rows);
      } else if (searching) {
        // Every other time rows that lead by far are skipped.
        const some = state.active(rows, schedule.skip * settings.window);
        state.list(await strongest(some), some, true);
      }
      if (epoch === 0 || searching) refining.list(state.listed);
      const active = state.active(rows, schedule.skip * settings.window);
      const window = settings.window * (1 - (NARROWING * epoch) / settings.epochs);
      for (const batch of batchesOf(active, size, generator)) {
        const rounded = schedule.rule === "add" ? Math.max(1, Math.round(step)) : step;
        const { patience } = schedule;
        state.note(batch, await refining.update({ rows: batch, step: rounded, window, patience }));
      }
      await refining.update({ rows: NO_ROWS, step: 0, window, patience: 1 }); // ranks the prototypes that moved since they were last ranked
      step *= left;
      if (sum) {
        rooms.latest = await refining.values(rooms.latest);
        await join(sum, rooms.latest, schedule.rule, held.turn);
      } else {
        sum = await refining.values(rooms.sum);
        rooms.sum = sum;
      }
      await settings.onEpoch();
      if ((epoch + 1) % part === 0 || epoch + 1 === settings.epochs) {
        const values = sum;
        sum = undefined;
        await settings.onPart(epoch + 1, () => rank(values, start, held));
      }
    }
  } finally {
    refining.release();
  }
}

const NO_ROWS = new Uint32Array(0);

/** The rank of a sum is that of the mean; by factors, that of a product is that of the geometric mean. */
function join(sum: Float64Array, values: Float64Array, rule: RefineRule, turn: Turn): Promise<void> {
  return inChunks(sum.length, turn, (from, to) => {
    if (rule === "add") for (let i = from; i < to; i++) sum[i] += values[i];
    else for (let i = from; i < to; i++) sum[i] = Math.min(1e200, Math.max(1e-200, sum[i] * values[i]));
  });
}

async function rank(
  values: Float64Array,
  { filters, features, distribution }: Prototypes,
  { backend, turn }: HeldRows,
): Promise<FilterBank> {
  const held = await backend.hold(sourceOf({ form: "dense", rows: filters, features, values }), { turn });
  try {
    const bank = await held.rank(singletons(numbersBelow(filters)), distribution);
    return await bank.read().finally(() => bank.release());
  } finally {
    held.release();
  }
}

/** A generator for a refinement of `epochs` epochs; the given one continues after their draws. */
export function takeEpochs(generator: RandomGenerator, epochs: number): RandomGenerator {
  const own = generator.clone();
  for (let epoch = 0; epoch < epochs; epoch++) drawSalt(generator);
  return own;
}

/** The one random number of an epoch. */
const drawSalt = (generator: RandomGenerator): number => drawBelow(generator, 2 ** 31);

/** Deals rows out to batches by a hash of their number, so that rows of a batch ascend and nothing has to be shuffled. */
function* batchesOf(rows: Uint32Array, size: number, generator: RandomGenerator): Generator<Uint32Array> {
  const batches = Math.max(1, Math.round(rows.length / size));
  const salt = drawSalt(generator);
  const batchOf = new Uint32Array(rows.length);
  for (let j = 0; j < rows.length; j++) batchOf[j] = Math.floor((mixed(rows[j] ^ salt) / 2 ** 32) * batches);
  const { rows: dealt, offsets } = groupByCode(batchOf, batches);
  for (let j = 0; j < dealt.length; j++) dealt[j] = rows[dealt[j]]; // from a position to the row there
  for (let b = 0; b < batches; b++) yield dealt.subarray(offsets[b], offsets[b + 1]);
}

/** A 32-bit number whose bits all depend on all bits of the given one (the finaliser of MurmurHash3). */
function mixed(bits: number): number {
  let h = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
