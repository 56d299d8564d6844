/**
 * Refinement on dense rows in memory: prototypes and weights stay in WebAssembly memory from lesson to lesson. Rows are
 * compared in one run of a kernel, prototypes moved and ranked in a second; between them this file sorts the rows by the
 * filters they move.
 */

import { commonNorm, weightsFor } from "../../kernels/rank.ts";
import type { Compared, DenseBank, FilterBank, Lesson, Listed, Prototypes } from "../../kernels/shapes.ts";
import type { HeldBank, Refining } from "../contract.ts";
import { Counted } from "../counted.ts";
import {
  CODES,
  DISTRIBUTION,
  FILTER_CLASS,
  GROUP_OFFSETS,
  GROUP_ROWS,
  GROUP_WEIGHT,
  K,
  LIST,
  LISTS,
  OUT_BYTES,
  OUT_ID,
  OUT_VALUE,
  OUT_WEIGHTS,
  PROTOTYPES,
  STEP,
  TOUCHED,
} from "./context.ts";
import { type DenseBlock, describeRows, isWholeType } from "./dense-rows.ts";
import { Context, type Engine } from "./engine.ts";
import { describeFilters, type LoadedBank, loadBank } from "./loaded-bank.ts";
import { type Lease, leased, type Memory, type Shared } from "./memory.ts";

/** Rows and filters a kernel takes at a time. */
const LESSON_PIECE = 128;
const PUPIL_PIECE = 8;

/** Puts prototypes beside rows, and keeps these for as long as they are taught. `own` makes the back end's handle of a bank. */
export function refineDense(
  engine: Engine,
  rows: Shared<DenseBlock>,
  start: Prototypes,
  own: (bank: FilterBank) => HeldBank,
): Promise<RefiningDense> {
  const { memory } = engine;
  const block = rows.value;
  const { filters, features, distribution } = start;
  return leased(memory, async (lease) => {
    // Only the layout of this bank counts: its weights are replaced by the ranks of the prototypes.
    const loaded = widest(await loadBank(engine, lease, emptyBank(start), 0, filters, block));
    if (loaded.shifted) memory.f64(loaded.shifted, filters).fill(0); // ranks less n + 1 sum to nothing
    const values = lease.take(filters * block.stride * 8);
    memory.f64(values, filters * block.stride).fill(0);
    for (let f = 0; f < filters; f++) {
      memory.f64(values + f * block.stride * 8, features).set(start.values.subarray(f * features, (f + 1) * features));
    }
    const bytes = weightsFor(0, features, distribution).BYTES_PER_ELEMENT;
    const ranks = lease.take(filters * features * bytes);
    const context = new Context(memory, lease);
    describeFilters(describeRows(context, block), loaded, block)
      .set([PROTOTYPES, values], [OUT_WEIGHTS, ranks], [OUT_BYTES, bytes])
      .set([FILTER_CLASS, lease.put(start.filterClass)])
      .set([DISTRIBUTION, distribution ? lease.put(distribution) : 0]);
    const refining = new RefiningDense(engine, lease, context, { values, ranks }, start, rows, own);
    try {
      await refining.rankAll();
      return refining;
    } catch (error) {
      refining.release();
      throw error;
    }
  });
}

class RefiningDense extends Counted implements Refining {
  readonly #engine: Engine;
  readonly #lease: Lease;
  readonly #context: Context;
  readonly #at: { readonly values: number; readonly ranks: number };
  readonly #start: Prototypes;
  readonly #rows: Shared<DenseBlock>;
  readonly #own: (bank: FilterBank) => HeldBank;
  /** A bound of all prototypes while they are whole numbers; infinite as soon as one need not be. */
  #largest: number;
  /** The filters listed for each row, in memory too. */
  #listed: Listed = { codes: new Uint32Array(0), filters: new Uint32Array(0), k: 1 };
  #lists: Lease;
  /** How often each prototype has been moved since it was ranked. */
  readonly #moves: Uint32Array;
  /** What lessons need, as large as the largest so far. */
  #places: Places;

