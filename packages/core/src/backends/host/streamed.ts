/**
 * Rows that do not fit in memory: they pass through a back end a block at a time, in order, and answers are put together. What a
 * back end is given is always in memory, so that each of them works on sources of any size. A round of
 * spreading is one pass: rows are added to the sums of their filters while their block is there.
 */

import { joinBanks } from "../../bank/bank.ts";
import { groupByCode, pickGroups, sliceGroups } from "../../bank/groups.ts";
import { RanksimError } from "../../errors.ts";
import { layersFeatures, pooledValues } from "../../kernels/patches.ts";
import { bytesOf, inMemory, sourceOf } from "../../kernels/rows.ts";
import type {
  DenseRows,
  FilterBank,
  Groups,
  Leaders,
  PatchLayer,
  Prototypes,
  RowSource,
  Rows,
  Sum,
  TopFilters,
  TopRows,
} from "../../kernels/shapes.ts";
import { mergeTopRows } from "../../kernels/top.ts";
import type { Assignment, Backend, HeldBank, HeldRows, HeldSums, Next, Refining, Work } from "../contract.ts";
import type { Turn } from "../turn.ts";
import { Counted } from "./counted.ts";
import { inFormOf, rankGivenSums } from "./given-sums.ts";
import { prefetch } from "./prefetch.ts";
import { compareWinners } from "./rows.ts";
import { noRows, UnwonFilters } from "./unwon.ts";

/** Where a source does not say what it may take. */
const ROOM = 2 ** 29;
/** Parts of the room: rows that are read whole at most; a block, of which the next is read while one is worked on; sums. */
const WHOLE = 1 / 4;
const BLOCK = 1 / 16;
const SUMS = 1 / 8;

/** Holds rows that have to be read: whole by `holdWhole` where they fit in their room; else they pass through `hold`. */
export async function holdStreamed(
  source: RowSource,
  hold: (rows: RowSource) => Promise<HeldRows>,
  holdWhole: (rows: RowSource) => Promise<HeldRows>,
): Promise<HeldRows> {
  const room = source.room ?? ROOM;
  if (fitsWhole(source)) {
    return holdWhole(sourceOf(await source.gather(Uint32Array.from({ length: source.rows }, (_, r) => r))));
  }
  // Filters are loaded by rows: by this one, for all blocks.
  const first = await hold(sourceOf(await source.gather(Uint32Array.of(0))));
  return new StreamedRows(source, first, hold, room);
}

/** Whether rows are in memory, or few enough to be read whole. */
export function fitsWhole(source: RowSource): boolean {
  return inMemory(source) !== undefined || bytesOf(source) <= (source.room ?? ROOM) * WHOLE;
}

class StreamedRows extends Counted implements HeldRows {
  readonly rows: number;
  readonly features: number;
  readonly backend: Backend;
  readonly turn: Turn;
  readonly #source: RowSource;
  readonly #first: HeldRows;
  readonly #hold: (rows: RowSource) => Promise<HeldRows>;
  readonly #room: number;
  #pairs = 0;
  #exact = 0;
  readonly #notes = new Set<string>();
  /** Of filters that rows were assigned to: what those without rows are relocated by. */
  readonly #unwon = new WeakMap<HeldBank, UnwonFilters>();

  constructor(source: RowSource, first: HeldRows, hold: (rows: RowSource) => Promise<HeldRows>, room: number) {
    super();
    this.rows = source.rows;
    this.features = source.features;
    this.backend = first.backend;
    this.turn = first.turn;
    this.#source = source;
    this.#first = first;
    this.#hold = hold;
    this.#room = room;
  }

  load(bank: FilterBank): HeldBank {
    return this.#first.load(bank);
  }

