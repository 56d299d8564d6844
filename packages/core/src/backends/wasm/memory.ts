/**
 * The one place that gives out WebAssembly memory. Blocks are found by first fit, given back and joined with their
 * neighbours; the memory itself only grows. Nothing here knows what is stored.
 */

import { RanksimError } from "../../errors.ts";

/** Bytes of a WebAssembly page. */
const PAGE = 65_536;

/** Pages of the largest memory: one short of 4 GiB, as the kernels were compiled. */
export const MOST_PAGES = 65_535;

/** Blocks begin at multiples of this: a cache line, and as much may be read beyond an array's end. */
const LINE = 64;

interface Free {
  at: number;
  bytes: number;
}

/** WebAssembly memory in blocks. Views become stale when more memory is taken: make them when they are needed. */
export class Memory {
  readonly raw: WebAssembly.Memory;
  /** Gaps by address. What lies beyond the last block is not among them. */
  readonly #gaps: Free[] = [];
  readonly #blocks = new Map<number, number>();
  /** Where fresh memory begins. Address 0 stands for "none" and is never given out. */
  #end = LINE;

  constructor(raw: WebAssembly.Memory) {
    this.raw = raw;
  }

  /** A block of at least `bytes`, with a cache line to spare. Its contents are whatever was there. */
  take(bytes: number): number {
    const size = Math.ceil((bytes + LINE) / LINE) * LINE;
    const gap = this.#gaps.findIndex((free) => free.bytes >= size);
    let at: number;
    if (gap >= 0) {
      const free = this.#gaps[gap];
      at = free.at;
      free.at += size;
      free.bytes -= size;
      if (free.bytes === 0) this.#gaps.splice(gap, 1);
    } else {
      at = this.#end;
      this.#grow(at + size);
      this.#end = at + size;
    }
    this.#blocks.set(at, size);
    return at;
  }

  /** Gives a block back. 0 is allowed and does nothing. */
  give(at: number): void {
    const size = this.#blocks.get(at);
    if (size === undefined) return;
    this.#blocks.delete(at);
    let place = this.#gaps.findIndex((free) => free.at > at);
    if (place < 0) place = this.#gaps.length;
    this.#gaps.splice(place, 0, { at, bytes: size });
    this.#join(place);
    this.#join(place - 1);
    const last = this.#gaps.at(-1);
    if (last && last.at + last.bytes === this.#end) {
      this.#end = last.at;
      this.#gaps.pop();
    }
  }

  /** Bytes in blocks now. */
  get used(): number {
    let sum = 0;
    for (const size of this.#blocks.values()) sum += size;
    return sum;
  }

  u8(at: number, length: number): Uint8Array {
    return new Uint8Array(this.raw.buffer, at, length);
  }

  u16(at: number, length: number): Uint16Array {
    return new Uint16Array(this.raw.buffer, at, length);
  }

  i16(at: number, length: number): Int16Array {
    return new Int16Array(this.raw.buffer, at, length);
  }

  u32(at: number, length: number): Uint32Array {
    return new Uint32Array(this.raw.buffer, at, length);
  }

  f32(at: number, length: number): Float32Array {
    return new Float32Array(this.raw.buffer, at, length);
  }

  f64(at: number, length: number): Float64Array {
    return new Float64Array(this.raw.buffer, at, length);
  }

  /** A copy of `values` in a block of its own. */
  put(values: ArrayBufferView & { readonly length: number }): number {
    const at = this.take(values.byteLength);
    this.u8(at, values.byteLength).set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    return at;
  }

  #join(place: number): void {
    const left = this.#gaps[place];
    const right = this.#gaps[place + 1];
    if (!left || !right || left.at + left.bytes !== right.at) return;
    left.bytes += right.bytes;
    this.#gaps.splice(place + 1, 1);
  }

  #grow(end: number): void {
    const pages = Math.ceil(end / PAGE);
    const have = this.raw.buffer.byteLength / PAGE;
    if (pages <= have) return;
    // A little ahead, so that many small blocks do not grow the memory many times.
    const ahead = Math.min(MOST_PAGES, Math.max(pages, Math.ceil(have * 1.25)));
    for (const wanted of [ahead, pages]) {
      try {
        this.raw.grow(wanted - have);
        return;
      } catch {
        // Tried again with no more than is needed.
      }
    }
    throw new RanksimError(
      "no-backend",
      `WebAssembly memory: expected room for ${end} bytes, found no more than ${this.raw.buffer.byteLength}`,
    );
  }
}
