/**
 * Similarity (the paper's rank similarity transform, section 6 of the method): the responses of a row scaled so that the
 * strongest filter has 1 and the k-th strongest 0, everything below cut off. At most k filters per row remain, more only
 * through ties. Deviation 1: the paper prints the fraction upside down.
 */

import type { Backend, HeldRows, Leaders, RowSource, TopFilters } from "../backends/contract.ts";
import type { KeptBank } from "../backends/kept-bank.ts";
import { Csr } from "../matrix/csr.ts";

/** The similar filters of each row: row r has the entries `offsets[r]` to `offsets[r + 1] - 1`, strongest first. */
export interface Similar {
  readonly offsets: Uint32Array;
  readonly filter: Uint32Array;
  /** In 0..1; a row that responds at all has a maximum of 1. */
  readonly similarity: Float64Array;
}

/** Rows worked at a time: bounds memory, and lets a signal or a progress bar in between. */
const CHUNK_ROWS = 16_384;

/** Responses kept at a time while ties are resolved. */
const TIE_ROOM = 1 << 22;

/** Called with the share of rows done before each chunk; may throw to stop. */
export type OnChunk = (share: number) => Promise<void>;

/** Similarities of all rows, chunk by chunk. */
export async function* similarities(
  x: RowSource,
  bank: KeptBank,
  nBest: number,
  backend: Backend,
  onChunk: OnChunk,
): AsyncGenerator<{ from: number; rows: number; similar: Similar }> {
  const { filters } = bank.bank;
  const k = effectiveK(nBest, filters);
  for await (const { from, held } of chunksOf(x, filters, backend, onChunk)) {
    const top = await held.topFilters(bank.on(held), Math.min(Math.max(2, k), filters));
    const open = openRows(top.rows, (r) => isAllTied(top, r));
    const tied = await resolveTies(held, bank, open, top);
    yield { from, rows: top.rows, similar: toSimilarities(top, k, tied, filters) };
  }
}

/** The filters that share the largest response, for all rows, chunk by chunk: what a vote needs. */
export async function* strongest(
  x: RowSource,
  bank: KeptBank,
  backend: Backend,
  onChunk: OnChunk,
): AsyncGenerator<{ from: number; rows: number; top: Leaders; tied: Tied }> {
  for await (const { from, held } of chunksOf(x, bank.bank.filters, backend, onChunk)) {
    const top = await held.leaders(bank.on(held));
    const open = openRows(top.rows, (r) => top.tied[r] === 1);
    yield { from, rows: top.rows, top, tied: await resolveTies(held, bank, open, { response: top.response, k: 1 }) };
  }
}

/** For each row that needs it, all filters at the row's largest response. */
export type Tied = ReadonlyMap<number, Uint32Array>;

/** k of the method: nBest, but at most one less than there are filters. */
function effectiveK(nBest: number, filters: number): number {
  return Math.max(1, Math.min(nBest, filters - 1));
}

/** The rows of `x` in chunks, each held by the back end until the next one is asked for; `filters` are those it will meet. */
export async function* chunksOf(
  x: RowSource,
  filters: number,
  backend: Backend,
  onChunk: OnChunk,
): AsyncGenerator<{ from: number; rows: number; held: HeldRows }> {
  for (let from = 0; from < x.rows; from += CHUNK_ROWS) {
    await onChunk(from / x.rows);
    const held = await backend.hold(x.slice(from, Math.min(x.rows, from + CHUNK_ROWS)), { filters });
    try {
      yield { from, rows: held.rows, held };
    } finally {
      held.release();
    }
  }
}

/** Whether the last kept response of row r equals the first: the kept list may end in the middle of a tie. */
function isAllTied({ response, k }: TopFilters, r: number): boolean {
  return response[r * k] === response[(r + 1) * k - 1];
}

/** The rows, ascending, of which more has to be known. */
function openRows(rows: number, isOpen: (r: number) => boolean): Uint32Array {
  const open: number[] = [];
  for (let r = 0; r < rows; r++) if (isOpen(r)) open.push(r);
  return Uint32Array.from(open);
}

