/**
 * A back end over a back end: each process holds a shard of the rows, consecutive ones, and all of them have the same answers. They
 * run the same program on the same data, so that whatever is small is worked out by each for itself; what is found in rows is
 * put together in the order of the rows. Sums of rows that every process has in memory are shared out: each process makes the filters
 * of its own groups, from rows of any shard. Of rows that are read, each adds up its shard: whole numbers are added by all at
 * once, others go from process to process, since their bits depend on the order.
 */

import { RanksimError } from "@ranksim/core";
import {
  type Assignment,
  assignmentOf,
  type Backend,
  bytesOf,
  Counted,
  type DenseRows,
  emptyGroups,
  type FilterBank,
  type Groups,
  type HeldBank,
  type HeldRows,
  inMemory,
  joinBanks,
  type Leaders,
  mergeTopRows,
  type Next,
  numbersBelow,
  type PatchLayer,
  type PieceResult,
  type Plan,
  type Pooled,
  type Prototypes,
  type Refining,
  type RowSource,
  type Sum,
  sliceGroups,
  sourceOf,
  type TopFilters,
  type TopRows,
  type Turn,
  type Work,
} from "@ranksim/core/backend";
import {
  type Collective,
  flatSums,
  joined,
  type Numbers,
  packArrays,
  packBank,
  packSums,
  unflatSums,
  unpackArrays,
  unpackBank,
  unpackSums,
} from "./wire.ts";

/** Fewer rows for each process than this are not worth a message: every process holds them all. */
const FEWEST = 64;
/** Bytes of rows in memory up to which each process holds all of them beside its shard, to make filters of any of them. */
const HELD_BYTES = 2 ** 28;
/** Ranking a sum takes about as long as adding this many rows. Measured on bytes. */
const RANK_ROWS = 16;
/** Parts of a chain for each process: the processes work on different filters at once. */
const PARTS = 4;

/**
 * Opens a back end on which processes work together, each through a back end of its own, which is closed with it. `heldBytes`
 * is for tests: rows of more bytes are gathered from memory whenever filters are made of them.
 */
export function openShards(inner: Backend, collective: Collective, heldBytes = HELD_BYTES): Backend {
  const { rank, size } = collective;
  if (size === 1) return inner;
  return {
    processes: { count: size, pieces: (count, work) => pieces(count, (piece) => work(piece, inner), collective) },
    get name() {
      return `${inner.name} in ${size} processes`;
    },
    get threads() {
      return inner.threads;
    },
    estimate: (work) => {
      const own = inner.estimate(work);
      return "seconds" in own ? { seconds: own.seconds / size, bytes: own.bytes / size } : own;
    },
    async hold(source, plan) {
      if (source.rows < FEWEST * size) return inner.hold(source, plan);
      const [first, end] = [shareOf(source.rows, rank, size), shareOf(source.rows, rank + 1, size)];
      const own = await inner.hold(source.slice(first, end), plan);
      const isFew = inMemory(source) !== undefined && bytesOf(source) <= heldBytes;
      return new ShardedRows(source, own, first, inner, collective, plan, isFew);
    },
    close: () => inner.close(),
  };
}

/** Every process does the pieces whose turn is its own, and tells the others. */
async function pieces(
  count: number,
  work: (piece: number) => Promise<PieceResult>,
  collective: Collective,
): Promise<PieceResult[]> {
  const { rank, size } = collective;
  const own: Uint8Array[] = [];
  await unrepeated(async () => {
    for (let piece = rank; piece < count; piece += size) {
      const { banks, numbers } = await work(piece);
      own.push(packArrays([numbers, ...banks.map(packBank)]));
    }
  });
  const all = (await collective.gather(packArrays(own))).map(unpackArrays);
  return Array.from({ length: count }, (_, piece) => {
    const [numbers, ...banks] = unpackArrays(all[piece % size][Math.floor(piece / size)] as Uint8Array);
    return { numbers: numbers as Uint32Array, banks: banks.map((bank) => unpackBank(bank as Uint8Array)) };
  });
}

