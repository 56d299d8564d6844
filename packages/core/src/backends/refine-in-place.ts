/** Refinement by the kernels as they are written: for the reference, and wherever a faster back end has none of its own. */

import { bankOf, enrol, type Pupils, teach } from "../kernels/refine.ts";
import type { Compared, FilterBank, Lesson, Listed, Prototypes, Rows } from "../kernels/shapes.ts";
import type { Refining } from "./backend.ts";

export class RefiningInPlace implements Refining {
  readonly #x: Rows;
  readonly #pupils: Pupils;
  #listed: Listed = { codes: new Uint32Array(0), filters: new Uint32Array(0), k: 0 };

  constructor(x: Rows, start: Prototypes) {
    this.#x = x;
    this.#pupils = enrol(start);
  }

  list(listed: Listed): void {
    this.#listed = listed;
  }

  async teach(lesson: Lesson): Promise<Compared> {
    return teach(this.#x, this.#pupils, this.#listed, lesson);
  }

  values(): Float64Array {
    return this.#pupils.values.slice();
  }

  bank(): FilterBank {
    return bankOf(this.#pupils);
  }

  release(): void {}
}
