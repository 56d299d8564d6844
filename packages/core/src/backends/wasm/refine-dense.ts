/**
 * Refinement on dense rows in memory: prototypes and weights stay in WebAssembly memory from lesson to lesson. Rows are
 * compared in one run of a kernel, prototypes moved and ranked in a second; between them this file sorts the rows by the
 * filters they move.
 */

import { commonNorm, weightsFor } from "../../kernels/rank.ts";
import type { Compared, DenseBank, FilterBank, Lesson, Listed, Prototypes } from "../../kernels/shapes.ts";
import type { Refining } from "../backend.ts";
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
import { describeFilters, type LoadedBank, loadBank, unloadBank } from "./loaded-bank.ts";
import type { Memory } from "./memory.ts";

/** Rows and filters a kernel takes at a time. */
const LESSON_PIECE = 128;
const PUPIL_PIECE = 8;

/** Puts prototypes beside the rows of `block`. */
export async function refineDense(engine: Engine, block: DenseBlock, start: Prototypes): Promise<Refining> {
  const { memory } = engine;
  const { filters, features, distribution } = start;
  const blocks: number[] = [];
  const keep = (at: number): number => {
    blocks.push(at);
    return at;
  };
  const context = new Context(memory);
  let loaded: LoadedBank | undefined;
  try {
    // Only the layout of this bank counts: its weights are replaced by the ranks of the prototypes.
    loaded = widest(await loadBank(engine, emptyBank(start), 0, filters, block));
    if (loaded.shifted) memory.f64(loaded.shifted, filters).fill(0); // ranks less n + 1 sum to nothing
    const values = keep(memory.take(filters * block.stride * 8));
    memory.f64(values, filters * block.stride).fill(0);
    for (let f = 0; f < filters; f++) {
      memory.f64(values + f * block.stride * 8, features).set(start.values.subarray(f * features, (f + 1) * features));
    }
    const bytes = weightsFor(0, features, distribution).BYTES_PER_ELEMENT;
    const ranks = keep(memory.take(filters * features * bytes));
    describeFilters(describeRows(context, block), loaded, block)
      .set([PROTOTYPES, values], [OUT_WEIGHTS, ranks], [OUT_BYTES, bytes])
      .set([FILTER_CLASS, keep(memory.put(start.filterClass))])
      .set([DISTRIBUTION, distribution ? keep(memory.put(distribution)) : 0]);
    const refining = new RefiningDense(engine, context, loaded, blocks, start, block);
    await refining.rankAll();
    return refining;
  } catch (error) {
    for (const at of blocks) memory.give(at);
    if (loaded) unloadBank(memory, loaded);
    context.release();
    throw error;
  }
}

class RefiningDense implements Refining {
  readonly #engine: Engine;
  readonly #context: Context;
  readonly #loaded: LoadedBank;
  readonly #blocks: number[];
  readonly #start: Prototypes;
  readonly #block: DenseBlock;
  /** A bound of all prototypes while they are whole numbers; infinite as soon as one need not be. */
  #largest: number;
  /** The filters listed for each row, in memory too. */
  #listed: Listed = { codes: new Uint32Array(0), filters: new Uint32Array(0), k: 1 };
  #lists = 0;
  #codes = 0;
  /** How often each prototype has been moved since it was ranked. */
  readonly #moves: Uint32Array;
  /** What lessons need, as large as the largest so far. */
  #room: Room;

  constructor(
    engine: Engine,
    context: Context,
    loaded: LoadedBank,
    blocks: number[],
    start: Prototypes,
    block: DenseBlock,
  ) {
    this.#engine = engine;
    this.#context = context;
    this.#loaded = loaded;
    this.#blocks = blocks;
    this.#start = start;
    this.#block = block;
    this.#largest = isWholeType(block.type) ? largestWhole(start.values) : Number.POSITIVE_INFINITY;
    this.#moves = new Uint32Array(start.filters);
    this.#room = takeRoom(engine.memory, 0, start.filters);
  }

  list(listed: Listed): void {
    const { memory } = this.#engine;
    this.#giveLists();
    this.#listed = listed;
    this.#lists = memory.put(listed.filters);
    this.#codes = memory.put(listed.codes);
    this.#context.set([CODES, this.#codes], [LISTS, this.#lists], [K, listed.k]);
  }

