/** Whole numbers of some bits each, one after the other in bytes, the highest bit first. */

export class BitWriter {
  readonly #bytes: Uint8Array;
  #at: number;

  /** Writes to zeros from byte `from` on. */
  constructor(bytes: Uint8Array, from: number) {
    this.#bytes = bytes;
    this.#at = 8 * from;
  }

  write(value: number, bits: number): void {
    for (let b = bits - 1; b >= 0; b--, this.#at++)
      this.#bytes[this.#at >> 3] |= ((value >> b) & 1) << (7 - (this.#at & 7));
  }
}

export class BitReader {
  readonly #bytes: ArrayLike<number>;
  #at: number;

  constructor(bytes: ArrayLike<number>, from: number) {
    this.#bytes = bytes;
    this.#at = 8 * from;
  }

  read(bits: number): number {
    let value = 0;
    for (let b = 0; b < bits; b++, this.#at++)
      value = 2 * value + ((this.#bytes[this.#at >> 3] >> (7 - (this.#at & 7))) & 1);
    return value;
  }
}
