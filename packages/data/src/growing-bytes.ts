/** Bytes of a stream in one array that grows with what arrives, never by what a header says. */

import type { Account } from "./budget.ts";

export class GrowingBytes {
  length = 0;
  readonly #account: Account;
  #buffer: Uint8Array<ArrayBuffer>;

  constructor(account: Account, room: number) {
    account.take(room);
    this.#account = account;
    this.#buffer = new Uint8Array(room);
  }

  /** The bytes so far. A view: it holds until the next change. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.length);
  }

  push(chunk: Uint8Array): void {
    const length = this.length + chunk.byteLength;
    if (length > this.#buffer.byteLength) {
      const room = Math.max(this.#buffer.byteLength * 2, length);
      this.#account.take(room);
      const larger = new Uint8Array(room);
      larger.set(this.bytes);
      this.#account.give(this.#buffer.byteLength);
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.length);
    this.length = length;
  }

  /** Leaves out the first bytes. */
  drop(count: number): void {
    this.#buffer.copyWithin(0, count, this.length);
    this.length -= count;
  }

  /** Gives the memory up. */
  release(): void {
    this.#account.give(this.#buffer.byteLength);
  }
}
