/**
 * A bank that a model goes on using. It is taken into each back end once, by the first call that needs it there, and stays
 * for as long as the back end has room: a server does not load its model again for every request.
 */

import type { FilterBank } from "../kernels/shapes.ts";
import type { Backend, HeldBank, HeldRows } from "./contract.ts";

export class KeptBank {
  readonly bank: FilterBank;
  readonly #held = new WeakMap<Backend, HeldBank>();

  readonly #first: HeldBank | undefined;

  /** `first`: the bank as some back end already has it; `release` frees it. */
  constructor(bank: FilterBank, first?: { readonly held: HeldBank; readonly backend: Backend }) {
    this.bank = bank;
    this.#first = first?.held;
    if (first) this.#held.set(first.backend, first.held);
  }

  /** Loads the bank at once; `release` frees it if no model uses it. */
  static load(bank: FilterBank, rows: HeldRows): KeptBank {
    return new KeptBank(bank, { held: rows.load(bank), backend: rows.backend });
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

  /** Frees what it had from the start: the bank is not going to be used. */
  release(): void {
    this.#first?.release();
  }
}

/** Waits for the last step before a model is made; if it fails, the bank of the model is released. */
export async function orGiveUp(kept: KeptBank | undefined, step: Promise<void>): Promise<void> {
  try {
    await step;
  } catch (error) {
    kept?.release();
    throw error;
  }
}
