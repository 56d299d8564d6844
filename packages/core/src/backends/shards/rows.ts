/** Rows of which each process holds a shard. */

import { pickGroups } from "../../bank/groups.ts";
import { RanksimError } from "../../errors.ts";
import type { Pooled } from "../../kernels/patches.ts";
import { bytesOf, gatherRows, inMemory, sourceOf } from "../../kernels/rows.ts";
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
  Values,
} from "../../kernels/shapes.ts";
import { mergeTopRows } from "../../kernels/top.ts";
import type { Assignment, Backend, HeldBank, HeldRows, HeldSums, Next, Refining, Work } from "../contract.ts";
import { Counted } from "../host/counted.ts";
import { compareWinners } from "../host/rows.ts";
import type { Turn } from "../turn.ts";
import { KnownAssignment, ReadAssignment, type ShardedAssignment } from "./assignments.ts";
import type { Collective } from "./collective.ts";
import { areShareable, OwnedSums } from "./owned-sums.ts";
import { ShardedSums } from "./sums.ts";
import { joined, packArrays, unpackArrays } from "./wire.ts";

export class ShardedRows extends Counted implements HeldRows {
  readonly rows: number;
  readonly features: number;
  /** The back end that has the shard, and filters that meet it. */
  readonly backend: Backend;
  readonly turn: Turn;
  readonly collective: Collective;
  readonly source: RowSource;
  readonly own: HeldRows;
  /** The first row of the shard. */
  readonly first: number;
  readonly #holdAll: () => Promise<HeldRows>;
  readonly #heldBytes: number;
  /** The rows of all shards, once filters were made of them. */
  #all: Promise<HeldRows> | undefined;
  readonly #notes = new Set<string>();
  /** Memory for dense rows that are gathered round after round. */
  #room: Values | undefined;

  constructor(
    source: RowSource,
    own: HeldRows,
    first: number,
    collective: Collective,
    holdAll: () => Promise<HeldRows>,
    heldBytes: number,
    all?: HeldRows,
  ) {
    super();
    this.rows = source.rows;
    this.features = source.features;
    this.backend = own.backend;
    this.turn = own.turn;
    this.collective = collective;
    this.source = source;
    this.own = own;
    this.first = first;
    this.#holdAll = holdAll;
    this.#heldBytes = heldBytes;
    if (all) this.#all = Promise.resolve(all);
  }

  /** Whether sums of rows are exact in any order: they are whole numbers. */
  get isWhole(): boolean {
    return this.source.valueBytes < Float32Array.BYTES_PER_ELEMENT;
  }

  /** Whether the shard is read again for every question. */
  get isRead(): boolean {
    return inMemory(this.source) === undefined;
  }

  load(bank: FilterBank): HeldBank {
    return this.own.load(bank);
  }

  topFilters(bank: HeldBank, k: number, of?: Uint32Array): Promise<TopFilters> {
    return this.local(async () => {
      const mine = of && this.#within(of);
      const { filter, response } = await this.own.topFilters(bank, k, mine);
      const parts = await this.#gathered([filter, response]);
      return {
        rows: of?.length ?? this.rows,
        k,
        filter: joined(
          Uint32Array,
          parts.map(([filters]) => filters),
        ),
        response: joined(
          Float64Array,
          parts.map(([, responses]) => responses),
        ),
      };
    });
  }

  leaders(bank: HeldBank): Promise<Leaders> {
    return this.local(async () => {
      const { filter, response, tied } = await this.own.leaders(bank);
      const parts = await this.#gathered([filter, response, tied]);
      return {
        rows: this.rows,
        filter: joined(
          Uint32Array,
          parts.map(([filters]) => filters),
        ),
        response: joined(
          Float64Array,
          parts.map(([, responses]) => responses),
        ),
        tied: joined(
          Uint8Array,
          parts.map(([, , marks]) => marks),
        ),
      };
    });
  }

  topRows(bank: HeldBank, filters: Uint32Array, k: number): Promise<TopRows> {
    return this.local(async () => {
      const own = await this.own.topRows(bank, filters, Math.min(k, this.own.rows));
      const parts = await this.#gathered([Uint32Array.of(own.k, this.first), own.row, own.value]);
      const row = new Uint32Array(filters.length * k);
      const value = new Float64Array(filters.length * k).fill(Number.NEGATIVE_INFINITY);
      const top = { filters: filters.length, k, row, value };
      for (const [[most, first], rows, values] of parts) {
        const part = { filters: filters.length, k: most, row: rows as Uint32Array, value: values as Float64Array };
        mergeTopRows(top, part, first);
      }
      return top;
    });
  }

  assign(bank: HeldBank, before?: Assignment, next: Next = {}): Promise<Assignment> {
    return this.local(async () => {
      const earlier = before as ShardedAssignment | undefined;
      // Sums that come with an assignment begin at zero: right in any order, or not at all.
      const own = await this.own.assign(bank, earlier?.own, { ...next, sums: next.sums === true && this.isWhole });
      return this.isRead ? ReadAssignment.of(this, own) : KnownAssignment.of(this, own, bank.filters, earlier);
    });
  }

