/**
 * Refinement on rows of either form: prototypes and their ranks stay in WebAssembly memory from update to update. Rows are
 * compared in one run of a kernel, prototypes moved and ranked in a second; between them this file sorts the rows by the
 * filters they move. Rows that do not stay in memory are brought in for each run.
 */

import { commonNorm, weightsFor } from "../../../kernels/rank.ts";
import { sourceOf } from "../../../kernels/rows.ts";
import type {
  Compared,
  DenseBank,
  FilterBank,
  Listed,
  Prototypes,
  RefineBatch,
  RowSource,
} from "../../../kernels/shapes.ts";
import type { HeldBank, Refining } from "../../contract.ts";
import { Counted, type Shared } from "../../host/counted.ts";
import { OutOfMemory } from "../../host/out-of-memory.ts";
import { isDue } from "../../turn.ts";
import { Context, type Engine, type Kernel, type Query } from "../engine/engine.ts";
import { borrowed, type Lease, leased } from "../engine/memory.ts";
import { byFirstListed, largestWhole, sortByFilter } from "./batch.ts";
import * as slot from "./refine-slots.ts";
import type { Block, WasmRows } from "./rows.ts";

/** Rows and filters a kernel takes at a time. */
const BATCH_PIECE = 128;
const PROTOTYPE_PIECE = 8;

/** What is different for dense and for sparse rows. */
export interface RefineForm<B> {
  readonly compare: Kernel;
  readonly compareScratch: Query;
  readonly move: Kernel;
  readonly moveScratch: Query;
  /** Numbers from one prototype to the next. */
  readonly stride: number;
  /** Copies rows that do not stay in memory into memory of the lease. */
  place(lease: Lease, rows: RowSource): Promise<B>;
  /** Tells a context about the filters; once. */
  describeFilters(context: Context): void;
  /** Tells a context where rows are. */
  describeRows(context: Context, block: B): void;
  /** No value of the rows is larger, and all are whole; infinite where rows cannot be summed up before a step is taken. */
  largest(block: B): number;
}

type Shape = Pick<Prototypes, "filters" | "features" | "rule" | "distribution">;

/** Rows to learn from. */
export interface RefineRows<B extends Block> {
  readonly source: RowSource;
  /** All of them, if they are in memory. */
  readonly whole: Shared<WasmRows<B>> | undefined;
  /** Otherwise: so many are brought in at a time. */
  readonly most: number;
}

/** Puts prototypes beside rows. `formIn` lays the weights out as the rows need them, in memory of the lease; `own` makes the back end's handle of a bank. */
export function refineRows<B extends Block>(
  engine: Engine,
  rows: RefineRows<B>,
  start: Prototypes,
  formIn: (lease: Lease) => Promise<RefineForm<B>>,
  own: (bank: FilterBank) => HeldBank,
): Promise<Refining> {
  const { memory } = engine;
  const { filters, features, distribution } = start;
  return leased(memory, async (lease) => {
    const form = await formIn(lease);
    const at = {
      values: lease.take(filters * form.stride * 8),
      ranks: lease.take(filters * features * bytesOfRank(start)),
    };
    const context = new Context(memory, lease)
      .set([slot.PROTOTYPES, at.values], [slot.RANKS, at.ranks], [slot.RANK_BYTES, bytesOfRank(start)])
      .set([slot.FILTER_CLASS, lease.put(start.filterClass)], [slot.BY_FACTORS, start.rule === "multiply" ? 1 : 0])
      .set([slot.DRAWN_FROM, distribution ? lease.put(distribution) : 0]);
    form.describeFilters(context);
    const { rule } = start;
    const shape = { filters, features, rule, distribution }; // the values are in memory, the caller's are not kept
    const refining = new WasmRefining(engine, rows, form, shape, lease, context, at, own);
    await refining.begin(start.values);
    rows.whole?.keep(); // until the refinement is released
    return refining;
  });
}

class WasmRefining<B extends Block> extends Counted implements Refining {
  readonly #engine: Engine;
  readonly #rows: RefineRows<B>;
  readonly #form: RefineForm<B>;
  readonly #start: Shape;
  readonly #lease: Lease;
  readonly #context: Context;
  readonly #at: { readonly values: number; readonly ranks: number };
  readonly #own: (bank: FilterBank) => HeldBank;
  /** A bound of all prototypes while they are whole numbers; infinite as soon as one need not be. */
  #largest = 0;
  #listed: Listed = { codes: new Uint32Array(0), filters: new Uint32Array(0), k: 1 };
  /** The same in memory, beside rows that stay there and where there is room. */
  #lists: { readonly lease: Lease; readonly filters: number; readonly codes: number } | undefined;
  /** How often each prototype has been moved since it was ranked. */
  #moves: Uint32Array;

