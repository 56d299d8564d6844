/**
 * The banks a back end has in memory. Prediction in pieces asks the same bank many times and training asks each new bank
 * two or three times, so the last two are kept. An entry in use is never given up.
 */

import type { FilterBank } from "../../kernels/shapes.ts";
import { numberOf } from "./bank-number.ts";
import type { Basis } from "./basis.ts";
import { boundFilters, type FilterBounds, releaseFilterBounds } from "./bounds.ts";
import type { DenseBlock } from "./dense-rows.ts";
import type { Engine } from "./engine.ts";
import { type LoadedBank, loadBank, suits, unloadBank } from "./loaded-bank.ts";

/** Banks kept when not in use. */
const KEPT = 2;

/** A bank in memory, with bounds once it has been worth while to make them. */
export interface BankEntry {
  readonly loaded: LoadedBank;
  bounds: FilterBounds | undefined;
  /** Row-filter pairs it was asked about so far. */
  pairs: number;
}

interface Kept extends BankEntry {
  readonly number: number;
  users: number;
}

export class BankCache {
  readonly #engine: Engine;
  /** Most recently used last. */
  #kept: Kept[] = [];

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** The bank, loaded for rows like those of `block`. Each call is answered by one `giveBack`. */
  async borrow(bank: FilterBank, block: DenseBlock): Promise<BankEntry> {
    const number = numberOf(bank);
    let entry = this.#kept.find((kept) => kept.number === number && suits(kept.loaded, block));
    if (!entry) {
      const loaded = await loadBank(this.#engine, bank, 0, bank.filters, block);
      entry = { number, loaded, bounds: undefined, pairs: 0, users: 0 };
    }
    this.#kept = [...this.#kept.filter((kept) => kept !== entry), entry];
    entry.users++;
    return entry;
  }

  giveBack(entry: BankEntry): void {
    (entry as Kept).users--;
    this.#drop(KEPT);
  }

  /** Makes sure the entry has bounds on this basis. */
  async bound(entry: BankEntry, block: DenseBlock, basis: Basis): Promise<FilterBounds> {
    if (entry.bounds?.basis === basis) return entry.bounds;
    const bounds = await boundFilters(this.#engine, entry.loaded, block, basis);
    if (entry.bounds) releaseFilterBounds(this.#engine.memory, entry.bounds);
    entry.bounds = bounds;
    return bounds;
  }

  /** Gives up all banks not in use. */
  release(): void {
    this.#drop(0);
  }

  #drop(keep: number): void {
    const { memory } = this.#engine;
    let spare = this.#kept.filter((kept) => kept.users === 0).length - keep;
    this.#kept = this.#kept.filter((kept) => {
      if (kept.users > 0 || spare <= 0) return true;
      spare--;
      if (kept.bounds) releaseFilterBounds(memory, kept.bounds);
      unloadBank(memory, kept.loaded);
      return false;
    });
  }
}
