/**
 * Inverted indexes of sparse banks (`assembly/sparse-index.ts`), the decision which arithmetic they hold, and the banks
 * with their indexes that are kept between calls: prediction in pieces asks the same bank many times, training asks each
 * new bank two or three times.
 */

import type { FilterBank } from "../../kernels/shapes.ts";
import { bytesOfBank, type CsrBank, describeCsrBank, loadCsrBank, unloadCsrBank } from "./csr-bank.ts";
import {
  COLUMN_COUNT,
  COLUMNS,
  COMMON_NORM_F64,
  CSR_CONTEXT_BYTES,
  FEATURES,
  HUGE_ROW_F64,
  LARGEST_32_F64,
  PLACE_BASE_F64S,
  PLACE_BASE_I32S,
  PLACE_FILTER,
  PLACE_NORM_F64S,
  PLACES,
  POSTING_COUNT,
  POSTINGS,
  ROOM,
  SCALE_F64,
  SPREAD_F64,
  TABLE,
  TINY_ROW_F64,
  WHOLE,
} from "./csr-context.ts";
import type { CsrBlock } from "./csr-rows.ts";
import { Context, type Engine } from "./engine.ts";
import type { Memory } from "./memory.ts";

/** Sums of whole numbers below this are exact in float64. */
const EXACT = 2 ** 53;
/** 32-bit scores stay below this. */
const MOST_32 = 2 ** 31;
/** Norms outside these bounds could make a quotient or a threshold round in ways no allowance covers. */
const SMALLEST_NORM = 1e-100;
const LARGEST_NORM = 1e100;
/** A response smaller or larger than this could have met underflow or overflow. */
const SMALLEST_RESPONSE = 1e-200;
const LARGEST_RESPONSE = 1e200;
/** Banks kept when not in use. */
const KEPT = 2;

/** An index of some filters of a bank in memory. */
export interface CsrIndex {
  readonly whole: boolean;
  readonly places: number;
  readonly room: number;
  readonly scale: number;
  readonly spread: number;
  readonly tinyRow: number;
  readonly hugeRow: number;
  readonly largest32: number;
  readonly commonNorm: number;
  /** Blocks of memory: filters, bases (float64, 32-bit) and norms by place, table, columns, postings. */
  readonly blocks: readonly number[];
}

/** Whether an index gives right answers for this bank at all. */
export function isIndexable(bank: CsrBank): boolean {
  const { sparse, facts } = bank;
  return sparse && facts.lowestNorm >= SMALLEST_NORM && facts.highestNorm <= LARGEST_NORM;
}

/** Whether scores of these rows are exact in whole numbers. */
export function isExact(bank: CsrBank, block: CsrBlock): boolean {
  const { facts } = bank;
  return facts.whole && facts.spread < MOST_32 && block.largest * Math.max(1, facts.highest) < EXACT;
}

/** Bytes an index of filters [first, last) takes at most. */
export function bytesOfIndex(bank: FilterBank, first: number, last: number): number {
  const exceptions = bank.form === "sparse" ? bank.offsets[last] - bank.offsets[first] : 0;
  return bytesOfBank(bank, first, last) + bank.features * 8 + exceptions * 32 + (last - first) * 20;
}

/** Makes the index of the listed filters (numbers within `bank`). The caller gives it back by `releaseIndex`. */
export async function makeIndex(
  engine: Engine,
  bank: CsrBank,
  filters: Uint32Array,
  whole: boolean,
): Promise<CsrIndex> {
  const { memory } = engine;
  const places = filters.length;
  const room = Math.ceil(places / 4) * 4;
  const { lowest, highest, spread, lowestNorm, highestNorm } = bank.facts;
  const largest = Math.max(Math.abs(lowest), Math.abs(highest));
  const scale = largest > 0 ? 2 ** Math.min(1000, -Math.ceil(Math.log2(largest))) : 1;
  const bases = memory.f64(bank.base, bank.filters);
  const norms = memory.f64(bank.norm, bank.filters);
  const placeBase = new Float64Array(room);
  const placeNorm = new Float64Array(room).fill(1);
  for (let p = 0; p < places; p++) {
    placeBase[p] = whole ? bases[filters[p]] : bases[filters[p]] * scale;
    placeNorm[p] = whole ? norms[filters[p]] : norms[filters[0]] / norms[filters[p]];
  }
  const blocks: number[] = [];
  const keep = (at: number): number => {
    blocks.push(at);
    return at;
  };
  const context = new Context(memory, CSR_CONTEXT_BYTES);
  try {
    for (const values of [filters, placeBase, Int32Array.from(placeBase), placeNorm]) keep(memory.put(values));
    keep(memory.take(bank.features * 8));
    const index: CsrIndex = {
      whole,
      places,
      room,
      scale,
      spread: spread * scale,
      tinyRow: (SMALLEST_RESPONSE * Math.max(1, highestNorm)) / (largest || 1),
      hugeRow: (LARGEST_RESPONSE * Math.min(1, lowestNorm)) / (largest || 1),
      largest32: MOST_32 / Math.max(1, highest),
      commonNorm: placeNorm.subarray(0, places).every((norm) => norm === placeNorm[0]) ? placeNorm[0] : 0,
      blocks,
    };
    describeIndex(describeCsrBank(context, bank), index).set([FEATURES, bank.features]);
    await engine.run("plan_index_csr", 1, 1, 0, context);
    const [columns] = memory.u32(context.at + COLUMN_COUNT, 1);
    const [postings] = memory.u32(context.at + POSTING_COUNT, 1);
    keep(memory.take(columns * room * 4));
    keep(memory.take(postings * 8));
    describeIndex(context, index);
    await engine.run("fill_index_csr", 1, 1, 0, context);
    return index;
  } catch (error) {
    for (const at of blocks) memory.give(at);
    throw error;
  } finally {
    context.release();
  }
}