  constructor(
    engine: Engine,
    rows: RefineRows<B>,
    form: RefineForm<B>,
    start: Shape,
    lease: Lease,
    context: Context,
    at: { readonly values: number; readonly ranks: number },
    own: (bank: FilterBank) => HeldBank,
  ) {
    super();
    this.#engine = engine;
    this.#rows = rows;
    this.#form = form;
    this.#start = start;
    this.#lease = lease;
    this.#context = context;
    this.#at = at;
    this.#own = own;
    this.#moves = new Uint32Array(start.filters).fill(1); // none of them is ranked yet
  }

  /** Copies the prototypes into memory and ranks them. */
  async begin(values: Float64Array): Promise<void> {
    const { memory, turn } = this.#engine;
    const { filters, features } = this.#start;
    const { stride } = this.#form;
    for (let f = 0; f < filters; f++) {
      const own = values.subarray(f * features, (f + 1) * features);
      const room = memory.f64(this.#at.values + f * stride * 8, stride);
      room.set(own);
      room.fill(0, features);
      this.#largest = Math.max(this.#largest, largestWhole(own));
      if (isDue()) await turn.pause();
    }
    await this.update({ rows: new Uint32Array(0), step: 0, window: 0, patience: 1 });
  }

  list(listed: Listed): void {
    this.#listed = listed;
    this.#dropLists();
    if (!this.#rows.whole) return;
    const lease = this.#engine.memory.lease();
    try {
      this.#lists = { lease, filters: lease.put(listed.filters), codes: lease.put(listed.codes) };
    } catch (error) {
      lease.release();
      if (!(error instanceof OutOfMemory)) throw error;
    }
  }

  update(batch: RefineBatch): Promise<Compared> {
    return this.use(async () => {
      const { rows, window } = batch;
      const count = rows.length;
      const own = new Uint32Array(count);
      const compared = { own, rival: new Uint32Array(count), margin: new Float64Array(count) };
      if (count > 0) await this.#inParts(0, count, (from, to) => this.#compare(rows, from, to, compared));
      const learning = below(compared.margin, window);
      await this.#inParts(0, learning.length, (from, to) =>
        this.#move(batch, compared, learning.subarray(from, to), to === learning.length),
      );
      return compared;
    });
  }

  values(room?: Float64Array): Promise<Float64Array> {
    return this.use(async () => {
      const { memory, turn } = this.#engine;
      const { filters, features } = this.#start;
      const out = room ?? new Float64Array(filters * features);
      for (let f = 0; f < filters; f++) {
        out.set(memory.f64(this.#at.values + f * this.#form.stride * 8, features), f * features);
        if (isDue()) await turn.pause();
      }
      return out;
    });
  }

  bank(): Promise<HeldBank> {
    return this.use(async () => {
      const { memory, turn } = this.#engine;
      const { filters, features } = this.#start;
      const bank = emptyBank(this.#start);
      const bytes = bytesOfRank(this.#start);
      for (let f = 0; f < filters; f++) {
        bank.weights.set(memory.weights(this.#at.ranks + f * features * bytes, features, bytes), f * features);
        if (isDue()) await turn.pause();
      }
      return this.#own(bank);
    });
  }

  #dropLists(): void {
    this.#lists?.lease.release();
    this.#lists = undefined;
  }

  protected free(): void {
    this.#dropLists();
    this.#lease.release();
    this.#rows.whole?.release();
  }

  /** Does work on the positions [from, to) of a batch: at once, or in order in as many parts as there is room for. */
  async #inParts(from: number, to: number, work: (from: number, to: number) => Promise<void>): Promise<void> {
    const most = this.#rows.whole ? Number.POSITIVE_INFINITY : this.#rows.most;
    let middle = Math.min(to, from + most);
    if (middle === to) {
      try {
        return await work(from, to);
      } catch (error) {
        // A part takes all its memory before it changes anything.
        if (!(error instanceof OutOfMemory)) throw error;
        if (this.#lists) {
          this.#dropLists(); // they are put in again for each part
          return this.#inParts(from, to, work);
        }
        if (to - from < 2) throw error;
        middle = (from + to) >>> 1;
      }
    }
    await this.#inParts(from, middle, work);
    await this.#inParts(middle, to, work);
  }

  /** Calls `work` with the listed rows in memory, and their positions there. */
  async #withRows(
    rows: Uint32Array,
    work: (lease: Lease, block: B | undefined, positions: Uint32Array) => Promise<void>,
  ): Promise<void> {
    const { whole, source } = this.#rows;
    const bring = async (lease: Lease): Promise<B> => this.#form.place(lease, sourceOf(await source.gather(rows)));
    return borrowed(this.#engine.memory, async (lease) => {
      const block = whole?.value.block ?? (rows.length > 0 ? await bring(lease) : undefined);
      if (block) this.#form.describeRows(this.#context, block);
      await work(lease, block, whole ? rows : rows.map((_, j) => j));
    });
  }

  /** Compares the rows [from, to) of a batch with the filters listed for them. */
  #compare(rows: Uint32Array, from: number, to: number, compared: Compared): Promise<void> {
    const { memory } = this.#engine;
    const order = byFirstListed(this.#listed, rows.subarray(from, to), this.#start.filters);
    const count = to - from;
    return this.#withRows(rows.subarray(from, to), async (lease, _, positions) => {
      const row = lease.take(count * 4);
      const found = lease.take(count * 8);
      const margins = lease.take(count * 8);
      const lists = this.#lists ?? putLists(lease, this.#listed, order, rows.subarray(from));
      inOrder(positions, order, memory.u32(row, count));
      this.#context
        .set([slot.BATCH_ROWS, row], [slot.LIST_PLACES, this.#lists ? row : 0], [slot.LISTED, this.#listed.k])
        .set([slot.LISTS, lists.filters], [slot.CODES, lists.codes], [slot.FOUND, found], [slot.MARGINS, margins]);
      await this.#run(this.#form.compare, this.#form.compareScratch, count, BATCH_PIECE);
      takeCompared(memory.u32(found, count * 2), memory.f64(margins, count), order, from, compared);
    });
  }

  /** Lets the rows at some positions of a batch move prototypes; after the last of them, ranks those moved often enough. */
  #move(batch: RefineBatch, compared: Compared, learning: Uint32Array, isLast: boolean): Promise<void> {
    const count = learning.length;
    return this.#withRows(
      learning.map((j) => batch.rows[j]),
      async (lease, block, positions) => {
        const moves = this.#moves.slice();
        const sorted = sortByFilter(batch, compared, learning, positions, moves, isLast);
        if (sorted.touched.length === 0) return;
        const wholeStep = block ? this.#wholeStep(count, batch.step, this.#form.largest(block)) : 0;
        this.#context
          .set(
            [slot.TOUCHED, lease.put(sorted.touched)],
            [slot.MOVE_OFFSETS, lease.put(sorted.offsets)],
            [slot.STEP, wholeStep],
          )
          .set([slot.MOVE_ROWS, lease.put(sorted.rows)], [slot.MOVE_STEPS, lease.put(sorted.steps)]);
        await this.#run(this.#form.move, this.#form.moveScratch, sorted.touched.length, PROTOTYPE_PIECE);
        this.#moves = moves;
      },
    );
  }

  /** The step if all rows can be summed before it is applied, because nothing has to be rounded; else 0. */
  #wholeStep(rows: number, step: number, largest: number): number {
    const sum = rows * largest;
    if (rows > 0) this.#largest += Number.isInteger(step) ? sum * Math.abs(step) : Number.POSITIVE_INFINITY;
    const isExact = this.#start.rule === "add" && this.#largest < 2 ** 53 && sum < 2 ** 31;
    return isExact && step > 0 && step < 2 ** 31 ? step : 0;
  }