/** All filters at the largest response of the `open` rows (ascending), of which the `k` strongest are known. */
async function resolveTies(
  held: HeldRows,
  bank: KeptBank,
  open: Uint32Array,
  { response, k }: Pick<TopFilters, "response" | "k">,
): Promise<Tied> {
  const { filters } = bank.bank;
  const tied = new Map<number, Uint32Array>();
  // A row without response most often has none to any filter; for the other rows more and more filters are asked for.
  await findTied(
    held,
    bank,
    open.filter((r) => response[r * k] === 0),
    filters,
    tied,
  );
  let still: Uint32Array = open.filter((r) => response[r * k] !== 0);
  for (let most = k; still.length > 0; ) {
    most = Math.min(filters, Math.max(2, most) * 8);
    still = await findTied(held, bank, still, most, tied);
  }
  return tied;
}

/** Adds the filters at the largest response of the `open` rows, where they are fewer than `k` or all; returns the other rows. */
async function findTied(
  held: HeldRows,
  bank: KeptBank,
  open: Uint32Array,
  k: number,
  tied: Map<number, Uint32Array>,
): Promise<Uint32Array> {
  const still: number[] = [];
  const block = Math.max(1, Math.floor(TIE_ROOM / k));
  for (let from = 0; from < open.length; from += block) {
    const rows = open.subarray(from, from + block);
    const more = await held.topFilters(bank.on(held), k, rows);
    for (let j = 0; j < rows.length; j++) {
      let count = 0;
      while (count < k && more.response[j * k + count] === more.response[j * k]) count++;
      if (count === k && k < bank.bank.filters) still.push(rows[j]);
      else tied.set(rows[j], more.filter.slice(j * k, j * k + count));
    }
  }
  return Uint32Array.from(still);
}

/** Responses to similarities. */
function toSimilarities(top: TopFilters, k: number, tied: Tied, filters: number): Similar {
  const offsets = new Uint32Array(top.rows + 1);
  let most = top.rows * top.k;
  for (const equal of tied.values()) most += equal.length;
  const filter = new Uint32Array(most);
  const similarity = new Float64Array(most);
  let size = 0;
  for (let r = 0; r < top.rows; r++) {
    const at = r * top.k;
    const largest = top.response[at];
    const kth = top.response[at + Math.min(k, top.k) - 1];
    if (kth < largest) {
      for (let j = at; top.response[j] > kth; j++) {
        filter[size] = top.filter[j];
        similarity[size++] = (top.response[j] - kth) / (largest - kth);
      }
    } else {
      // The k strongest are equal: they are 1, everything below them is 0. If nothing responds at all, all are 0.
      const equal = tied.get(r) ?? strongestOf(top, r);
      const silent = equal.length === filters && largest === 0;
      for (const f of silent ? [] : equal) {
        filter[size] = f;
        similarity[size++] = 1;
      }
    }
    offsets[r + 1] = size;
  }
  return { offsets, filter: filter.subarray(0, size), similarity: similarity.subarray(0, size) };
}

/** The filters at the largest response of row r, where the kept list does not end inside the tie. */
function strongestOf(top: TopFilters, r: number): Uint32Array {
  const at = r * top.k;
  let count = 1;
  while (count < top.k && top.response[at + count] === top.response[at]) count++;
  return top.filter.subarray(at, at + count);
}

/** The similarities of all rows, rows x filters. */
export async function similarityMatrix(
  x: RowSource,
  bank: KeptBank,
  nBest: number,
  backend: Backend,
  onChunk: OnChunk,
): Promise<Csr> {
  const parts: Similar[] = [];
  for await (const { similar } of similarities(x, bank, nBest, backend, onChunk)) parts.push(similar);
  return toMatrix(parts, x.rows, bank.bank.filters);
}

/** Joins chunks of similarities into one matrix, filters ascending within a row. */
function toMatrix(parts: readonly Similar[], rows: number, filters: number): Csr {
  const entries = parts.reduce((sum, part) => sum + part.filter.length, 0);
  const offsets = new Uint32Array(rows + 1);
  const indices = new Uint32Array(entries);
  const values = new Float64Array(entries);
  let row = 0;
  let at = 0;
  for (const part of parts) {
    for (let r = 0; r + 1 < part.offsets.length; r++) {
      const from = part.offsets[r];
      const to = part.offsets[r + 1];
      const order = Uint32Array.from({ length: to - from }, (_, j) => from + j);
      order.sort((a, b) => part.filter[a] - part.filter[b]);
      for (const e of order) {
        indices[at] = part.filter[e];
        values[at++] = part.similarity[e];
      }
      offsets[++row] = at;
    }
  }
  return Csr.of(offsets, indices, values, filters);
}
