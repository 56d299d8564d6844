/** XXH64, the check sum of Zstandard. Numbers of 64 bits are two of 32: BigInt is ten times slower. */

// The constants of the sum, by their halves.
const P1_HIGH = 0x9e3779b1;
const P1_LOW = 0x85ebca87;
const P2_HIGH = 0xc2b2ae3d;
const P2_LOW = 0x27d4eb4f;
const P3_HIGH = 0x165667b1;
const P3_LOW = 0x9e3779f9;
const P4_HIGH = 0x85ebca77;
const P4_LOW = 0xc2b2ae63;
const P5_HIGH = 0x27d4eb2f;
const P5_LOW = 0x165667c5;

/** Bytes that are taken at a time, eight for each lane. */
const STRIPE = 32;

/** The half that functions return beside the low one. */
let high = 0;

function multiply(aHigh: number, aLow: number, bHigh: number, bLow: number): number {
  const a0 = aLow & 0xffff;
  const a1 = aLow >>> 16;
  const b0 = bLow & 0xffff;
  const b1 = bLow >>> 16;
  // A product of two halves and 16 bits more fit in 32 bits, so that no sum is cut.
  const first = Math.imul(a1, b0) + (Math.imul(a0, b0) >>> 16);
  const second = Math.imul(a0, b1) + (first & 0xffff);
  const carried = Math.imul(a1, b1) + (first >>> 16) + (second >>> 16);
  high = (carried + Math.imul(aHigh, bLow) + Math.imul(aLow, bHigh)) | 0;
  return Math.imul(aLow, bLow);
}

function add(aHigh: number, aLow: number, bHigh: number, bLow: number): number {
  const low = (aLow >>> 0) + (bLow >>> 0);
  high = (aHigh + bHigh + (low > 0xffffffff ? 1 : 0)) | 0;
  return low | 0;
}

/** Rotates to the left by fewer than 32 bits. */
function rotate(aHigh: number, aLow: number, bits: number): number {
  high = (aHigh << bits) | (aLow >>> (32 - bits));
  return (aLow << bits) | (aHigh >>> (32 - bits));
}

/** A lane after eight more bytes. */
function round(laneHigh: number, laneLow: number, inHigh: number, inLow: number): number {
  let low = multiply(inHigh, inLow, P2_HIGH, P2_LOW);
  low = add(laneHigh, laneLow, high, low);
  low = rotate(high, low, 31);
  return multiply(high, low, P1_HIGH, P1_LOW);
}

/** A sum that grows with what arrives. The seed is 0. */
export class Xxh64 {
  /** High and low half of each lane. */
  readonly #lanes = new Int32Array(8);
  /** Bytes that are no whole stripe yet. */
  readonly #rest = new Uint8Array(STRIPE);
  #length = 0;

  constructor() {
    const l2 = add(P1_HIGH, P1_LOW, P2_HIGH, P2_LOW);
    this.#lanes.set([high, l2, P2_HIGH, P2_LOW, 0, 0]);
    const l4 = add(0, 0, ~P1_HIGH, -P1_LOW); // -P1: its low half is not 0
    this.#lanes.set([high, l4], 6);
  }

  update(bytes: Uint8Array): void {
    let at = 0;
    const held = this.#length % STRIPE;
    this.#length += bytes.length;
    if (held > 0) {
      at = Math.min(STRIPE - held, bytes.length);
      this.#rest.set(bytes.subarray(0, at), held);
      if (held + at < STRIPE) return;
      this.#stripes(this.#rest, 0, STRIPE);
    }
    const end = at + Math.floor((bytes.length - at) / STRIPE) * STRIPE;
    this.#stripes(bytes, at, end);
    this.#rest.set(bytes.subarray(end));
  }

  #stripes(bytes: Uint8Array, from: number, to: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const lanes = this.#lanes;
    for (let at = from; at < to; at += STRIPE) {
      for (let lane = 0; lane < 8; lane += 2) {
        const inLow = view.getInt32(at + 4 * lane, true);
        const inHigh = view.getInt32(at + 4 * lane + 4, true);
        lanes[lane + 1] = round(lanes[lane], lanes[lane + 1], inHigh, inLow);
        lanes[lane] = high;
      }
    }
  }

  /** The low 32 bits of the sum, which Zstandard keeps. */
  get low(): number {
    const lanes = this.#lanes;
    let low: number;
    if (this.#length < STRIPE) [high, low] = [P5_HIGH, P5_LOW];
    else {
      [high, low] = [0, 0];
      for (const [i, bits] of [1, 7, 12, 18].entries()) {
        const [sumHigh, sumLow] = [high, low];
        low = rotate(lanes[2 * i], lanes[2 * i + 1], bits);
        low = add(sumHigh, sumLow, high, low);
      }
      for (let lane = 0; lane < 8; lane += 2) {
        const [sumHigh, sumLow] = [high, low];
        low = round(0, 0, lanes[lane], lanes[lane + 1]);
        low = multiply(sumHigh ^ high, sumLow ^ low, P1_HIGH, P1_LOW);
        low = add(high, low, P4_HIGH, P4_LOW);
      }
    }
    low = add(high, low, Math.floor(this.#length / 2 ** 32), this.#length | 0);
    low = this.#tail(high, low);
    const mix = (bits: number) => {
      const [before, beforeLow] = [high, low];
      // A shift by 32 or more leaves the low half only.
      low =
        bits < 32 ? beforeLow ^ ((beforeLow >>> bits) | (before << (32 - bits))) : beforeLow ^ (before >>> (bits - 32));
      high = bits < 32 ? before ^ (before >>> bits) : before;
    };
    mix(33);
    low = multiply(high, low, P2_HIGH, P2_LOW);
    mix(29);
    low = multiply(high, low, P3_HIGH, P3_LOW);
    mix(32);
    return low >>> 0;
  }

  /** The sum with the bytes that are no whole stripe: by eight, by four and one by one. */
  #tail(sumHigh: number, sumLow: number): number {
    const view = new DataView(this.#rest.buffer);
    const length = this.#length % STRIPE;
    let low = sumLow;
    high = sumHigh;
    let at = 0;
    for (; at + 8 <= length; at += 8) {
      const [beforeHigh, beforeLow] = [high, low];
      low = round(0, 0, view.getInt32(at + 4, true), view.getInt32(at, true));
      low = rotate(beforeHigh ^ high, beforeLow ^ low, 27);
      low = multiply(high, low, P1_HIGH, P1_LOW);
      low = add(high, low, P4_HIGH, P4_LOW);
    }
    if (at + 4 <= length) {
      const [beforeHigh, beforeLow] = [high, low];
      low = multiply(0, view.getInt32(at, true), P1_HIGH, P1_LOW);
      low = rotate(beforeHigh ^ high, beforeLow ^ low, 23);
      low = multiply(high, low, P2_HIGH, P2_LOW);
      low = add(high, low, P3_HIGH, P3_LOW);
      at += 4;
    }
    for (; at < length; at++) {
      const [beforeHigh, beforeLow] = [high, low];
      low = multiply(0, view.getUint8(at), P5_HIGH, P5_LOW);
      low = rotate(beforeHigh ^ high, beforeLow ^ low, 11);
      low = multiply(high, low, P1_HIGH, P1_LOW);
    }
    return low;
  }
}
