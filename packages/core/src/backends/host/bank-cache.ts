/** The banks of a back end that keep something that can be made again: the ones longest unused give it up first. */

/** A bank that keeps something. */
export interface Cached {
  readonly isInUse: boolean;
  readonly cachedBytes: number;
  /** Gives up what can be made again. */
  evict(): void;
}

export class BankCache {
  /** The one longest unused first. */
  readonly #banks = new Set<Cached>();
  readonly #budgetBytes: number;

  constructor(budgetBytes: number) {
    this.#budgetBytes = budgetBytes;
  }

  /** Notes that a bank is being used, and evicts others if they keep too much. */
  touch(used: Cached): void {
    this.#banks.delete(used);
    this.#banks.add(used);
    let bytes = 0;
    for (const each of this.#banks) bytes += each.cachedBytes;
    for (const each of this.#banks) {
      if (bytes <= this.#budgetBytes) return;
      if (each === used || each.isInUse) continue;
      bytes -= each.cachedBytes;
      this.#evict(each);
    }
  }

  /** Notes that a bank is gone. */
  forget(gone: Cached): void {
    this.#banks.delete(gone);
  }

  /** Evicts all idle banks; returns whether that gave anything back. */
  clear(): boolean {
    let found = false;
    for (const each of this.#banks) {
      if (each.isInUse) continue;
      found ||= each.cachedBytes > 0;
      this.#evict(each);
    }
    return found;
  }

  #evict(bank: Cached): void {
    this.#banks.delete(bank);
    bank.evict();
  }
}
