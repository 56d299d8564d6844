/** What decides between candidates: responses that the device computed exactly, or those of the host's own kernel. */

import { dotRow } from "../../kernels/dot.ts";
import { inMemory } from "../../kernels/rows.ts";
import type { FilterBank, RowSource, Rows, TopFilters } from "../../kernels/shapes.ts";
import { expandFilter, insert } from "../../kernels/top.ts";
import type { Turn } from "../turn.ts";

/** Multiply-adds between two looks at the clock, and bytes of rows that are gathered at a time. */
const AT_ONCE = 2 ** 24;
const GATHERED = 2 ** 22;

/** Candidates of rows. */
export interface Candidates {
  readonly rows: number;
  /** Words of a row: the number of candidates, then as many of them as there is room for. */
  readonly words: number;
  readonly found: Uint32Array;
  /** Exact products of the candidates, `words - 1` a row, where the device computes them. */
  readonly exact: Float64Array | undefined;
}

/** Candidates of a row; undefined where there were more than are listed. */
export function countOf({ found, words }: Candidates, r: number): number | undefined {
  const count = found[r * words];
  return count < words ? count : undefined;
}

/**
 * The strongest k of each row's candidates into `top`, where `wants(r)`; places without one have the response -Infinity. Row r of the
 * answer is row `of[r]` of the source, or r. Returns how many responses were computed.
 */
export async function decide(
  source: RowSource,
  bank: FilterBank,
  candidates: Candidates,
  of: Uint32Array | undefined,
  wants: (r: number) => boolean,
  top: TopFilters,
  turn: Turn,
): Promise<number> {
  const { found, words, rows, exact } = candidates;
  if (exact) return order(candidates, exact, bank, wants, top);
  const near = rowsInMemory(source);
  const terms = source.entries / source.rows;
  const most = near ? Number.POSITIVE_INFINITY : Math.max(1, GATHERED / (terms * 12));
  let computed = 0;
  for (let r = 0; r < rows; ) {
    // A block: rows that are wanted, until they make enough work.
    const block: number[] = [];
    let pairs = 0;
    for (; r < rows && pairs * terms < AT_ONCE && block.length < most; r++) {
      if (!wants(r)) continue;
      block.push(r);
      pairs += found[r * words];
    }
    if (block.length === 0) break;
    const places = Uint32Array.from(block, (row) => (of ? of[row] : row));
    const x = near?.rows ?? (await source.gather(places));
    const at = near ? places.map(near.at) : places.map((_, j) => j);
    respond(x, at, bank, candidates, block, pairs, top);
    computed += pairs;
    await turn.pause();
  }
  return computed;
}

/** The strongest of each row's candidates, whose products are known. Returns how many there were. */
function order(
  { found, words, rows }: Candidates,
  exact: Float64Array,
  { norm }: FilterBank,
  wants: (r: number) => boolean,
  { k, filter, response }: TopFilters,
): number {
  let pairs = 0;
  for (let r = 0; r < rows; r++) {
    if (!wants(r)) continue;
    const count = found[r * words];
    pairs += count;
    // They come in any order: of equal responses the lower filter goes first.
    for (let e = 0; e < count; e++) {
      const f = found[r * words + 1 + e];
      const value = exact[r * (words - 1) + e] / norm[f];
      let at = r * k + k - 1;
      const isBefore = (j: number): boolean => value > response[j] || (value === response[j] && f < filter[j]);
      if (!isBefore(at)) continue;
      for (; at > r * k && isBefore(at - 1); at--) {
        response[at] = response[at - 1];
        filter[at] = filter[at - 1];
      }
      response[at] = value;
      filter[at] = f;
    }
  }
  return pairs;
}

/** Responses of one block: row `block[j]` of the answer is row `at[j]` of x. Filters come one after the other, each expanded once. */
function respond(
  x: Rows,
  at: Uint32Array,
  bank: FilterBank,
  { found, words }: Candidates,
  block: readonly number[],
  pairs: number,
  { k, filter, response }: TopFilters,
): void {
  const ends = new Uint32Array(bank.filters + 1);
  for (const r of block) for (let e = 1; e <= found[r * words]; e++) ends[found[r * words + e] + 1]++;
  for (let f = 0; f < bank.filters; f++) ends[f + 1] += ends[f];
  const order = new Uint32Array(pairs);
  const next = ends.slice();
  for (let j = 0; j < block.length; j++) {
    const first = block[j] * words;
    for (let e = 1; e <= found[first]; e++) order[next[found[first + e]]++] = j;
  }
  const { expand, complete, w } = weightsFor(x, bank);
  for (let f = 0; f < bank.filters; f++) {
    if (ends[f] === ends[f + 1]) continue;
    expand(f);
    for (let e = ends[f]; e < ends[f + 1]; e++) {
      const j = order[e];
      complete(f, at[j]);
      insert(dotRow(x, at[j], w) / bank.norm[f], f, response, filter, block[j] * k, k);
    }
  }
}

/** The weights of one filter at a time. Of a sparse one only those that the next row asks for are written. */
function weightsFor(
  x: Rows,
  bank: FilterBank,
): { readonly w: Float64Array; expand(f: number): void; complete(f: number, r: number): void } {
  const w = new Float64Array(bank.features);
  if (x.form === "dense" || bank.form === "dense") {
    return { w, expand: (f) => expandFilter(bank, f, w), complete: () => {} };
  }
  const written = new Int32Array(bank.features).fill(-1); // the filter whose exception a weight is
  return {
    w,
    expand: (f) => {
      for (let e = bank.offsets[f]; e < bank.offsets[f + 1]; e++) {
        w[bank.indices[e]] = bank.weights[e];
        written[bank.indices[e]] = f;
      }
    },
    complete: (f, r) => {
      for (let e = x.offsets[r]; e < x.offsets[r + 1]; e++) {
        if (written[x.indices[e]] !== f) w[x.indices[e]] = bank.base[f];
      }
    },
  };
}

/** The rows of a source in memory, or of one that lists rows of such a source, and which each of them is there. */
function rowsInMemory(source: RowSource): { readonly rows: Rows; at(r: number): number } | undefined {
  const rows = inMemory(source);
  if (rows) return { rows, at: (r) => r };
  const { listed } = source;
  const whole = listed && inMemory(listed.source);
  return whole && { rows: whole, at: (r) => listed.rows[r] };
}
