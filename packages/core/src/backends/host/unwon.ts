/**
 * The strongest rows of filters that have won no row so far, found block by block while rows are assigned. A filter that wins nothing
 * in the end has won nothing all along, so that the rows it is relocated to are known without another pass.
 */

import type { TopRows } from "../../kernels/shapes.ts";
import { mergeTopRows } from "../../kernels/top.ts";
import type { HeldBank, HeldRows } from "../contract.ts";

/** Looking begins once no larger share of the filters is without rows: the first blocks are those of a few filters only. */
const MOST_UNWON = 1 / 4;

/** Room for the k strongest rows of `filters` filters. */
export function noRows(filters: number, k: number): TopRows {
  const value = new Float64Array(filters * k).fill(Number.NEGATIVE_INFINITY);
  return { filters, k, row: new Uint32Array(filters * k), value };
}

export class UnwonFilters {
  readonly #bank: HeldBank;
  readonly #wins: Uint32Array;
  /** Those that had won nothing when they were last looked at, ascending, and their rows. */
  #filters: Uint32Array;
  #top: TopRows;
  /** The first row that was looked at. */
  #from: number | undefined;

  constructor(bank: HeldBank, k: number) {
    this.#bank = bank;
    this.#wins = new Uint32Array(bank.filters);
    this.#filters = Uint32Array.from({ length: bank.filters }, (_, f) => f);
    this.#top = noRows(0, k);
  }

  /** Takes in a block, whose first row has the number `first`, and how many of its rows each filter won. */
  async look(held: HeldRows, wins: Uint32Array, first: number): Promise<void> {
    wins.forEach((won, f) => {
      this.#wins[f] += won;
    });
    const left = this.#filters.filter((f) => this.#wins[f] === 0);
    const { k } = this.#top;
    if (this.#from === undefined) {
      if (left.length > MOST_UNWON * this.#bank.filters) return;
      this.#from = first;
      this.#top = noRows(left.length, k);
    } else this.#top = pickTop(this.#top, this.#filters, left);
    this.#filters = left;
    if (left.length === 0) return;
    mergeTopRows(this.#top, await held.topRows(this.#bank, left, Math.min(k, held.rows)), first);
  }

  /** What was found for the listed filters, and the first row that was looked at; undefined if too little was. */
  strongest(filters: Uint32Array, k: number): { readonly top: TopRows; readonly from: number } | undefined {
    const isKnown = this.#from !== undefined && k <= this.#top.k && filters.every((f) => this.#wins[f] === 0);
    if (!isKnown) return undefined;
    return { top: pickTop(this.#top, this.#filters, filters), from: this.#from as number };
  }
}

/** The rows of some of the filters that there are rows `of`. */
function pickTop({ k, row, value }: TopRows, of: Uint32Array, wanted: Uint32Array): TopRows {
  const picked = noRows(wanted.length, k);
  const places = new Map(Array.from(of, (f, place) => [f, place]));
  for (let j = 0; j < wanted.length; j++) {
    const at = (places.get(wanted[j]) as number) * k;
    picked.row.set(row.subarray(at, at + k), j * k);
    picked.value.set(value.subarray(at, at + k), j * k);
  }
  return picked;
}
