/** Refinement by the kernels as they are written: for the reference, and wherever a faster back end has none of its own. */

import {
  bankOf,
  compareListed,
  learn,
  type RankedPrototypes,
  rankMoved,
  rankPrototypes,
} from "../../kernels/refine.ts";
import type { Compared, FilterBank, Listed, Prototypes, RefineBatch, Rows } from "../../kernels/shapes.ts";
import type { HeldBank, Refining } from "../contract.ts";
import { isDue, type Turn } from "../turn.ts";

/** Rows compared, and prototypes ranked, between two looks at the clock. */
const ROWS = 32;
const FILTERS = 4;

export class RefiningInPlace implements Refining {
  readonly #x: Rows;
  readonly #turn: Turn;
  readonly #own: (bank: FilterBank) => HeldBank;
  readonly #ranked: RankedPrototypes;
  #listed: Listed = { codes: new Uint32Array(0), filters: new Uint32Array(0), k: 0 };

  /** `own` makes the back end's handle of a bank. */
  constructor(x: Rows, start: Prototypes, turn: Turn, own: (bank: FilterBank) => HeldBank) {
    this.#x = x;
    this.#turn = turn;
    this.#own = own;
    this.#ranked = rankPrototypes(start);
  }

  list(listed: Listed): void {
    this.#listed = listed;
  }

  async update(batch: RefineBatch): Promise<Compared> {
    const [x, ranked] = [this.#x, this.#ranked];
    const count = batch.rows.length;
    const compared = { own: new Uint32Array(count), rival: new Uint32Array(count), margin: new Float64Array(count) };
    for (let from = 0; from < count; from += ROWS) {
      compareListed(x, ranked, batch.rows, this.#listed, from, Math.min(count, from + ROWS), compared);
      if (isDue()) await this.#turn.pause();
    }
    for (let from = 0; from < count; from += ROWS) {
      learn(x, ranked, batch, compared, from, Math.min(count, from + ROWS));
      if (isDue()) await this.#turn.pause();
    }
    for (let from = 0; from < ranked.filters; from += FILTERS) {
      rankMoved(ranked, batch, from, Math.min(ranked.filters, from + FILTERS));
      if (isDue()) await this.#turn.pause();
    }
    return compared;
  }

  async values(): Promise<Float64Array> {
    return this.#ranked.values.slice();
  }

  async bank(): Promise<HeldBank> {
    return this.#own(bankOf(this.#ranked));
  }

  release(): void {}
}
