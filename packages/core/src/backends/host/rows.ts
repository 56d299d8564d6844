/**
 * Rows of a back end whose filters stay on the host, and the questions about them: each is put to one block or to many (`store.ts`), and
 * answers are put together. A round of spreading is one pass: rows are added to the sums of their filters while their block is there.
 */

import { assignmentOf } from "../../bank/assignment.ts";
import { joinBanks, meanFilter } from "../../bank/bank.ts";
import { groupByCode, singletons, sliceGroups } from "../../bank/groups.ts";
import { rowsOfSums } from "../../bank/sums.ts";
import { RanksimError } from "../../errors.ts";
import { layersFeatures, pooledValues } from "../../kernels/patches.ts";
import { distinct, numbersBelow } from "../../kernels/rows.ts";
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
import { leadersOf, mergeTopFilters, mergeTopRows, noRows, noTop, pickAnswers } from "../../kernels/top.ts";
import type { Assignment, Backend, HeldBank, HeldRows, Next, Refining, Work } from "../contract.ts";
import type { Turn } from "../turn.ts";
import { type CpuContext, HostBank } from "./bank.ts";
import { type Machine, type RowBlock, Tally, type Wanted } from "./block.ts";
import { Counted } from "./counted.ts";
import { type Cut, RowStore } from "./store.ts";
import { UnwonFilters } from "./unwon.ts";

/** Groups of more values are added up in blocks and then ranked: no call of a kernel may take long. */
const MOST_VALUES = 2 ** 27;

/** Searches for more filters than MOST_LISTED, or of less than one row in FEW_LISTED, bring the listed rows in by themselves. */
const MOST_LISTED = 64;
const FEW_LISTED = 16;

/** The type of the weights of a mean filter. */
const NO_WEIGHTS = new Float64Array(0);

export class HostRows extends Counted implements HeldRows {
  readonly rows: number;
  readonly features: number;
  readonly backend: Backend;
  readonly turn: Turn;
  readonly #source: RowSource;
  /** Shared by all rows and banks of the back end. */
  readonly #context: CpuContext;
  readonly #tally: Tally;
  readonly #store: RowStore;
  /** How assignments were found: a later one may begin from there. */
  readonly #found = new WeakMap<Assignment, { readonly version: number; readonly top: TopFilters }>();
  /** Of filters that rows were assigned to: what those without rows are relocated by. */
  readonly #unwon = new WeakMap<HeldBank, UnwonFilters>();

  private constructor(source: RowSource, machine: Machine, backend: Backend, turn: Turn, context: CpuContext) {
    super();
    this.rows = source.rows;
    this.features = source.features;
    this.#source = source;
    this.backend = backend;
    this.turn = turn;
    this.#context = context;
    this.#tally = new Tally(turn);
    this.#store = new RowStore(source, machine, context, this.#tally);
  }

  /** Takes rows in. `cut` is for tests: with it nothing stays. */
  static async hold(
    source: RowSource,
    machine: Machine,
    backend: Backend,
    turn: Turn,
    context: CpuContext,
    cut?: Cut,
  ): Promise<HostRows> {
    const held = new HostRows(source, machine, backend, turn, context);
    await held.#store.settle(cut);
    return held;
  }

  load(bank: FilterBank): HeldBank {
    return this.#context.load(bank);
  }

