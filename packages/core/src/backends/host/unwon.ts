/**
 * The strongest rows of filters that have won no row so far, found block by block while rows are assigned. A filter that wins nothing
 * in the end has won nothing all along, so that the rows it is relocated to are known without another pass.
 */

import { countCodes } from "../../bank/groups.ts";
import type { TopRows } from "../../kernels/shapes.ts";
import { mergeTopRows, noRows } from "../../kernels/top.ts";

/** Looking begins once no larger share of the filters is without rows: the first blocks are those of a few filters only. */
const MOST_UNWON = 1 / 4;

export class UnwonFilters {
  readonly #wins: Uint32Array;
  /** Those that had won nothing when they were last looked at, ascending, and their rows. */
  #filters: Uint32Array;
  #top: TopRows;
  /** The first row that was looked at. */
  #from: number | undefined;

  constructor(filters: number, k: number) {
    this.#wins = new Uint32Array(filters);
    this.#filters = Uint32Array.from(this.#wins.keys());
    this.#top = noRows(0, k);
  }

  /** Takes in the winners of a block, whose first row has the number `first`; `strongest` finds rows of the block. */
  async look(
    winners: Uint32Array,
    first: number,
    strongest: (filters: Uint32Array, k: number) => Promise<TopRows>,
  ): Promise<void> {
    countCodes(winners, this.#wins);
    const left = this.#filters.filter((f) => this.#wins[f] === 0);
    const { k } = this.#top;
    if (this.#from === undefined) {
      if (left.length > MOST_UNWON * this.#wins.length) return;
      this.#from = first;
      this.#top = noRows(left.length, k);
    } else this.#top = pickTop(this.#top, this.#filters, left);
    this.#filters = left;
    if (left.length === 0) return;
    mergeTopRows(this.#top, await strongest(left, k), first);
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
