/**
 * What rows of all CPU back ends have in common: assignments are made of searches, sums are added up here. Searches, the
 * ranks of sums and refinement, for which a back end has kernels of its own, are left to it.
 */

import { meanFilter } from "../../bank/bank.ts";
import { countCodes, groupByCode, pickGroups } from "../../bank/groups.ts";
import { RanksimError } from "../../errors.ts";
import { layersFeatures, type Pooled, pooledValues, poolLayers } from "../../kernels/patches.ts";
import { rankerFor } from "../../kernels/rank-sums.ts";
import { inMemory, sourceOf } from "../../kernels/rows.ts";
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
  Weights,
} from "../../kernels/shapes.ts";
import { Adder } from "../../kernels/sums.ts";
import { leadersOf, pickAnswers } from "../../kernels/top.ts";
import type { Assignment, Backend, HeldBank, HeldRows, HeldSums, Refining, Work } from "../contract.ts";
import { isDue, type Turn } from "../turn.ts";
import { type Home, HostBank } from "./bank.ts";
import { Counted } from "./counted.ts";
import { rankGivenSums } from "./given-sums.ts";

/** What is already known when a bank is a changed copy of an earlier one. It may save work and never alters an answer. */
export interface Since {
  /** The strongest filter of each row (k = 1) in the earlier bank. */
  readonly winners: TopFilters;
  /** 1 for each filter whose weights may differ from the earlier bank's, 0 for those that are the same. */
  readonly changed: Uint8Array;
}

/** What is asked about the strongest filters; other entries of an answer are unspecified. */
export interface Wanted {
  readonly since?: Since | undefined;
  /** Only the strongest, and whether it is alone. */
  readonly leading?: boolean;
  /** Only these rows, ascending. */
  readonly rows?: Uint32Array;
}

export abstract class HostRows<B extends HostBank> extends Counted implements HeldRows {
  readonly rows: number;
  readonly features: number;
  readonly backend: Backend;
  protected readonly source: RowSource;
  /** Shared by all rows and banks of the back end. */
  protected readonly home: Home;
  readonly turn: Turn;
  protected pairs = 0;
  protected exact = 0;
  protected readonly notes = new Set<string>();

  constructor(source: RowSource, backend: Backend, turn: Turn, home: Home) {
    super();
    this.home = home;
    this.rows = source.rows;
    this.features = source.features;
    this.source = source;
    this.backend = backend;
    this.turn = turn;
  }

  /** The k strongest filters of all rows. */
  protected abstract search(bank: B, k: number, wanted: Wanted): Promise<TopFilters>;
  /** The k strongest rows of the listed filters, by response over the row's divisor. */
  protected abstract searchRows(bank: B, filters: Uint32Array, k: number, divisor: Float64Array): Promise<TopRows>;
  /** One filter for each group: the rank, or the draw from the distribution, of the sum of its rows. */
  protected abstract rankSums(groups: Groups, distribution: Float64Array | undefined): Promise<FilterBank>;
  /** A bank of the back end; `isShared`: its weights belong to others, too. */
  protected abstract bankOf(bank: FilterBank, isShared: boolean): B;
  protected abstract refineRows(start: Prototypes): Promise<Refining>;

  /** Does a piece of work; a back end whose memory may end does it again with less. */
  protected attempt<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

  load(bank: FilterBank, isGiven = false): HeldBank {
    return this.bankOf(bank, !isGiven);
  }

  roomFor<W extends Weights>(like: W, count: number): W {
    return this.home.spares.take(like, count);
  }