  gather(rows: Uint32Array): Promise<Rows> {
    return this.use(() => this.#store.gather(rows));
  }

  topFilters(bank: HeldBank, k: number, of?: Uint32Array): Promise<TopFilters> {
    return this.#ask(bank, of?.length ?? this.rows, async (own) => {
      if (!of) return this.#search(own, k, {});
      // Where few rows are asked about, or many filters, they are searched apart: answers of all rows would take more room.
      const isApart = !this.#store.isWhole || k > MOST_LISTED || of.length * FEW_LISTED < this.rows;
      return isApart ? this.#searchListed(own, k, of) : pickAnswers(await this.#search(own, k, { rows: of }), of);
    });
  }

  leaders(bank: HeldBank): Promise<Leaders> {
    const k = Math.min(2, bank.filters);
    return this.#ask(bank, this.rows, async (own) => leadersOf(await this.#search(own, k, { leading: true })));
  }

  /** Rows that were looked at when they were assigned are not read again. */
  topRows(bank: HeldBank, filters: Uint32Array, k: number): Promise<TopRows> {
    const known = this.#unwon.get(bank)?.strongest(filters, k);
    return this.#ask(bank, 0, async (own) => {
      const top = noRows(filters.length, k);
      const look = async (block: RowBlock, first: number): Promise<void> =>
        mergeTopRows(top, await this.#strongest(block, own, filters, k), first);
      if (known?.from !== 0) await this.#store.each(look, known?.from);
      if (known) mergeTopRows(top, known.top, 0);
      return top;
    });
  }

  assign(bank: HeldBank, before?: Assignment, next: Next = {}): Promise<Assignment> {
    const known = before && this.#found.get(before);
    return this.#ask(bank, this.rows, async (own) => {
      const changed = this.#store.isWhole && known ? own.changedSince(known.version) : undefined;
      const since = known && changed && { winners: known.top, changed };
      const adds = !this.#store.isWhole && next.sums === true && this.#store.sumsAtATime >= bank.filters;
      const unwon =
        !this.#store.isWhole && next.rowsOfEmpty ? new UnwonFilters(bank.filters, next.rowsOfEmpty) : undefined;
      let sums: Sum[] | undefined;
      const top = await this.#search(own, 1, { since }, async (block, { filter }, first) => {
        if (adds) sums = await block.addSums(groupByCode(filter, bank.filters), sums);
        const look = (filters: Uint32Array, k: number) => this.#strongest(block, own, filters, k);
        await unwon?.look(filter, first, look);
      });
      if (unwon) this.#unwon.set(bank, unwon);
      const found = assignmentOf(top.filter, bank.filters, before?.winners);
      const assignment = sums ? { ...found, sums } : found;
      if (this.#store.isWhole) this.#found.set(assignment, { version: own.version, top });
      return assignment;
    });
  }

  sum(groups: Groups, onto?: readonly Sum[]): Promise<Sum[]> {
    return this.#attempt(() => {
      if (this.#store.isWhole) return this.#store.withWhole((whole) => whole.addSums(groups, onto));
      return this.#areFew(groups)
        ? this.#withFew(groups, (few, own) => few.addSums(own, onto))
        : this.#addUp(groups, onto);
    });
  }

  /** Filters are made straight from the rows where that can be; else from sums, as many of which are in memory at a time as there is room for. */
  rank(groups: Groups, distribution?: Float64Array, onto?: readonly Sum[]): Promise<HeldBank> {
    return this.#attempt(async () => {
      const ranked = (rows: RowBlock, own: Groups) => rows.rankSums(own, distribution);
      if (!onto && this.#store.isWhole && !this.#hasLarge(groups)) {
        return this.#context.own(await this.#store.withWhole((whole) => ranked(whole, groups)));
      }
      if (!onto && !this.#store.isWhole && this.#areFew(groups))
        return this.#context.own(await this.#withFew(groups, ranked));
      const count = groups.offsets.length - 1;
      const most = this.#store.sumsAtATime;
      const parts: FilterBank[] = [];
      for (let from = 0; from < count || from === 0; from += most) {
        const to = Math.min(count, from + most);
        const given = onto?.slice(from, to);
        const isGiven = given && groups.offsets[from] === groups.offsets[to];
        parts.push(
          await this.#rankOf(isGiven ? given : await this.sum(sliceGroups(groups, from, to), given), distribution),
        );
      }
      return this.#context.own(joinBanks(parts));
    });
  }

  pool(layers: readonly PatchLayer[]): Promise<DenseRows> {
    if (this.#source.form !== "dense" || this.#source.valueBytes !== 1) {
      throw new RanksimError("bad-matrix", "expected images as dense rows of bytes");
    }
    const features = layersFeatures(layers);
    const values = pooledValues(layers, this.rows * features);
    return this.#attempt(async () => {
      await this.#store.each((block, first) => block.pool(layers, features, values.subarray(first * features)));
      return { form: "dense", rows: this.rows, features, values };
    });
  }

  refine(start: Prototypes): Promise<Refining> {
    return this.use(() => this.#store.refine(start));
  }

  work(): Work {
    const { pairs, exact, notes } = this.#tally;
    return { pairs, exact, notes: [...notes] };
  }

  protected free(): void {
    this.#store.release();
  }

  /** Answers a question about filters. */
  #ask<T>(held: HeldBank, rows: number, answer: (bank: HostBank) => Promise<T>): Promise<T> {
    const bank = this.#checked(held);
    this.#tally.pairs += rows * bank.filters;
    return bank.use(() => this.#attempt(() => answer(bank)));
  }

  #attempt<T>(work: () => Promise<T>): Promise<T> {
    return this.use(() => this.#store.retry(work));
  }

  /** The k strongest filters of each row; where they pass through memory, `then` is called for each block with its answer. */
  async #search(
    bank: HostBank,
    k: number,
    wanted: Wanted,
    then?: (block: RowBlock, found: TopFilters, first: number) => Promise<void>,
  ): Promise<TopFilters> {
    if (this.#store.isWhole) return this.#store.withWhole((whole) => this.#searchBlock(whole, bank, k, wanted));
    const all = noTop(this.rows, k);
    await this.#store.each(async (block, first) => {
      const found = await this.#searchBlock(block, bank, k, wanted);
      all.filter.set(found.filter, first * k);
      all.response.set(found.response, first * k);
      await then?.(block, found, first);
    });
    return all;
  }

  /** The same for listed rows, which are brought in by themselves. */
  async #searchListed(bank: HostBank, k: number, listed: Uint32Array): Promise<TopFilters> {
    const all = noTop(listed.length, k);
    const most = this.#store.rowsAtATime;
    for (let from = 0; from < listed.length; from += most) {
      const rows = await this.#store.gather(listed.slice(from, from + most));
      const found = await this.#store.with(rows, (block) => this.#searchBlock(block, bank, k, {}));
      all.filter.set(found.filter, from * k);
      all.response.set(found.response, from * k);
    }
    return all;
  }

  #searchBlock(block: RowBlock, bank: HostBank, k: number, wanted: Wanted): Promise<TopFilters> {
    return this.#store.isUncut(block) ? block.search(bank, k, wanted) : this.#searchParts(block, bank, k);
  }

  async #searchParts(block: RowBlock, bank: HostBank, k: number): Promise<TopFilters> {
    const top = noTop(block.rows, k);
    await this.#store.eachPart(block, bank.host, numbersBelow(bank.filters), async (part, first) => {
      mergeTopFilters(top, await block.search(part, Math.min(k, part.filters), {}), first);
    });
    return top;
  }

  /** The k strongest rows of the listed filters in a block, by response over the row's mean response to the bank. */
  async #strongest(block: RowBlock, bank: HostBank, filters: Uint32Array, most: number): Promise<TopRows> {
    const k = Math.min(most, block.rows);
    const room = (count: number): Float64Array => this.#context.spares.take(NO_WEIGHTS, count);
    const seen = block.seen ? this.#context.own(block.seen(bank.host)) : bank;
    const mean = seen.mean(() => meanFilter(seen.host, room));
    this.#tally.pairs += block.rows * (1 + filters.length);
    const { response } = await mean.use(() => block.search(mean, 1, {})).finally(() => seen !== bank && seen.release());
    // Deviation 9: a row that responds to no filter, or negatively, prefers none of them.
    const divisor = response.map((value) => Math.max(0, value));
    if (this.#store.isUncut(block)) return block.searchRows(bank, filters, k, divisor);
    const top = noRows(filters.length, k);
    await this.#store.eachPart(block, bank.host, filters, async (part, first) => {
      const found = await block.searchRows(part, numbersBelow(part.filters), k, divisor);
      top.row.set(found.row, first * k);
      top.value.set(found.value, first * k);
    });
    return top;
  }

  /** Whether groups have so few rows that these are read by themselves. */
  #areFew({ rows }: Groups): boolean {
    return rows.length <= this.#store.rowsAtATime;
  }

  /** Calls `work` with the rows of groups by themselves, each read once, in ascending order, and the groups of these. */
  async #withFew<T>(groups: Groups, work: (few: RowBlock, groups: Groups) => Promise<T>): Promise<T> {
    const listed = distinct(groups.rows);
    const place = new Map(Array.from(listed, (r, j) => [r, j]));
    const own = { ...groups, rows: groups.rows.map((r) => place.get(r) as number) };
    return this.#store.with(await this.#store.gather(listed), (few) => work(few, own));
  }

  /** The sums of groups in one pass over all rows. */
  async #addUp({ offsets, rows, weight }: Groups, onto: readonly Sum[] | undefined): Promise<Sum[]> {
    const count = offsets.length - 1;
    const next = offsets.slice(0, count); // the first row of each group that has not come by yet
    let sums = onto;
    await this.#store.each(async (block, first) => {
      const own = new Uint32Array(count + 1);
      const listed: number[] = [];
      const weights: number[] = [];
      for (let g = 0; g < count; g++) {
        for (; next[g] < offsets[g + 1] && rows[next[g]] < first + block.rows; next[g]++) {
          if (rows[next[g]] < first) throw new Error("expected the rows of a group in ascending order");
          listed.push(rows[next[g]] - first);
          if (weight) weights.push(weight[next[g]]);
        }
        own[g + 1] = listed.length;
      }
      const groups = { offsets: own, rows: Uint32Array.from(listed) };
      sums = await block.addSums(weight ? { ...groups, weight: Float64Array.from(weights) } : groups, sums);
    });
    return [...(sums ?? [])];
  }

  /** One filter a sum. */
  #rankOf(sums: readonly Sum[], distribution: Float64Array | undefined): Promise<FilterBank> {
    const each = singletons(numbersBelow(sums.length));
    const rows = rowsOfSums(sums, this.features, this.#source.form);
    return this.#store.with(rows, (block) => block.rankSums(each, distribution));
  }

  #hasLarge({ offsets }: Groups): boolean {
    const most = (MOST_VALUES * this.rows) / Math.max(1, this.#source.entries);
    for (let g = 1; g < offsets.length; g++) if (offsets[g] - offsets[g - 1] > most) return true;
    return false;
  }

  /** A bank of another back end has nothing in this one's memory. */
  #checked(bank: HeldBank): HostBank {
    if (bank instanceof HostBank && bank.context === this.#context) return bank;
    throw new RanksimError(
      "no-backend",
      `expected filters that were loaded by the ${this.backend.name} back end of the rows`,
    );
  }
}