/** The first of `count` that belongs to a process. */
const shareOf = (count: number, rank: number, size: number): number => Math.floor((count * rank) / size);

/** Work that other processes wait for is not done again by one of them alone, should a worker end or a device fail. */
async function unrepeated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || !("isRetryable" in error)) throw error;
    throw new RanksimError("no-backend", `a process among several cannot start again by itself: ${error.message}`, {
      cause: error,
    });
  }
}

class ShardedRows extends Counted implements HeldRows {
  readonly rows: number;
  readonly features: number;
  /** The back end that has the shard, and filters that meet it. */
  readonly backend: Backend;
  readonly turn: Turn;
  readonly #source: RowSource;
  readonly #own: HeldRows;
  /** The first row of the shard. */
  readonly #first: number;
  readonly #inner: Backend;
  readonly #collective: Collective;
  readonly #plan: Plan | undefined;
  readonly #isFew: boolean;
  /** The rows of all shards, once they were asked for. */
  #all: Promise<HeldRows> | undefined;
  readonly #notes = new Set<string>();
  /** The assignment of the shard in one of all rows. */
  readonly #owns = new WeakMap<Assignment, Assignment>();

  /** `isFew`: each process may hold all rows. */
  constructor(
    source: RowSource,
    own: HeldRows,
    first: number,
    inner: Backend,
    collective: Collective,
    plan: Plan | undefined,
    isFew: boolean,
  ) {
    super();
    this.rows = source.rows;
    this.features = source.features;
    this.backend = own.backend;
    this.turn = own.turn;
    this.#source = source;
    this.#own = own;
    this.#first = first;
    this.#inner = inner;
    this.#collective = collective;
    this.#plan = plan;
    this.#isFew = isFew;
  }

  load(bank: FilterBank): HeldBank {
    return this.#own.load(bank);
  }

