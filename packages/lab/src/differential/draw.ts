/** Draws of one case: the same seed and number give the same case on every machine. */

/** A stream of draws. */
export class Draw {
  #state: number;

  /** `seed` is that of the session, `number` that of the case. */
  constructor(seed: number, number: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b9) ^ Math.imul(number + 1, 0x85ebca6b);
    for (let j = 0; j < 4; j++) this.#next();
  }

  /** From 0 (included) to 1 (not included). */
  share(): number {
    return this.#next() / 2 ** 32;
  }

  /** A whole number from 0 (included) to `count` (not included). */
  below(count: number): number {
    return Math.floor(this.share() * count);
  }

  /** A whole number from `least` to `most`, both included. */
  from(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)];
  }

  /** True in this share of the draws. */
  chance(share: number): boolean {
    return this.share() < share;
  }

  /** A Weyl sequence, mixed. Source of the constants: the finalizer of MurmurHash3. */
  #next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let z = this.#state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  }
}
