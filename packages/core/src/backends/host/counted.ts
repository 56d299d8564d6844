/** What all handles share: whoever uses one keeps it, and it goes when it is released and nobody uses it any more. */

import { RanksimError } from "../../errors.ts";
import type { Handle } from "../contract.ts";

export abstract class Counted implements Handle {
  #users = 0;
  #released = false;

  /** Whether it was released, though somebody may still be using it. */
  get isReleased(): boolean {
    return this.#released;
  }

  /** Whether somebody is using it. */
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

/** Lets one piece of work after the other have something to itself. */
export class Lock {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => {}); // a failure is its caller's affair; the next one has its turn all the same
    return mine;
  }
}
