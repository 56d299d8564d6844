/** Some rows of a run and the filters they go to, for a page that shows rows on their way. */

import { type Backend, type FilterBank, type HeldRows, type Label, type Matrix, toDense } from "@ranksim/core";
import type { RowLabels } from "@ranksim/data";
import type { Arrival } from "../protocol.ts";
import { rangeOf } from "./data.ts";

/** Rows that are followed at a time. */
const FOLLOWED = 12;

/** Wider rows are no pictures that could fly. */
const MOST_PIXELS = 4096;

export class Arrivals {
  readonly #backend: Backend;
  readonly #x: Matrix;
  readonly #y: RowLabels | undefined;
  #range: { low: number; high: number } | undefined;
  #followed: { label: Label | undefined; held: HeldRows; pictures: Uint8Array[] } | undefined;

  constructor(backend: Backend, { x, y }: { readonly x: Matrix; readonly y?: RowLabels }) {
    this.#backend = backend;
    this.#x = x;
    this.#y = y;
  }

  /** Where the followed rows of a class (or of all rows) go with the filters as they are; those shown only. */
  async at(label: Label | undefined, bank: FilterBank, shown: number): Promise<Arrival[]> {
    if (this.#x.features > MOST_PIXELS) return [];
    const { held, pictures } = await this.#follow(label);
    const loaded = held.load(bank);
    try {
      const { filter } = await held.topFilters(loaded, 1);
      return pictures.map((picture, j) => ({ picture: picture.slice(), to: filter[j] })).filter(({ to }) => to < shown);
    } finally {
      loaded.release();
    }
  }

  release(): void {
    this.#followed?.held.release();
    this.#followed = undefined;
  }

  async #follow(label: Label | undefined): Promise<{ held: HeldRows; pictures: Uint8Array[] }> {
    if (this.#followed && this.#followed.label === label) return this.#followed;
    this.release();
    const rows: number[] = [];
    for (let row = 0; row < this.#x.rows && rows.length < FOLLOWED; row++) {
      if (label === undefined || this.#y?.[row] === label) rows.push(row);
    }
    const picked = Uint32Array.from(rows);
    this.#range ??= rangeOf(this.#x);
    const { low, high } = this.#range;
    const { values, features } = toDense(this.#x.gather(picked));
    const pictures = rows.map((_, j) =>
      Uint8Array.from(
        values.subarray(j * features, (j + 1) * features),
        (value) => (255 * (value - low)) / (high > low ? high - low : 1),
      ),
    );
    this.#followed = { label, held: await this.#backend.hold(this.#x.gather(picked)), pictures };
    return this.#followed;
  }
}
