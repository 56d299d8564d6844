/**
 * The rows most like each of some, found through the sketch of an index: a back end lists the strongest by their sketches, the listed
 * ones are compared exactly, and where rounding could have hidden a row that is as much alike, more are listed, at last all.
 */

import { type Backend, type FilterBank, type HeldRows, RanksimError } from "@ranksim/core";
import { gatherRows, insert, KeptBank, sourceOf } from "@ranksim/core/internal";
import { type Neighbours, nearestByLoop, Query, type Vectors } from "./similarity.ts";
import type { Sketch, SketchedQueries } from "./sketch.ts";

/** Rows listed beyond those asked for, and the most that bounds of back ends are made for. */
const SPARE = 6;
const MOST_LISTED = 64;

/** Rows of an index, in lists: those of list l are `order[offsets[l]]` to `order[offsets[l + 1] - 1]`, ascending. */
export interface Lists {
  readonly order: Uint32Array;
  readonly offsets: Uint32Array;
}

/** Candidates of each query, the strongest first. */
interface Candidates {
  readonly k: number;
  /** Places in the order of the lists. */
  readonly place: Uint32Array;
  readonly response: Float64Array;
}

/** Rows that can be searched. */
export class Searchable {
  readonly #vectors: Vectors;
  readonly #sketch: Sketch;
  readonly #lists: Lists;
  readonly #all: KeptBank;
  readonly #banks: (KeptBank | undefined)[];
  readonly #coarse: KeptBank;

  constructor(vectors: Vectors, sketch: Sketch, lists: Lists, coarse: FilterBank) {
    this.#vectors = vectors;
    this.#sketch = sketch;
    this.#lists = lists;
    this.#all = new KeptBank(sketch.bank);
    this.#banks = new Array(lists.offsets.length - 1);
    this.#coarse = new KeptBank(coarse);
  }

