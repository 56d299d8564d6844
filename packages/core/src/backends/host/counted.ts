/** What has several users: it is freed once the last of them is done with it. */

import { RanksimError } from "../../errors.ts";
import type { Handle } from "../contract.ts";

/** A value and the number of its users. The maker is the first; each answers with one `release`. */
export class Shared<T> {
  readonly value: T;
  readonly bytes: number;
  readonly #free: () => void;
  #users = 1;

  /** `free` is called when the last user is done; `bytes` of memory are given back then. */
  constructor(value: T, free: () => void, bytes = 0) {
    this.value = value;
    this.bytes = bytes;
    this.#free = free;
  }

  get users(): number {
    return this.#users;
  }

  /** One user more. */
  keep(): this {
    if (this.#users === 0) throw new Error("something was used that had been given back");
    this.#users++;
    return this;
  }

  release(): void {
    if (this.#users === 0) throw new Error("something was given back twice");
    if (--this.#users === 0) this.#free();
  }
}

/** A handle: a call that uses it keeps it. */
export abstract class Counted implements Handle {
  /** Its owner and the calls that use it. */
  readonly #shared = new Shared(this, () => this.free());
  #released = false;

  /** Whether it was released; it may still be in use. */
  get isReleased(): boolean {
    return this.#released;
  }

  /** Whether it is in use. */
  get isInUse(): boolean {
    return this.#shared.users > (this.#released ? 0 : 1);
  }

  /** Does some work with it. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#released) {
      throw new RanksimError("no-backend", "expected rows or filters in a back end, found some that were released");
    }
    this.#shared.keep();
    try {
      return await work();
    } finally {
      this.#shared.release();
    }
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#shared.release();
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