  async topFilters(bank: HeldBank, k: number, of?: Uint32Array): Promise<TopFilters> {
    const rows = of?.length ?? this.rows;
    const filter = new Uint32Array(rows * k);
    const response = new Float64Array(rows * k);
    const take = async (held: HeldRows, first: number): Promise<void> => {
      const top = await held.topFilters(bank, k);
      filter.set(top.filter, first * k);
      response.set(top.response, first * k);
    };
    await (of ? this.#eachListed(of, take) : this.#each(take));
    return { rows, k, filter, response };
  }

  async leaders(bank: HeldBank): Promise<Leaders> {
    const { rows } = this;
    const [filter, response, tied] = [new Uint32Array(rows), new Float64Array(rows), new Uint8Array(rows)];
    await this.#each(async (held, first) => {
      const found = await held.leaders(bank);
      filter.set(found.filter, first);
      response.set(found.response, first);
      tied.set(found.tied, first);
    });
    return { rows, filter, response, tied };
  }

  /** Rows that were looked at when they were assigned are not read again. */
  async topRows(bank: HeldBank, filters: Uint32Array, k: number): Promise<TopRows> {
    const top = noRows(filters.length, k);
    const known = this.#unwon.get(bank)?.strongest(filters, k);
    const look = async (held: HeldRows, first: number): Promise<void> =>
      mergeTopRows(top, await held.topRows(bank, filters, Math.min(k, held.rows)), first);
    if (known?.from !== 0) await this.#each(look, known?.from);
    if (known) mergeTopRows(top, known.top, 0);
    return top;
  }

  async assign(bank: HeldBank, before?: Assignment, next: Next = {}): Promise<Assignment> {
    const winners = new Uint32Array(this.rows);
    const all = Uint32Array.from({ length: bank.filters }, (_, f) => f);
    const adds = next.sums === true && this.#sumsAtATime() >= bank.filters;
    const unwon = next.rowsOfEmpty && new UnwonFilters(bank, next.rowsOfEmpty);
    let sums: Sum[] | undefined;
    await this.#each(async (held, first) => {
      const part = await held.assign(bank);
      try {
        winners.set(await part.winners(), first);
        if (adds) sums = await part.sums(all, sums).read();
        if (unwon) await unwon.look(held, part.wins, first);
      } finally {
        part.release();
      }
    });
    if (unwon) this.#unwon.set(bank, unwon);
    const earlier = (before as StreamedAssignment | undefined)?.found;
    return new StreamedAssignment(this, winners, bank.filters, earlier, sums);
  }

  assignment(winners: Uint32Array, filters: number): Assignment {
    return new StreamedAssignment(this, winners, filters, winners, undefined);
  }

  sum(groups: Groups, onto?: readonly Sum[]): HeldSums {
    const isFew = groups.rows.length * this.#rowBytes() <= this.#room * BLOCK;
    if (isFew) return new FewSums(this, groups, onto);
    return new PassedSums(this, groups.offsets.length - 1, (from, to) => {
      const own = sliceGroups(groups, from, to);
      return this.#addUp(own, onto?.slice(from, to));
    });
  }

  async pool(layers: readonly PatchLayer[]): Promise<DenseRows> {
    const features = layersFeatures(layers);
    const values = pooledValues(layers, this.rows * features);
    await this.#each(async (held, first) => values.set((await held.pool(layers)).values, first * features));
    return { form: "dense", rows: this.rows, features, values };
  }

  /** Updates take rows in an order of their own: they are gathered for each batch. */
  async refine(start: Prototypes): Promise<Refining> {
    const held = await this.#hold(this.#source);
    try {
      return await held.refine(start); // keeps the rows it needs
    } finally {
      this.#count(held);
      held.release();
    }
  }

  work(): Work {
    return { pairs: this.#pairs, exact: this.#exact, notes: [...this.#notes] };
  }

  /** Calls `work` with the listed rows (any order, each once) held by themselves. */
  withFew<T>(listed: Uint32Array, work: (held: HeldRows) => Promise<T>): Promise<T> {
    return this.use(async () => this.#held(await this.#source.gather(listed), work));
  }

  /** One filter a sum. */
  async rank(sums: readonly Sum[], distribution: Float64Array | undefined): Promise<HeldBank> {
    const ranked = await rankGivenSums(sums, this.features, distribution, this.#hold);
    return inFormOf(ranked, this.#first, this.#source.form === "dense" ? "dense" : "sparse");
  }

  /** One filter for each of `count` sums, as many in memory at a time as there is room for. */
  async rankInParts(
    count: number,
    read: (from: number, to: number) => Promise<readonly Sum[]>,
    distribution: Float64Array | undefined,
  ): Promise<HeldBank> {
    const most = this.#sumsAtATime();
    if (count <= most) return this.rank(await read(0, count), distribution);
    const parts: FilterBank[] = [];
    for (let from = 0; from < count; from += most) {
      const part = await this.rank(await read(from, Math.min(count, from + most)), distribution);
      parts.push(await part.read());
      part.release();
    }
    return this.load(joinBanks(parts));
  }

  protected free(): void {
    this.#first.release();
  }

  /** The sums of groups in one pass over all rows. */
  async #addUp({ offsets, rows, weight }: Groups, onto: readonly Sum[] | undefined): Promise<readonly Sum[]> {
    const count = offsets.length - 1;
    const next = offsets.slice(0, count); // the first row of each group that has not come by yet
    let sums = onto;
    await this.#each(async (held, first) => {
      const own = new Uint32Array(count + 1);
      const listed: number[] = [];
      const weights: number[] = [];
      for (let g = 0; g < count; g++) {
        for (; next[g] < offsets[g + 1] && rows[next[g]] < first + held.rows; next[g]++) {
          listed.push(rows[next[g]] - first);
          if (weight) weights.push(weight[next[g]]);
        }
        own[g + 1] = listed.length;
      }
      const groups = { offsets: own, rows: Uint32Array.from(listed) };
      sums = await held.sum(weight ? { ...groups, weight: Float64Array.from(weights) } : groups, sums).read();
    });
    return sums ?? [];
  }

  #rowBytes(): number {
    return bytesOf(this.#source) / Math.max(1, this.rows);
  }

  #sumsAtATime(): number {
    return Math.max(1, Math.floor((this.#room * SUMS) / (8 * this.features)));
  }

  /** Calls `visit` on one block after the other, held by the back end: on all rows, or on those before `end`. */
  #each(visit: (held: HeldRows, first: number) => Promise<void>, end = this.rows): Promise<void> {
    const source = end === this.rows ? this.#source : this.#source.slice(0, end);
    return this.use(async () => {
      let first = 0;
      for await (const block of prefetch(source.blocks(this.#room * BLOCK))) {
        await this.#held(block, (held) => visit(held, first));
        first += block.rows;
        this.turn.signal?.throwIfAborted();
      }
      if (first !== end) throw new RanksimError("bad-file", `expected ${end} rows from their source, found ${first}`);
    });
  }

  /** The same for listed rows, numbered by their places in the list. */
  #eachListed(listed: Uint32Array, visit: (held: HeldRows, first: number) => Promise<void>): Promise<void> {
    const most = Math.max(1, Math.floor((this.#room * BLOCK) / Math.max(1, this.#rowBytes())));
    return this.use(async () => {
      for (let from = 0; from < listed.length; from += most) {
        const rows = await this.#source.gather(listed.slice(from, from + most));
        await this.#held(rows, (held) => visit(held, from));
      }
    });
  }

  async #held<T>(rows: Rows, work: (held: HeldRows) => Promise<T>): Promise<T> {
    const held = await this.#hold(sourceOf(rows));
    try {
      return await work(held);
    } finally {
      this.#count(held);
      held.release();
    }
  }

  #count(held: HeldRows): void {
    const { pairs, exact, notes } = held.work();
    this.#pairs += pairs;
    this.#exact += exact;
    for (const note of notes) this.#notes.add(note);
  }
}

/** Which filter each row belongs to, and what the rows of each filter add up to where that was asked for. */
class StreamedAssignment implements Assignment {
  readonly moved: number;
  readonly wins: Uint32Array;
  readonly changed: Uint8Array;
  readonly found: Uint32Array;
  readonly #rows: StreamedRows;
  readonly #sums: readonly Sum[] | undefined;

  constructor(
    rows: StreamedRows,
    found: Uint32Array,
    filters: number,
    before: Uint32Array | undefined,
    sums: readonly Sum[] | undefined,
  ) {
    this.#rows = rows;
    this.found = found;
    this.#sums = sums;
    ({ wins: this.wins, moved: this.moved, changed: this.changed } = compareWinners(before, found, filters));
  }

  sums(filters: Uint32Array, onto?: readonly Sum[]): HeldSums {
    const known = onto ? undefined : this.#sums;
    if (!known) return this.#rows.sum(pickGroups(groupByCode(this.found, this.wins.length), filters), onto);
    return new PassedSums(this.#rows, filters.length, async (from, to) =>
      Array.from(filters.subarray(from, to), (f) => known[f]),
    );
  }

  async winners(): Promise<Uint32Array> {
    return this.found;
  }

  async members(): Promise<Groups> {
    return groupByCode(this.found, this.wins.length);
  }

  release(): void {}
}

/** Sums that are read some at a time. */
class PassedSums implements HeldSums {
  readonly #rows: StreamedRows;
  readonly #count: number;
  readonly #read: (from: number, to: number) => Promise<readonly Sum[]>;

  constructor(rows: StreamedRows, count: number, read: (from: number, to: number) => Promise<readonly Sum[]>) {
    this.#rows = rows;
    this.#count = count;
    this.#read = read;
  }

  rank(distribution?: Float64Array): Promise<HeldBank> {
    return this.#rows.rankInParts(this.#count, this.#read, distribution);
  }

  async read(): Promise<Sum[]> {
    return [...(await this.#read(0, this.#count))];
  }

  release(): void {}
}

/** Sums of rows few enough to be gathered. */
class FewSums implements HeldSums {
  readonly #rows: StreamedRows;
  readonly #groups: Groups;
  readonly #onto: readonly Sum[] | undefined;

  constructor(rows: StreamedRows, groups: Groups, onto: readonly Sum[] | undefined) {
    this.#rows = rows;
    this.#groups = groups;
    this.#onto = onto;
  }

  rank(distribution?: Float64Array): Promise<HeldBank> {
    return this.#asked((sums) => sums.rank(distribution));
  }

  read(): Promise<Sum[]> {
    return this.#asked((sums) => sums.read());
  }

  release(): void {}

  /** Each row is read once, in ascending order. */
  #asked<T>(ask: (sums: HeldSums) => Promise<T>): Promise<T> {
    const listed = this.#groups.rows.slice().sort();
    const distinct = listed.filter((r, j) => j === 0 || r !== listed[j - 1]);
    const place = new Map(Array.from(distinct, (r, j) => [r, j]));
    const groups = { ...this.#groups, rows: this.#groups.rows.map((r) => place.get(r) as number) };
    return this.#rows.withFew(distinct, (held) => ask(held.sum(groups, this.#onto)));
  }
}