  /** The k rows most like each query, of all rows or of those in the `probes` lists whose filters are strongest. */
  async nearest(
    x: Vectors,
    sketched: SketchedQueries,
    k: number,
    probes: number | "all",
    backend: Backend,
  ): Promise<Neighbours> {
    const count = x.rows.rows;
    const found = { k, rows: new Uint32Array(count * k), similarities: new Float64Array(count * k) };
    if (count === 0) return found;
    const held = await backend.hold(sketched.rows, { filters: this.#vectors.rows.rows });
    try {
      if (probes === "all") await this.#amongAll(x, sketched, found, held);
      else await this.#amongLists(x, sketched, found, held, this.#enough(k, probes));
      return found;
    } finally {
      held.release();
    }
  }

  async #amongAll(x: Vectors, sketched: SketchedQueries, found: Neighbours, held: HeldRows): Promise<void> {
    const m = this.#vectors.rows.rows;
    let open = Uint32Array.from({ length: x.rows.rows }, (_, r) => r);
    const first = found.k + SPARE;
    for (const listed of first < MOST_LISTED ? [first, MOST_LISTED] : [first]) {
      if (open.length === 0) return;
      const of = open.length === x.rows.rows ? undefined : open;
      const { k, filter, response } = await held.topFilters(this.#all.on(held), Math.min(m, listed), of);
      open = await this.#settle(x, sketched, found, held, open, () => m, { k, place: filter, response });
    }
    await this.#byLoop(x, found, held, open, () => undefined);
  }

  async #amongLists(
    x: Vectors,
    sketched: SketchedQueries,
    found: Neighbours,
    held: HeldRows,
    probes: number,
  ): Promise<void> {
    const { order, offsets } = this.#lists;
    const lists = offsets.length - 1;
    const { filter } = await held.topFilters(this.#coarse.on(held), probes);
    const count = x.rows.rows;
    const k = found.k + SPARE;
    const place = new Uint32Array(count * k);
    const response = new Float64Array(count * k).fill(Number.NEGATIVE_INFINITY);
    for (const [l, queries] of askedOf(filter, probes, lists).entries()) {
      const size = offsets[l + 1] - offsets[l];
      if (size === 0 || queries.length === 0) continue;
      const part = await held.backend.hold(sourceOf(gatherRows(sketched.rows, queries)), { turn: held.turn });
      try {
        const top = await part.topFilters(this.#bankOf(l).on(part), Math.min(k, size));
        for (let j = 0; j < queries.length; j++) {
          for (let e = j * top.k; e < (j + 1) * top.k; e++) {
            insert(top.response[e], offsets[l] + top.filter[e], response, place, queries[j] * k, k);
          }
        }
      } finally {
        part.release();
      }
    }
    const probed = (r: number) => filter.subarray(r * probes, (r + 1) * probes);
    const sizeOf = (r: number) => probed(r).reduce((sum, l) => sum + offsets[l + 1] - offsets[l], 0);
    const every = Uint32Array.from({ length: count }, (_, r) => r);
    const open = await this.#settle(x, sketched, found, held, every, sizeOf, { k, place, response });
    const rowsOf = (r: number) => {
      const parts = Array.from(probed(r), (l) => order.subarray(offsets[l], offsets[l + 1]));
      return Uint32Array.from(parts.flatMap((part) => Array.from(part))).sort();
    };
    await this.#byLoop(x, found, held, open, rowsOf);
  }

  /** Compares the candidates of the listed queries exactly; the queries for which others could be as much alike. */
  async #settle(
    x: Vectors,
    sketched: SketchedQueries,
    found: Neighbours,
    held: HeldRows,
    queries: Uint32Array,
    searched: (r: number) => number,
    { k: listed, place, response }: Candidates,
  ): Promise<Uint32Array<ArrayBuffer>> {
    const { k, rows, similarities } = found;
    const query = new Query(x);
    const order = this.#lists.order;
    const open: number[] = [];
    for (let j = 0; j < queries.length; j++) {
      const r = queries[j];
      query.open(r);
      const count = Math.min(listed, searched(r));
      // In ascending order, so that equal ones stand by row number.
      const candidates = place
        .slice(j * listed, j * listed + count)
        .map((at) => order[at])
        .sort();
      similarities.fill(Number.NEGATIVE_INFINITY, r * k, (r + 1) * k);
      for (const s of candidates) insert(query.similarity(this.#vectors, s), s, similarities, rows, r * k, k);
      const others = count < searched(r);
      const limit = others ? sketched.limit(r, response[j * listed + count - 1], this.#sketch) : 0;
      if (others && !(limit < similarities[(r + 1) * k - 1])) open.push(r);
      if (j % 64 === 0) await held.turn.pause();
    }
    return Uint32Array.from(open);
  }

  async #byLoop(
    x: Vectors,
    found: Neighbours,
    held: HeldRows,
    open: Uint32Array,
    rowsOf: (r: number) => Uint32Array | undefined,
  ): Promise<void> {
    const query = new Query(x);
    for (const r of open) {
      query.open(r);
      nearestByLoop(query, this.#vectors, rowsOf(r), found, r * found.k);
      await held.turn.pause();
    }
  }

  /** So many lists that they have k rows whichever they are. */
  #enough(k: number, probes: number): number {
    const { offsets } = this.#lists;
    const sizes = offsets
      .subarray(1)
      .map((end, l) => end - offsets[l])
      .sort();
    let needed = 0;
    for (let rows = 0; rows < k && needed < sizes.length; needed++) rows += sizes[needed];
    return Math.min(sizes.length, Math.max(probes, needed));
  }

  #bankOf(l: number): KeptBank {
    const [from, to] = [this.#lists.offsets[l], this.#lists.offsets[l + 1]];
    this.#banks[l] ??= new KeptBank(sliceBank(this.#sketch.bank, from, to));
    return this.#banks[l];
  }
}

/** The queries that ask each list, ascending. */
function askedOf(filter: Uint32Array, probes: number, lists: number): Uint32Array[] {
  const counts = new Uint32Array(lists);
  for (const l of filter) counts[l]++;
  const asked = Array.from(counts, (count) => new Uint32Array(count));
  counts.fill(0);
  for (let e = 0; e < filter.length; e++) asked[filter[e]][counts[filter[e]]++] = Math.floor(e / probes);
  return asked;
}

/** Filters [from, to) of a bank, as views. */
function sliceBank(bank: FilterBank, from: number, to: number): FilterBank {
  const { features, weights, norm } = bank;
  const part = { filters: to - from, features, norm: norm.subarray(from, to) };
  if (!(weights instanceof Uint16Array)) throw new RanksimError("bad-matrix", "expected weights of 16 bits");
  if (bank.form === "dense")
    return { form: "dense", ...part, weights: weights.subarray(from * features, to * features) };
  const [first, last] = [bank.offsets[from], bank.offsets[to]];
  return {
    ...{ form: "sparse", ...part, base: bank.base.subarray(from, to), indices: bank.indices.subarray(first, last) },
    offsets: bank.offsets.slice(from, to + 1).map((offset) => offset - first),
    weights: weights.subarray(first, last),
  };
}
