/** What refinement remembers of the rows of a matrix: which filters they are compared with, and which of them rest. */

import type { Compared, Listed, TopFilters } from "../backends/contract.ts";

/** For each row the filters it is compared with, and how far it led when last looked at. */
export class Desk {
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

  /** Takes the lists of `rows` from a search of all rows, or of these alone. A row without an own filter, or without another, rests. */
  list({ filter, response, k }: TopFilters, rows: Uint32Array, alone = false): void {
    for (let j = 0; j < rows.length; j++) {
      const r = rows[j];
      const from = (alone ? j : r) * k;
      const at = r * this.#width;
      let own = 0;
      let rivals = 0;
      let [first, other] = [0, 0];
      for (let e = from; e < from + k; e++) {
        if (this.#filterClass[filter[e]] === this.#codes[r]) {
          if (own === 0) first = response[e];
          if (own < this.#own) this.#lists[at + own++ + rivals] = filter[e];
        } else {
          if (rivals === 0) other = response[e];
          if (rivals < this.#rivals) this.#lists[at + own + rivals++] = filter[e];
        }
      }
      const count = own + rivals;
      this.#lists.fill(this.#lists[at + count - 1], at + count, at + this.#width);
      const sum = Math.abs(first) + Math.abs(other);
      this.#margin[r] = own > 0 && rivals > 0 && sum > 0 ? (first - other) / sum : 1;
    }
  }

  /** Rows that led by less than `rest`. */
  awake(rows: Uint32Array, rest: number): Uint32Array {
    return rows.filter((r) => this.#margin[r] < rest);
  }

  get listed(): Listed {
    return { codes: this.#codes, filters: this.#lists, k: this.#width };
  }

  note(rows: Uint32Array, { margin }: Compared): void {
    for (let j = 0; j < rows.length; j++) this.#margin[rows[j]] = margin[j];
  }
}