  async #run(kernel: Kernel, scratch: Query, items: number, piece: number): Promise<void> {
    const bytes = this.#engine.ask(scratch, this.#context.at);
    await this.#engine.run(kernel, items, piece, bytes, this.#context);
  }
}

// Loops over rows are functions of their own: an engine that finds a loop busy compiles all of the function around it.

function inOrder(
  positions: Uint32Array,
  order: Uint32Array,
  out: Uint32Array, // out: the position at each place
): void {
  for (let place = 0; place < order.length; place++) out[place] = positions[order[place]];
}

/** How the rows at the places of `order`, counted from `from`, compared. */
function takeCompared(
  pairs: Uint32Array,
  margins: Float64Array,
  order: Uint32Array,
  from: number,
  { own, rival, margin }: Compared, // out
): void {
  for (let place = 0; place < order.length; place++) {
    const j = from + order[place];
    own[j] = pairs[2 * place];
    rival[j] = pairs[2 * place + 1];
    margin[j] = margins[place];
  }
}

/** What is listed for the rows at the positions of `order`, in memory of the lease. */
function putLists(
  lease: Lease,
  { filters, codes, k }: Listed,
  order: Uint32Array,
  rows: Uint32Array,
): { readonly filters: number; readonly codes: number } {
  const listed = new Uint32Array(order.length * k);
  const code = new Uint32Array(order.length);
  for (let place = 0; place < order.length; place++) {
    const r = rows[order[place]];
    for (let e = 0; e < k; e++) listed[place * k + e] = filters[r * k + e];
    code[place] = codes[r];
  }
  return { filters: lease.put(listed), codes: lease.put(code) };
}

/** Positions of the margins below the window, ascending. */
function below(margin: Float64Array, window: number): Uint32Array {
  const found = new Uint32Array(margin.length);
  let count = 0;
  for (let j = 0; j < margin.length; j++) if (margin[j] < window) found[count++] = j;
  return found.subarray(0, count);
}

function bytesOfRank({ features, distribution }: Shape): number {
  return weightsFor(0, features, distribution).BYTES_PER_ELEMENT;
}

/** A bank with room for the filters. */
export function emptyBank({ filters, features, distribution }: Shape): DenseBank {
  const norm = new Float64Array(filters).fill(commonNorm(features, distribution));
  return { form: "dense", filters, features, weights: weightsFor(filters * features, features, distribution), norm };
}
