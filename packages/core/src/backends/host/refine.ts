/** Refinement by the kernels as they are written: for the reference, and wherever a faster back end has none of its own. */

import { bankOf, compareListed, enrol, learn, type Pupils, rankMoved } from "../../kernels/refine.ts";
import type { Compared, FilterBank, Lesson, Listed, Prototypes, Rows } from "../../kernels/shapes.ts";
import type { HeldBank, Refining } from "../contract.ts";
import { isDue, type Turn } from "../turn.ts";

/** Rows compared, and prototypes ranked, between two looks at the clock. */
const ROWS = 32;
const FILTERS = 4;

export class RefiningInPlace implements Refining {
  readonly #x: Rows;
  readonly #turn: Turn;
  readonly #own: (bank: FilterBank) => HeldBank;
  readonly #pupils: Pupils;
  #listed: Listed = { codes: new Uint32Array(0), filters: new Uint32Array(0), k: 0 };

  /** `own` makes the back end's handle of a bank. */
  constructor(x: Rows, start: Prototypes, turn: Turn, own: (bank: FilterBank) => HeldBank) {
    this.#x = x;
    this.#turn = turn;
    this.#own = own;
    this.#pupils = enrol(start);
  }

  list(listed: Listed): void {
    this.#listed = listed;
  }

  async teach(lesson: Lesson): Promise<Compared> {
    const [x, pupils] = [this.#x, this.#pupils];
    const count = lesson.rows.length;
    const compared = { own: new Uint32Array(count), rival: new Uint32Array(count), margin: new Float64Array(count) };
    for (let from = 0; from < count; from += ROWS) {
      compareListed(x, pupils, lesson.rows, this.#listed, from, Math.min(count, from + ROWS), compared);
      if (isDue()) await this.#turn.pause();
    }
    for (let from = 0; from < count; from += ROWS) {
      learn(x, pupils, lesson, compared, from, Math.min(count, from + ROWS));
      if (isDue()) await this.#turn.pause();
    }
    for (let from = 0; from < pupils.filters; from += FILTERS) {
      rankMoved(pupils, lesson, from, Math.min(pupils.filters, from + FILTERS));
      if (isDue()) await this.#turn.pause();
    }
    return compared;
  }

  async values(): Promise<Float64Array> {
    return this.#pupils.values.slice();
  }

  async bank(): Promise<HeldBank> {
    return this.#own(bankOf(this.#pupils));
  }

  release(): void {}
}