  async teach({ rows, step, window, patience }: Lesson): Promise<Compared> {
    const { memory } = this.#engine;
    const count = rows.length;
    if (count > this.#room.rows) {
      giveRoom(memory, this.#room);
      this.#room = takeRoom(memory, count, this.#start.filters);
    }
    const room = this.#room;
    const order = byFirstListed(this.#listed, rows, this.#start.filters);
    const list = memory.u32(room.list, count);
    for (let place = 0; place < count; place++) list[place] = rows[order[place]];
    this.#context.set([LIST, room.list], [OUT_ID, room.found], [OUT_VALUE, room.margin]);
    const scratch = this.#engine.ask("scratch_compare", this.#context.at);
    await this.#engine.run("compare_listed", count, LESSON_PIECE, scratch, this.#context);
    const found = memory.f64(room.margin, count);
    const pairs = memory.u32(room.found, count * 2);
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
  }

  values(): Float64Array {
    const { filters, features } = this.#start;
    const out = new Float64Array(filters * features);
    const at = this.#blocks[0];
    for (let f = 0; f < filters; f++) {
      out.set(this.#engine.memory.f64(at + f * this.#block.stride * 8, features), f * features);
    }
    return out;
  }

  bank(): FilterBank {
    const { filters, features, distribution } = this.#start;
    const bank = emptyBank(this.#start);
    const at = this.#blocks[1];
    const { memory } = this.#engine;
    const count = filters * features;
    if (distribution) bank.weights.set(memory.f64(at, count));
    else if (bank.weights instanceof Uint16Array) bank.weights.set(memory.u16(at, count));
    else bank.weights.set(memory.u32(at, count));
    return bank;
  }

  release(): void {
    if (this.#blocks.length === 0) return;
    const { memory } = this.#engine;
    for (const at of this.#blocks) memory.give(at);
    this.#blocks.length = 0;
    this.#giveLists();
    giveRoom(memory, this.#room);
    unloadBank(memory, this.#loaded);
    this.#context.release();
  }

  #giveLists(): void {
    this.#engine.memory.give(this.#lists);
    this.#engine.memory.give(this.#codes);
    this.#lists = 0;
    this.#codes = 0;
  }

  /** Ranks all prototypes as they are. */
  async rankAll(): Promise<void> {
    const { filters } = this.#start;
    const { memory } = this.#engine;
    memory.u32(this.#room.offsets, filters + 1).fill(0);
    const touched = memory.u32(this.#room.touched, filters);
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
    const { touched, offsets, moved, steps } = this.#room;
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
    const sum = rows * this.#block.largest;
    if (rows > 0) this.#largest += Number.isInteger(step) ? sum * Math.abs(step) : Number.POSITIVE_INFINITY;
    return this.#largest < 2 ** 53 && sum < 2 ** 31 && step > 0 && step < 2 ** 31 ? step : 0;
  }

  async #rank(touched: number, wholeStep: number): Promise<void> {
    const { room, context } = { room: this.#room, context: this.#context };
    context
      .set([TOUCHED, room.touched], [GROUP_OFFSETS, room.offsets], [STEP, wholeStep])
      .set([GROUP_ROWS, room.moved], [GROUP_WEIGHT, room.steps]);
    const scratch = this.#engine.ask("scratch_sums", context.at);
    await this.#engine.run("move_prototypes", touched, PUPIL_PIECE, scratch, context);
  }
}

/** Memory of a lesson. */
interface Room {
  readonly rows: number;
  readonly list: number;
  readonly found: number;
  readonly margin: number;
  readonly touched: number;
  readonly offsets: number;
  readonly moved: number;
  readonly steps: number;
}

function takeRoom(memory: Memory, rows: number, filters: number): Room {
  return {
    rows,
    list: memory.take(rows * 4),
    found: memory.take(rows * 8),
    margin: memory.take(rows * 8),
    touched: memory.take(filters * 4),
    offsets: memory.take((filters + 1) * 4),
    moved: memory.take(rows * 8),
    steps: memory.take(rows * 16),
  };
}

function giveRoom(memory: Memory, { rows, ...places }: Room): void {
  for (const at of Object.values(places)) memory.give(at);
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