  async topFilters(bank: HeldBank, k: number, of?: Uint32Array): Promise<TopFilters> {
    if (!of) return this.#search(bank, k, {});
    // Where few rows are asked about, or many filters, they are searched apart: answers of all rows would take more room.
    if (k > MOST_LISTED || of.length * FEW_LISTED < this.rows) return this.#searchApart(bank, k, of);
    return pickAnswers(await this.#search(bank, k, { rows: of }), of);
  }

  async leaders(bank: HeldBank): Promise<Leaders> {
    return leadersOf(await this.#search(bank, Math.min(2, bank.filters), { leading: true }));
  }

  async topRows(held: HeldBank, filters: Uint32Array, k: number): Promise<TopRows> {
    const bank = this.checked(held);
    return this.use(() =>
      bank.use(async () => {
        const room = (count: number): Float64Array => this.home.spares.take(NO_WEIGHTS, count);
        const mean = bank.mean(() => this.bankOf(meanFilter(bank.host, room), false));
        const { response } = await this.#search(mean, 1, {});
        this.pairs += this.rows * filters.length;
        // Deviation 9: a row that responds to no filter, or negatively, prefers none of them.
        const divisor = response.map((value) => Math.max(0, value));
        return this.attempt(() => this.searchRows(bank, filters, k, divisor));
      }),
    );
  }

  async assign(held: HeldBank, before?: Assignment): Promise<Assignment> {
    const bank = this.checked(held);
    const earlier = before as HostAssignment | undefined;
    const changed = earlier && bank.changedSince(earlier.version);
    const since = changed && { winners: earlier.top, changed };
    const top = await this.#search(bank, 1, { since });
    return new HostAssignment(this, top, bank, earlier?.top.filter);
  }

  assignment(winners: Uint32Array, filters: number): Assignment {
    const top = { rows: this.rows, k: 1, filter: winners, response: new Float64Array(0) };
    return new HostAssignment(this, top, { filters, version: UNKNOWN_BANK }, winners);
  }

  sum(groups: Groups, onto?: readonly Sum[]): HeldSums {
    return new HostSums(this, groups, onto);
  }

  async pool(layers: readonly PatchLayer[]): Promise<DenseRows> {
    if (this.source.form !== "dense" || this.source.valueBytes !== 1) {
      throw new RanksimError("bad-matrix", "expected images as dense rows of bytes");
    }
    const features = layersFeatures(layers);
    const values = pooledValues(layers, this.rows * features);
    await this.use(() => this.poolRows(layers, features, values));
    return { form: "dense", rows: this.rows, features, values };
  }

  /** Writes the pooled values of all rows, `features` of them a row. */
  protected async poolRows(layers: readonly PatchLayer[], features: number, out: Pooled): Promise<void> {
    let at = 0;
    for await (const image of this.source.blocks(1)) {
      out.set(poolLayers(image as DenseRows, layers), at);
      at += features;
      if (isDue()) await this.turn.pause();
    }
  }

  refine(start: Prototypes): Promise<Refining> {
    return this.use(() => this.refineRows(start));
  }

  work(): Work {
    return { pairs: this.pairs, exact: this.exact, notes: [...this.notes] };
  }

  /** The ranks of the sums of groups, as a bank. */
  rankGroups(groups: Groups, distribution: Float64Array | undefined): Promise<HeldBank> {
    return this.use(async () => this.bankOf(await this.attempt(() => this.rankSums(groups, distribution)), false));
  }

  /** The sums of groups, row by row in the order listed. */
  addGroups(groups: Groups, onto: readonly Sum[] | undefined): Promise<Sum[]> {
    return this.use(() => this.attempt(() => this.addSums(groups, onto)));
  }

  /** The same by the kernels as they are written; a back end may have its own. */
  protected async addSums(groups: Groups, onto: readonly Sum[] | undefined): Promise<Sum[]> {
    const adder = new Adder(this.features);
    const sums: Sum[] = [];
    for (let g = 0; g + 1 < groups.offsets.length; g++) {
      if (onto) adder.addSum(onto[g]);
      for await (const add of this.#addersOf(groups, g)) add(adder);
      sums.push(adder.take());
    }
    return sums;
  }

  /** The ranks of the sums of groups, by the kernels as they are written. */
  protected async rankPlainly(groups: Groups, distribution: Float64Array | undefined): Promise<FilterBank> {
    const filters = groups.offsets.length - 1;
    const ranker = rankerFor(this.source.form, filters, this.features, distribution);
    const adder = new Adder(this.features);
    for (let g = 0; g < filters; g++) {
      for await (const add of this.#addersOf(groups, g)) add(adder);
      ranker.add(adder.take());
      if (isDue()) await this.turn.pause();
    }
    return ranker.bank();
  }

  /** What adds the rows of a group to a sum, some rows at a time, with a look at the clock in between. */
  async *#addersOf(groups: Groups, g: number): AsyncGenerator<(adder: Adder) => void> {
    const most = Math.max(1, Math.floor((LISTED_VALUES * this.rows) / Math.max(1, this.source.entries)));
    const x = inMemory(this.source);
    const end = groups.offsets[g + 1];
    for (let first = groups.offsets[g]; first < end; first += most) {
      const last = Math.min(end, first + most);
      const list = groups.rows.subarray(first, last);
      const rows = x ?? (await this.gather(list));
      const places = x ? list : list.map((_, j) => j);
      yield (adder) => adder.addRows(rows, places, groups.weight?.subarray(first, last));
      if (isDue()) await this.turn.pause();
    }
  }

  /** The listed rows in that order. */
  protected gather(rows: Uint32Array): Rows | Promise<Rows> {
    return this.source.gather(rows);
  }

  /** All rows in memory, read if they are not there yet. */
  protected async all(): Promise<Rows> {
    return inMemory(this.source) ?? this.source.gather(Uint32Array.from({ length: this.rows }, (_, r) => r));
  }

  /** A bank of another back end has nothing in this one's memory. */
  protected checked(bank: HeldBank): B {
    if (bank instanceof HostBank && bank.home === this.home) return bank as B;
    throw new RanksimError(
      "no-backend",
      `expected filters that were loaded by the ${this.backend.name} back end of the rows`,
    );
  }

  async #searchApart(bank: HeldBank, k: number, of: Uint32Array): Promise<TopFilters> {
    const rows = sourceOf(await this.use(async () => this.gather(of)));
    const held = await this.backend.hold(rows, { turn: this.turn });
    try {
      const found = await held.topFilters(bank, k);
      const { pairs, exact } = held.work();
      this.pairs += pairs;
      this.exact += exact;
      return found;
    } finally {
      held.release();
    }
  }

  #search(held: HeldBank, k: number, wanted: Wanted): Promise<TopFilters> {
    const bank = this.checked(held);
    this.pairs += (wanted.rows?.length ?? this.rows) * bank.filters;
    return this.use(() => bank.use(() => this.attempt(() => this.search(bank, k, wanted))));
  }
}

/** The type of the weights of a mean filter. */
const NO_WEIGHTS = new Float64Array(0);

/** The number of no bank: what was found with it says nothing about others. */
const UNKNOWN_BANK = -1;

/** Searches for more filters than MOST_LISTED, or of less than one row in FEW_LISTED, hold the listed rows by themselves. */
const MOST_LISTED = 64;
const FEW_LISTED = 16;

/** Values of rows that are added up between two looks at the clock. */
const LISTED_VALUES = 2 ** 22;

/** Which filter each row belongs to, in the memory of the host. */
class HostAssignment implements Assignment {
  readonly version: number;
  readonly top: TopFilters;
  readonly #rows: HostRows<HostBank>;
  readonly #filters: number;
  readonly #before: Uint32Array | undefined;
  #compared: Compared | undefined;
  #groups: Groups | undefined;

