/**
 * A bank that a model goes on using. It is taken into each back end once, by the first call that needs it there, and stays
 * for as long as the back end has room: a server does not load its model again for every request.
 */

import type { Backend, HeldBank, HeldRows } from "../backends/contract.ts";
import type { FilterBank } from "../kernels/shapes.ts";

export class KeptBank {
  readonly bank: FilterBank;
  readonly #held = new WeakMap<Backend, HeldBank>();

  readonly #first: HeldBank | undefined;

  /** `rows`: where the bank is taken at once, by somebody who may yet give it up. */
  constructor(bank: FilterBank, rows?: HeldRows) {
    this.bank = bank;
    this.#first = rows && this.on(rows);
  }

  /** The bank where the rows are. It is not the caller's to release. */
  on(rows: HeldRows): HeldBank {
    let held = this.#held.get(rows.backend);
    if (!held) {
      held = rows.load(this.bank);
      this.#held.set(rows.backend, held);
    }
    return held;
  }

  /** Gives up what was taken at once: the bank is not going to be used. */
  release(): void {
    this.#first?.release();
  }
}