  constructor(
    engine: Engine,
    lease: Lease,
    context: Context,
    at: { readonly values: number; readonly ranks: number },
    start: Prototypes,
    rows: Shared<DenseBlock>,
    own: (bank: FilterBank) => HeldBank,
  ) {
    super();
    this.#engine = engine;
    this.#lease = lease;
    this.#context = context;
    this.#at = at;
    this.#start = start;
    this.#rows = rows;
    this.#own = own;
    this.#largest = isWholeType(rows.value.type) ? largestWhole(start.values) : Number.POSITIVE_INFINITY;
    this.#moves = new Uint32Array(start.filters);
    this.#lists = engine.memory.lease();
    this.#places = takePlaces(engine.memory, 0, start.filters);
    rows.keep(); // last: nothing may fail between this and the first use
  }

  list(listed: Listed): void {
    const lists = this.#engine.memory.lease();
    const context = this.#context;
    try {
      context.set([CODES, lists.put(listed.codes)], [LISTS, lists.put(listed.filters)], [K, listed.k]);
    } catch (error) {
      lists.release();
      throw error;
    }
    this.#lists.release();
    this.#lists = lists;
    this.#listed = listed;
  }

  teach({ rows, step, window, patience }: Lesson): Promise<Compared> {
    return this.use(async () => {
      const { memory } = this.#engine;
      const count = rows.length;
      if (count > this.#places.rows) {
        const larger = takePlaces(memory, count, this.#start.filters);
        this.#places.lease.release();
        this.#places = larger;
      }
      const places = this.#places;
      const order = byFirstListed(this.#listed, rows, this.#start.filters);
      const list = memory.u32(places.list, count);
      for (let place = 0; place < count; place++) list[place] = rows[order[place]];
      this.#context.set([LIST, places.list], [OUT_ID, places.found], [OUT_VALUE, places.margin]);
      const scratch = this.#engine.ask("scratch_compare", this.#context.at);
      await this.#engine.run("compare_listed", count, LESSON_PIECE, scratch, this.#context);
      const found = memory.f64(places.margin, count);
      const pairs = memory.u32(places.found, count * 2);
      const margin = new Float64Array(count);
      const own = new Uint32Array(count);
      const rival = new Uint32Array(count);
      for (let place = 0; place < count; place++) {
        const j = order[place];
        margin[j] = found[place];
        own[j] = pairs[2 * place];
        rival[j] = pairs[2 * place + 1];
      }
      const compared = { own, rival, margin };
      const touched = this.#sortByFilter(rows, compared, step, window, patience);
      await this.#rank(touched, this.#wholeStep(rows.length, step));
      return compared;
    });
  }

  values(): Promise<Float64Array> {
    return this.use(async () => {
      const { filters, features } = this.#start;
      const out = new Float64Array(filters * features);
      for (let f = 0; f < filters; f++) {
        const at = this.#at.values + f * this.#rows.value.stride * 8;
        out.set(this.#engine.memory.f64(at, features), f * features);
      }
      return out;
    });
  }

  bank(): Promise<HeldBank> {
    return this.use(async () => {
      const { filters, features, distribution } = this.#start;
      const bank = emptyBank(this.#start);
      const { memory } = this.#engine;
      const count = filters * features;
      if (distribution) bank.weights.set(memory.f64(this.#at.ranks, count));
      else if (bank.weights instanceof Uint16Array) bank.weights.set(memory.u16(this.#at.ranks, count));
      else bank.weights.set(memory.u32(this.#at.ranks, count));
      return this.#own(bank);
    });
  }

  protected free(): void {
    this.#lists.release();
    this.#places.lease.release();
    this.#lease.release();
    this.#rows.release();
  }

  /** Ranks all prototypes as they are. */
  async rankAll(): Promise<void> {
    const { filters } = this.#start;
    const { memory } = this.#engine;
    memory.u32(this.#places.offsets, filters + 1).fill(0);
    const touched = memory.u32(this.#places.touched, filters);
    for (let f = 0; f < filters; f++) touched[f] = 2 * f + 1;
    await this.#rank(filters, 0);
  }

  /**
   * Lists, for each filter that moves, its rows in order with the step they make. Returns how many filters move; the least
   * significant bit beside a filter's number says whether it is to be ranked.
   */
  #sortByFilter(
    rows: Uint32Array,
    { own, rival, margin }: Compared,
    step: number,
    window: number,
    patience: number,
  ): number {
    const { memory } = this.#engine;
    const { filters } = this.#start;
    const { touched, offsets, moved, steps } = this.#places;
    const now = new Uint32Array(filters);
    for (let j = 0; j < rows.length; j++) {
      if (!(margin[j] < window)) continue;
      now[own[j]]++;
      now[rival[j]]++;
    }
    const list = memory.u32(touched, filters);
    const starts = memory.u32(offsets, filters + 1);
    let count = 0;
    let total = 0;
    for (let f = 0; f < filters; f++) {
      const moves = this.#moves[f] + now[f];
      const ranked = moves > 0 && moves >= patience;
      this.#moves[f] = ranked ? 0 : moves;
      if (now[f] === 0 && !ranked) continue;
      list[count] = 2 * f + (ranked ? 1 : 0);
      starts[count++] = total;
      total += now[f];
      now[f] = total - now[f]; // from here on the place of its next row
    }
    starts[count] = total;
    const rowOf = memory.u32(moved, rows.length * 2);
    const stepOf = memory.f64(steps, rows.length * 2);
    for (let j = 0; j < rows.length; j++) {
      if (!(margin[j] < window)) continue;
      for (let side = 0; side < 2; side++) {
        const at = now[side === 0 ? own[j] : rival[j]]++;
        rowOf[at] = rows[j];
        stepOf[at] = side === 0 ? step : -step;
      }
    }
    return count;
  }

  /** The step if a lesson of so many rows can be summed up before it is taken, because nothing has to be rounded; else 0. */
  #wholeStep(rows: number, step: number): number {
    const sum = rows * this.#rows.value.largest;
    if (rows > 0) this.#largest += Number.isInteger(step) ? sum * Math.abs(step) : Number.POSITIVE_INFINITY;
    return this.#largest < 2 ** 53 && sum < 2 ** 31 && step > 0 && step < 2 ** 31 ? step : 0;
  }

  async #rank(touched: number, wholeStep: number): Promise<void> {
    const [places, context] = [this.#places, this.#context];
    context
      .set([TOUCHED, places.touched], [GROUP_OFFSETS, places.offsets], [STEP, wholeStep])
      .set([GROUP_ROWS, places.moved], [GROUP_WEIGHT, places.steps]);
    const scratch = this.#engine.ask("scratch_sums", context.at);
    await this.#engine.run("move_prototypes", touched, PUPIL_PIECE, scratch, context);
  }
}

/** Memory of a lesson. */
interface Places {
  readonly lease: Lease;
  readonly rows: number;
  readonly list: number;
  readonly found: number;
  readonly margin: number;
  readonly touched: number;
  readonly offsets: number;
  readonly moved: number;
  readonly steps: number;
}

function takePlaces(memory: Memory, rows: number, filters: number): Places {
  const lease = memory.lease();
  try {
    return {
      lease,
      rows,
      list: lease.take(rows * 4),
      found: lease.take(rows * 8),
      margin: lease.take(rows * 8),
      touched: lease.take(filters * 4),
      offsets: lease.take((filters + 1) * 4),
      moved: lease.take(rows * 8),
      steps: lease.take(rows * 16),
    };
  } catch (error) {
    lease.release();
    throw error;
  }
}

/** The largest absolute value of whole numbers; infinite if one is not. */
function largestWhole(values: Float64Array): number {
  let largest = 0;
  for (const value of values) {
    if (!Number.isInteger(value)) return Number.POSITIVE_INFINITY;
    if (Math.abs(value) > largest) largest = Math.abs(value);
  }
  return largest;
}

/** Positions of the rows by the first filter listed for them: neighbours then find the weights they need in the cache. */
function byFirstListed({ filters: lists, k }: Listed, rows: Uint32Array, filters: number): Uint32Array {
  const next = new Uint32Array(filters + 1);
  for (let j = 0; j < rows.length; j++) next[lists[rows[j] * k] + 1]++;
  for (let f = 0; f < filters; f++) next[f + 1] += next[f];
  const order = new Uint32Array(rows.length);
  for (let j = 0; j < rows.length; j++) order[next[lists[rows[j] * k]]++] = j;
  return order;
}

function emptyBank({ filters, features, distribution }: Prototypes): DenseBank {
  const norm = new Float64Array(filters).fill(commonNorm(features, distribution));
  return { form: "dense", filters, features, weights: weightsFor(filters * features, features, distribution), norm };
}

/** The bank with the facts of the widest weights that ranks can take: 2 to 2n, all different. */
function widest(loaded: LoadedBank): LoadedBank {
  const n = loaded.features;
  return { ...loaded, largest: n + 1, longest: Math.sqrt((n * (n * n - 1)) / 3) };
}