  constructor(
    rows: HeldRows,
    top: TopFilters,
    { filters, version }: { readonly filters: number; readonly version: number },
    before: Uint32Array | undefined,
  ) {
    this.#rows = rows as HostRows<HostBank>;
    this.top = top;
    this.version = version;
    this.#filters = filters;
    this.#before = before;
  }

  get moved(): number {
    return this.#compare().moved;
  }

  get wins(): Uint32Array {
    return this.#compare().wins;
  }

  get changed(): Uint8Array {
    return this.#compare().changed;
  }

  sums(filters: Uint32Array, onto?: readonly Sum[]): HeldSums {
    return this.#rows.sum(pickGroups(this.#members(), filters), onto);
  }

  async winners(): Promise<Uint32Array> {
    return this.top.filter;
  }

  async members(): Promise<Groups> {
    return this.#members();
  }

  release(): void {}

  #members(): Groups {
    this.#groups ??= groupByCode(this.top.filter, this.#filters);
    return this.#groups;
  }

  /** When it is first asked for: of a part of the rows, as a process has them, only the winners may be needed. */
  #compare(): Compared {
    this.#compared ??= compareWinners(this.#before, this.top.filter, this.#filters);
    return this.#compared;
  }
}

type Compared = Pick<Assignment, "wins" | "moved" | "changed">;

/** Counts the rows of each filter and those whose winner changed, and marks (1) the filters that lost or gained one. */
export function compareWinners(before: Uint32Array | undefined, now: Uint32Array, filters: number): Compared {
  const wins = new Uint32Array(filters);
  countCodes(now, wins);
  if (!before) return { wins, moved: now.length, changed: new Uint8Array(filters).fill(1) };
  const changed = new Uint8Array(filters);
  return { wins, moved: markMoved(before, now, changed), changed };
}

/** Marks the filters that lost or gained a row; returns how many rows there were. */
function markMoved(before: Uint32Array, now: Uint32Array, changed: Uint8Array): number {
  let moved = 0;
  for (let r = 0; r < now.length; r++) {
    if (before[r] === now[r]) continue;
    moved++;
    changed[before[r]] = 1;
    changed[now[r]] = 1;
  }
  return moved;
}

/** Sums of groups of rows. Filters are made straight from the rows, unless there is something to add to. */
class HostSums implements HeldSums {
  readonly #rows: HostRows<HostBank>;
  readonly #groups: Groups;
  readonly #onto: readonly Sum[] | undefined;
  #sums: Promise<Sum[]> | undefined;

  constructor(rows: HeldRows, groups: Groups, onto: readonly Sum[] | undefined) {
    this.#rows = rows as HostRows<HostBank>;
    this.#groups = groups;
    this.#onto = onto;
  }

  async rank(distribution?: Float64Array): Promise<HeldBank> {
    const { backend, features } = this.#rows;
    if (!this.#onto) return this.#rows.rankGroups(this.#groups, distribution);
    const { turn } = this.#rows;
    return rankGivenSums(await this.read(), features, distribution, (rows) => backend.hold(rows, { turn }));
  }

  read(): Promise<Sum[]> {
    this.#sums ??= this.#rows.addGroups(this.#groups, this.#onto);
    return this.#sums;
  }

  release(): void {}
}
