/** What all handles share: a call that uses one keeps it, and it is freed once it is released and no longer in use. */

import { RanksimError } from "../../errors.ts";
import type { Handle } from "../contract.ts";

export abstract class Counted implements Handle {
  #users = 0;
  #released = false;

  /** Whether it was released; it may still be in use. */
  get isReleased(): boolean {
    return this.#released;
  }

  /** Whether it is in use. */
  get isInUse(): boolean {
    return this.#users > 0;
  }

  /** Does some work with it. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#released) {
      throw new RanksimError(
        "no-backend",
        "expected rows, filters or sums in a back end, found some that were released",
      );
    }
    this.#users++;
    try {
      return await work();
    } finally {
      this.#users--;
      if (this.#released && this.#users === 0) this.free();
    }
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    if (this.#users === 0) this.free();
  }

  /** Gives up what it has; called once. */
  protected abstract free(): void;
}

/** A lock: runs one piece of work after the other. */
export class Lock {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => {}); // its caller handles a failure; the next one runs all the same
    return mine;
  }
}
