/** What refinement remembers of the rows of a matrix: which filters they are compared with, and which of them are skipped. */

import type { Compared, Listed, TopFilters } from "../../backends/contract.ts";
import { marginOf } from "../../kernels/refine.ts";

/** For each row the filters it is compared with, and how far it led when last looked at. */
export class RowState {
  readonly #codes: Uint32Array;
  readonly #filterClass: Uint32Array;
  readonly #own: number;
  readonly #rivals: number;
  readonly #width: number;
  readonly #lists: Uint32Array;
  readonly #margin: Float64Array;

  constructor(codes: Uint32Array, filterClass: Uint32Array, own: number, rivals: number) {
    this.#codes = codes;
    this.#filterClass = filterClass;
    this.#own = own;
    this.#rivals = rivals;
    this.#width = own + rivals;
    this.#lists = new Uint32Array(codes.length * this.#width);
    this.#margin = new Float64Array(codes.length);
  }

  /** Takes the lists of `rows` from a search of all rows, or of these alone. A row without an own filter, or without another, is skipped. */
  list({ filter, response, k }: TopFilters, rows: Uint32Array, alone = false): void {
    const [codes, filterClass, lists, width] = [this.#codes, this.#filterClass, this.#lists, this.#width];
    const [mostOwn, mostRivals] = [this.#own, this.#rivals];
    for (let j = 0; j < rows.length; j++) {
      const r = rows[j];
      const from = (alone ? j : r) * k;
      const at = r * width;
      let own = 0;
      let rivals = 0;
      let first = 0;
      let other = 0;
      for (let e = from; e < from + k; e++) {
        if (filterClass[filter[e]] === codes[r]) {
          if (own === 0) first = response[e];
          if (own < mostOwn) lists[at + own++ + rivals] = filter[e];
        } else {
          if (rivals === 0) other = response[e];
          if (rivals < mostRivals) lists[at + own + rivals++] = filter[e];
        }
      }
      const count = own + rivals;
      for (let e = count; e < width; e++) lists[at + e] = lists[at + count - 1];
      this.#margin[r] = own > 0 && rivals > 0 ? marginOf(first, other) : 1;
    }
  }

  /** Rows that led by less than `margin`. */
  active(rows: Uint32Array, margin: number): Uint32Array {
    const margins = this.#margin;
    const found = new Uint32Array(rows.length);
    let count = 0;
    for (let j = 0; j < rows.length; j++) if (margins[rows[j]] < margin) found[count++] = rows[j];
    return found.subarray(0, count);
  }

  get listed(): Listed {
    return { codes: this.#codes, filters: this.#lists, k: this.#width };
  }

  note(rows: Uint32Array, { margin }: Compared): void {
    for (let j = 0; j < rows.length; j++) this.#margin[rows[j]] = margin[j];
  }
}