  assignment(winners: Uint32Array, filters: number): Assignment {
    const own = this.own.assignment(winners.slice(this.first, this.first + this.own.rows), filters);
    if (!this.isRead) return new KnownAssignment(this, own, winners, filters, winners);
    return new ReadAssignment(this, own, compareWinners(winners, winners, filters));
  }

  sum(groups: Groups, onto?: readonly Sum[]): HeldSums {
    if (!this.isRead && areShareable(groups, this.collective.size)) return new OwnedSums(this, groups, onto);
    const own = this.#shardOf(groups);
    const isWhole = this.isWhole && !groups.weight;
    const add = (filters: Uint32Array, sums?: readonly Sum[]) => this.own.sum(pickGroups(own, filters), sums);
    return new ShardedSums(this, groups.offsets.length - 1, isWhole, add, onto);
  }

  pool(layers: readonly PatchLayer[]): Promise<DenseRows> {
    return this.local(async () => {
      const { features, values } = await this.own.pool(layers);
      const parts = await this.#gathered([values as Pooled]);
      const all = joined<Pooled>(
        values instanceof Uint8Array ? Uint8Array : Uint16Array,
        parts.map(([pooled]) => pooled),
      );
      return { form: "dense", rows: this.rows, features, values: all };
    });
  }

  /** Each update builds on the one before, so that every process makes all of them. */
  refine(start: Prototypes): Promise<Refining> {
    return this.local(async () => {
      const held = await this.#all;
      const all = held ?? (await this.#holdAll());
      this.#notes.add("the refinement of a bank is not shared out: each process refined it");
      try {
        return await all.refine(start); // keeps the rows it needs
      } finally {
        if (all !== held) all.release();
      }
    });
  }

  /** The rows of all shards, if they are in memory and few: holding them once takes less than gathering some every round. */
  all(): Promise<HeldRows> | undefined {
    if (!isFew(this.source, this.#heldBytes)) return undefined;
    this.#all ??= this.#holdAll();
    return this.#all;
  }

  /** Calls `work` with the listed rows of any shard, in that order, held by themselves. They have to be in memory. */
  async withListed(listed: Uint32Array, work: (held: HeldRows) => Promise<void>): Promise<void> {
    const x = inMemory(this.source) as Rows;
    const room = this.#room;
    this.#room = undefined; // in use
    const fits = room && room.length >= listed.length * this.features;
    const rows = x.form === "dense" ? gatherRows(x, listed, fits ? room : undefined) : gatherRows(x, listed);
    const held = await this.backend.hold(sourceOf(rows), { turn: this.turn });
    try {
      await work(held);
    } finally {
      held.release();
      this.#room = fits || x.form !== "dense" ? room : rows.values;
    }
  }

  /** What this process did. */
  work(): Work {
    const { pairs, exact, notes } = this.own.work();
    return { pairs, exact, notes: [...new Set([...notes, ...this.#notes])] };
  }

  /** Does work that other processes wait for. */
  local<T>(work: () => Promise<T>): Promise<T> {
    return unrepeated(() => this.use(work));
  }

  protected free(): void {
    this.own.release();
    this.#all?.then(
      (all) => all.release(),
      () => {}, // told to whoever asked for them
    );
  }

  async #gathered(arrays: Parameters<typeof packArrays>[0]): Promise<ReturnType<typeof unpackArrays>[]> {
    return (await this.collective.gather(packArrays(arrays))).map(unpackArrays);
  }

  /** Those of the ascending rows that are in the shard, numbered from its first. */
  #within(rows: Uint32Array): Uint32Array {
    const { first } = this;
    return rows.filter((r) => r >= first && r < first + this.own.rows).map((r) => r - first);
  }

  /** The groups without the rows of other processes. */
  #shardOf({ offsets, rows, weight }: Groups): Groups {
    const { first } = this;
    const end = first + this.own.rows;
    const own = new Uint32Array(offsets.length);
    const kept: number[] = [];
    for (let g = 0; g + 1 < offsets.length; g++) {
      for (let e = offsets[g]; e < offsets[g + 1]; e++) if (rows[e] >= first && rows[e] < end) kept.push(e);
      own[g + 1] = kept.length;
    }
    const groups = { offsets: own, rows: Uint32Array.from(kept, (e) => rows[e] - first) };
    return weight ? { ...groups, weight: Float64Array.from(kept, (e) => weight[e]) } : groups;
  }
}

/** Whether rows are in memory, and so few that each process may hold all of them. */
export function isFew(source: RowSource, heldBytes: number): boolean {
  return inMemory(source) !== undefined && bytesOf(source) <= heldBytes;
}

/** Work that other processes wait for is not done again by one of them alone, should a worker end. */
export async function unrepeated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || !("isPassing" in error)) throw error;
    throw new RanksimError("no-backend", `a process among several cannot start again by itself: ${error.message}`, {
      cause: error,
    });
  }
}