  topFilters(bank: HeldBank, k: number, of?: Uint32Array): Promise<TopFilters> {
    return this.#together(async () => {
      const { filter, response } = await this.#own.topFilters(bank, k, of && this.#within(of));
      const [filters, responses] = await this.#joined([filter, response]);
      return {
        ...{ rows: of?.length ?? this.rows, k },
        ...{ filter: filters as Uint32Array, response: responses as Float64Array },
      };
    });
  }

  leaders(bank: HeldBank): Promise<Leaders> {
    return this.#together(async () => {
      const own = await this.#own.leaders(bank);
      const [filter, response, tied] = await this.#joined([own.filter, own.response, own.tied]);
      return {
        rows: this.rows,
        ...{ filter: filter as Uint32Array, response: response as Float64Array, tied: tied as Uint8Array },
      };
    });
  }

  topRows(bank: HeldBank, filters: Uint32Array, k: number): Promise<TopRows> {
    return this.#together(async () => {
      const own = await this.#own.topRows(bank, filters, Math.min(k, this.#own.rows));
      const parts = await this.#gathered([Uint32Array.of(own.k, this.#first), own.row, own.value]);
      const value = new Float64Array(filters.length * k).fill(Number.NEGATIVE_INFINITY);
      const top = { filters: filters.length, k, row: new Uint32Array(filters.length * k), value };
      for (const [[most, first], rows, values] of parts) {
        const part = { filters: filters.length, k: most, row: rows as Uint32Array, value: values as Float64Array };
        mergeTopRows(top, part, first);
      }
      return top;
    });
  }

  assign(bank: HeldBank, before?: Assignment, next: Next = {}): Promise<Assignment> {
    return this.#together(async () => {
      // Sums that come with an assignment begin at zero: right in any order, or not at all.
      const sums = next.sums === true && this.#addsUp;
      const own = await this.#own.assign(bank, before && this.#owns.get(before), { ...next, sums });
      const [winners, having] = await this.#joined([own.winners, Uint8Array.of(own.sums ? 1 : 0)]);
      const found = assignmentOf(winners as Uint32Array, bank.filters, before?.winners);
      const isSummed = own.sums && having.every((has) => has === 1); // where one process has no room for sums, all do without
      const assignment = isSummed ? { ...found, sums: await this.#addUp(own.sums) } : found;
      this.#owns.set(assignment, own);
      return assignment;
    });
  }

  sum(groups: Groups, onto?: readonly Sum[]): Promise<Sum[]> {
    return this.#together(async () => {
      if (this.#isShareable(groups)) {
        const own = await this.#ofMine(groups, onto, (held, mine, given) => held.sum(mine, given));
        return (await this.#collective.gather(packSums(own ?? []))).flatMap(unpackSums);
      }
      const own = this.#shardOf(groups);
      if (this.#addsUp && !onto && !groups.weight) return this.#addUp(await this.#own.sum(own));
      return this.#alongTheChain(own, onto);
    });
  }

  /** Each process makes its share of the filters, and all have all of them. */
  rank(groups: Groups, distribution?: Float64Array, onto?: readonly Sum[]): Promise<HeldBank> {
    return this.#together(async () => {
      let own: HeldBank | undefined;
      if (this.#isShareable(groups)) {
        own = await this.#ofMine(groups, onto, (held, mine, given) => held.rank(mine, distribution, given));
      } else {
        const { rank, size } = this.#collective;
        const sums = groups.rows.length === 0 && onto ? onto : await this.sum(groups, onto);
        const mine = sums.slice(shareOf(sums.length, rank, size), shareOf(sums.length, rank + 1, size));
        if (mine.length > 0) own = await this.#own.rank(emptyGroups(mine.length), distribution, mine);
      }
      const packed = own ? packBank(await own.read()) : new Uint8Array(0);
      own?.release();
      const parts = (await this.#collective.gather(packed)).filter(({ byteLength }) => byteLength > 0);
      return this.#own.load(joinBanks(parts.map(unpackBank)));
    });
  }

  pool(layers: readonly PatchLayer[]): Promise<DenseRows> {
    return this.#together(async () => {
      const { features, values } = await this.#own.pool(layers);
      const [all] = await this.#joined([values as Pooled]);
      return { form: "dense", rows: this.rows, features, values: all as Pooled };
    });
  }

  /** Each update builds on the one before, so that every process makes all of them. */
  refine(start: Prototypes): Promise<Refining> {
    return this.#together(async () => {
      this.#notes.add("the refinement of a bank is not shared out: each process refined it");
      if (this.#isFew) return (await this.#holdAll()).refine(start);
      const all = await this.#inner.hold(this.#source, this.#plan);
      return all.refine(start).finally(() => all.release()); // keeps the rows it needs
    });
  }

  /** What this process did. */
  work(): Work {
    const { pairs, exact, notes } = this.#own.work();
    return { pairs, exact, notes: [...new Set([...notes, ...this.#notes])] };
  }

  protected free(): void {
    this.#own.release();
    this.#all?.then(
      (all) => all.release(),
      () => {}, // the caller already got this rejection
    );
  }

  /** Does work that other processes wait for. */
  #together<T>(work: () => Promise<T>): Promise<T> {
    return unrepeated(() => this.use(work));
  }

  /** Whether sums of rows are exact in any order, and as wide as all features: they are added up by all at once. */
  get #addsUp(): boolean {
    return this.#source.form === "dense" && this.#source.valueBytes < Float32Array.BYTES_PER_ELEMENT;
  }

  /** Whether groups can be shared out: one of more rows than a fair share would leave the others with nothing to do. */
  #isShareable({ offsets, rows }: Groups): boolean {
    if (inMemory(this.#source) === undefined) return false;
    let most = 0;
    for (let g = 1; g < offsets.length; g++) most = Math.max(most, offsets[g] - offsets[g - 1]);
    return most * this.#collective.size <= rows.length;
  }

  #holdAll(): Promise<HeldRows> {
    this.#all ??= this.#inner.hold(this.#source, this.#plan);
    return this.#all;
  }

  /** Asks about the groups of this process, where their rows are held: all rows of all shards, or theirs by themselves. Undefined if it has none. */
  async #ofMine<T>(
    groups: Groups,
    onto: readonly Sum[] | undefined,
    ask: (held: HeldRows, groups: Groups, onto?: readonly Sum[]) => Promise<T>,
  ): Promise<T | undefined> {
    const { rank, size } = this.#collective;
    const [begin, end] = [firstOf(groups.offsets, rank, size), firstOf(groups.offsets, rank + 1, size)];
    if (begin === end) return undefined;
    const mine = sliceGroups(groups, begin, end);
    const given = onto?.slice(begin, end);
    if (this.#isFew) return ask(await this.#holdAll(), mine, given);
    const rows = sourceOf(await this.#source.gather(mine.rows));
    const held = await this.#inner.hold(rows, { turn: this.turn });
    const listed = { ...mine, rows: numbersBelow(mine.rows.length) };
    return ask(held, listed, given).finally(() => held.release());
  }

  /** The sums of all shards. */
  async #addUp(own: readonly Sum[]): Promise<Sum[]> {
    return unflatSums(await this.#collective.sum(flatSums(own, this.features)), this.features);
  }

  /** Sums go from one process to the next, which adds its rows to them, some filters at a time. */
  async #alongTheChain(own: Groups, onto: readonly Sum[] | undefined): Promise<Sum[]> {
    const { rank, size } = this.#collective;
    const count = own.offsets.length - 1;
    // Rows that are read are read once, for all filters.
    const parts = inMemory(this.#source) ? Math.max(1, Math.min(count, PARTS * size)) : 1;
    const done: Sum[] = [];
    for (let p = 0; p < parts; p++) {
      const [from, to] = [shareOf(count, p, parts), shareOf(count, p + 1, parts)];
      const before = rank === 0 ? onto?.slice(from, to) : unpackSums(await this.#collective.receive(rank - 1));
      const sums = await this.#own.sum(sliceGroups(own, from, to), before);
      if (rank + 1 < size) await this.#collective.send(packSums(sums), rank + 1);
      else done.push(...sums);
    }
    return unpackSums(await this.#collective.broadcast(packSums(done), size - 1));
  }

  async #gathered(arrays: readonly Numbers[]): Promise<Numbers[][]> {
    return (await this.#collective.gather(packArrays(arrays))).map(unpackArrays);
  }

  /** Each of the arrays, with those of all processes one after the other. */
  async #joined(arrays: readonly Numbers[]): Promise<Numbers[]> {
    const parts = await this.#gathered(arrays);
    return arrays.map((_, j) => joined(parts.map((part) => part[j])));
  }

  /** Those of the ascending rows that are in the shard, numbered from its first. */
  #within(rows: Uint32Array): Uint32Array {
    const first = this.#first;
    return rows.filter((r) => r >= first && r < first + this.#own.rows).map((r) => r - first);
  }

  /** The groups without the rows of other processes. */
  #shardOf({ offsets, rows, weight }: Groups): Groups {
    const first = this.#first;
    const end = first + this.#own.rows;
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

/** The first group of a process: all have about the same to add and to rank. */
function firstOf(offsets: Uint32Array, rank: number, size: number): number {
  const count = offsets.length - 1;
  const cost = (g: number): number => offsets[g] + RANK_ROWS * g;
  const wanted = (cost(count) * rank) / size;
  let [first, last] = [0, count]; // the costs of groups ascend
  while (first < last) {
    const middle = Math.floor((first + last) / 2);
    if (cost(middle) < wanted) first = middle + 1;
    else last = middle;
  }
  return first;
}