/** The numbers of all filters of a bank in memory. */
export function allFilters({ filters }: CsrBank): Uint32Array {
  return Uint32Array.from({ length: filters }, (_, f) => f);
}

export function releaseIndex(memory: Memory, index: CsrIndex): void {
  for (const at of index.blocks) memory.give(at);
}

/** Tells a context about an index. */
export function describeIndex(context: Context, index: CsrIndex): Context {
  const [filters, bases, bases32, norms, table, columns = 0, postings = 0] = index.blocks;
  return context
    .set([WHOLE, index.whole ? 1 : 0], [PLACES, index.places], [ROOM, index.room], [PLACE_FILTER, filters])
    .set([PLACE_BASE_F64S, bases], [PLACE_BASE_I32S, bases32], [PLACE_NORM_F64S, norms])
    .set([TABLE, table], [COLUMNS, columns], [POSTINGS, postings])
    .setF64([SCALE_F64, index.scale], [SPREAD_F64, index.spread], [LARGEST_32_F64, index.largest32])
    .setF64([TINY_ROW_F64, index.tinyRow], [HUGE_ROW_F64, index.hugeRow], [COMMON_NORM_F64, index.commonNorm]);
}

/** All filters of a bank in memory, with its indexes once they were asked for. */
export interface CsrEntry {
  readonly bank: CsrBank;
  /** Of all filters: whole, and approximate. */
  readonly indexes: { whole?: Promise<CsrIndex>; single?: Promise<CsrIndex> };
}

interface Kept extends CsrEntry {
  readonly key: WeakRef<FilterBank>;
  users: number;
}

/** The banks a back end has in memory. An entry in use is never given up. */
export class CsrBankCache {
  readonly #engine: Engine;
  /** Most recently used last. */
  #kept: Kept[] = [];

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** The bank in memory. Each call is answered by one `giveBack`. */
  borrow(bank: FilterBank): CsrEntry {
    let entry = this.#kept.find((kept) => kept.key.deref() === bank);
    if (!entry) {
      this.#drop(KEPT - 1);
      entry = {
        key: new WeakRef(bank),
        bank: loadCsrBank(this.#engine, bank, 0, bank.filters),
        indexes: {},
        users: 0,
      };
    }
    this.#kept = [...this.#kept.filter((kept) => kept !== entry), entry];
    entry.users++;
    return entry;
  }

  giveBack(entry: CsrEntry): void {
    (entry as Kept).users--;
    this.#drop(KEPT);
  }

  /** The index of all filters. */
  index(entry: CsrEntry, whole: boolean): Promise<CsrIndex> {
    const name = whole ? "whole" : "single";
    const known = entry.indexes[name];
    if (known) return known;
    const making = makeIndex(this.#engine, entry.bank, allFilters(entry.bank), whole);
    entry.indexes[name] = making;
    making.catch(() => {
      delete entry.indexes[name];
    });
    return making;
  }

  /** Gives up all banks not in use. */
  release(): void {
    this.#drop(0);
  }

  #drop(keep: number): void {
    const { memory } = this.#engine;
    let spare = this.#kept.filter((kept) => kept.users === 0).length - keep;
    this.#kept = this.#kept.filter((kept) => {
      if (kept.users > 0 || spare <= 0) return true;
      spare--;
      for (const made of Object.values(kept.indexes)) made.then((index) => releaseIndex(memory, index));
      unloadCsrBank(memory, kept.bank);
      return false;
    });
  }
}
