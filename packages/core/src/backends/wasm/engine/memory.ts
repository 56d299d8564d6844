/**
 * The one place that gives out WebAssembly memory. Blocks are found by first fit, given back and joined with their
 * neighbours; the memory itself only grows. Blocks are taken through a lease, which gives all it took back exactly once.
 * Nothing here depends on what is stored.
 */

import { Shared } from "../../host/counted.ts";
import { OutOfMemory } from "../../host/out-of-memory.ts";

/** Bytes of a WebAssembly page. */
const PAGE = 65_536;

/** Pages of the largest memory: one short of 4 GiB, as the kernels were compiled. */
export const MOST_PAGES = 65_535;

/**
 * Pages that the memory grows by, if not by more: as many as there are, or three times those that are missing, within these bounds (64 and
 * 512 MiB). What is missing may be rows, and their bounds and filters follow. Pages that are not written to take no room,
 * but an engine counts all of a memory as new whenever it grows, and has its collector run: in a process whose cores are
 * all busy that is time of the work. Measured by how often it grows: once in a fit of 6,000 filters to Fashion-MNIST.
 */
const LEAST_AHEAD = 2 ** 10;
const MOST_AHEAD = 2 ** 13;
const TIMES_MISSING = 3;

/** Blocks begin at multiples of this: a cache line, and as much may be read beyond an array's end. */
const LINE = 64;

interface Free {
  at: number;
  bytes: number;
}

/** WebAssembly memory in blocks. Views become stale when more memory is taken: make them when they are needed. */
export class Memory {
  readonly raw: WebAssembly.Memory;
  /** Bytes that can be had at most. */
  readonly most: number;
  /** Frees what is kept in case it is needed again. Called when memory runs short; says whether there was any. */
  onShort: () => boolean = () => false;
  /** Gaps by address. What lies beyond the last block is not among them. */
  readonly #gaps: Free[] = [];
  readonly #blocks = new Map<number, number>();
  /** Where fresh memory begins. Address 0 stands for "none" and is never given out. */
  #end = LINE;
  #used = 0;

  constructor(raw: WebAssembly.Memory, most: number = MOST_PAGES * PAGE) {
    this.raw = raw;
    this.most = most;
  }

  /** Bytes in blocks now. */
  get used(): number {
    return this.#used;
  }

  /** Blocks that are given back together. */
  lease(): Lease {
    return new Lease(this);
  }

  /** For leases alone: a block of at least `bytes`, with a cache line to spare. Its contents are whatever was there. */
  take(bytes: number): number {
    const size = Math.ceil((bytes + LINE) / LINE) * LINE;
    for (;;) {
      const at = this.#find(size);
      if (at !== undefined) {
        this.#blocks.set(at, size);
        this.#used += size;
        return at;
      }
      if (!this.onShort()) throw new OutOfMemory(size, this.#used, this.most);
    }
  }

  /** For leases alone: gives a block back. */
  give(at: number): void {
    const size = this.#blocks.get(at);
    if (size === undefined) throw new Error(`a block at ${at} was freed that is not in use`);
    this.#blocks.delete(at);
    this.#used -= size;
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

  /** Numbers of 2, 4 or 8 bytes, as weights are. */
  weights(at: number, length: number, bytes: number): Uint16Array | Uint32Array | Float64Array {
    return bytes === 2 ? this.u16(at, length) : bytes === 4 ? this.u32(at, length) : this.f64(at, length);
  }

  #find(size: number): number | undefined {
    const gap = this.#gaps.findIndex((free) => free.bytes >= size);
    if (gap >= 0) {
      const free = this.#gaps[gap];
      const { at } = free;
      free.at += size;
      free.bytes -= size;
      if (free.bytes === 0) this.#gaps.splice(gap, 1);
      return at;
    }
    const at = this.#end;
    if (!this.#grow(at + size)) return undefined;
    this.#end = at + size;
    return at;
  }

  #join(place: number): void {
    const left = this.#gaps[place];
    const right = this.#gaps[place + 1];
    if (!left || !right || left.at + left.bytes !== right.at) return;
    left.bytes += right.bytes;
    this.#gaps.splice(place + 1, 1);
  }

  /** Makes the memory reach to `end`; whether that could be done. */
  #grow(end: number): boolean {
    if (end > this.most) return false;
    const pages = Math.ceil(end / PAGE);
    const have = this.raw.buffer.byteLength / PAGE;
    if (pages <= have) return true;
    const ahead = have + Math.min(Math.max(have, TIMES_MISSING * (pages - have), LEAST_AHEAD), MOST_AHEAD);
    for (const wanted of [Math.max(pages, Math.min(Math.floor(this.most / PAGE), ahead)), pages]) {
      try {
        this.raw.grow(wanted - have);
        return true;
      } catch {
        // Tried again with no more than is needed.
      }
    }
    return false;
  }
}

/** Blocks of memory with one owner. */
export class Lease {
  readonly #memory: Memory;
  #blocks: number[] | undefined = [];
  #bytes = 0;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** Bytes taken so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A block of at least `bytes`. */
  take(bytes: number): number {
    if (!this.#blocks) throw new Error("memory was taken through a lease that has ended");
    const at = this.#memory.take(bytes);
    this.#blocks.push(at);
    this.#bytes += bytes;
    return at;
  }

  /** A copy of `values` in a block of its own. */
  put(values: ArrayBufferView & { readonly length: number }): number {
    const at = this.take(values.byteLength);
    this.#memory.u8(at, values.byteLength).set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    return at;
  }

  /** Gives all blocks back. The first call ends the lease, later ones do nothing. */
  release(): void {
    const blocks = this.#blocks;
    this.#blocks = undefined;
    for (const at of blocks ?? []) this.#memory.give(at);
  }
}

/** What `make` makes in memory of a lease; whatever it took is given back if it fails. */
export async function leased<T>(memory: Memory, make: (lease: Lease) => Promise<T> | T): Promise<T> {
  const lease = memory.lease();
  try {
    return await make(lease);
  } catch (error) {
    lease.release();
    throw error;
  }
}

/** What `make` makes in memory of a lease, which is given back with its last user; `free` is called then. */
export function sharing<T>(
  memory: Memory,
  make: (lease: Lease) => Promise<T>,
  free: () => void = () => {},
): Promise<Shared<T>> {
  return leased(memory, async (lease) => {
    const value = await make(lease);
    const done = (): void => {
      lease.release();
      free();
    };
    return new Shared(value, done, lease.bytes);
  });
}

/** What `use` answers with memory that is given back afterwards. */
export async function borrowed<T>(memory: Memory, use: (lease: Lease) => Promise<T> | T): Promise<T> {
  const lease = memory.lease();
  try {
    return await use(lease);
  } finally {
    lease.release();
  }
}
