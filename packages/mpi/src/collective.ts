/**
 * What processes do together, through MPI. Every call is non-blocking and looked after between turns of the event loop; one that is
 * not done by its deadline fails, so that nothing waits for ever for a process that is gone.
 */

import { RanksimError } from "@ranksim/core";
import type { FunctionName, Library } from "./library.ts";
import type { Collective } from "./wire.ts";

/** Bytes of one message: counts are 32-bit numbers. */
const MOST_BYTES = 2 ** 28;
const TAG = 7;
/**
 * Milliseconds in which an answer is looked for without a pause, and more for each byte that is sent or received: messages are carried
 * forward by looks alone, some thousands of bytes at a time. Then how long a pause is, in which other threads have the core: those of a
 * process that is waited for, maybe; and how long one look is.
 */
const EAGER = 10;
const EAGER_BYTE = 1 / 200_000;
const PAUSE = 1;
const LOOK = 0.5;
/** Looks between two looks at the clock. */
const LOOKS = 16;
/** Bytes of memory that no engine moves about. */
const STAYS = 4096;

/** Processes that were started together. */
export class MpiCollective implements Collective {
  readonly rank: number;
  readonly size: number;
  readonly #library: Library;
  readonly #deadline: number;
  /** What the library may still read or write: no engine knows that it is in use. A call that was given up stays here for good. */
  readonly #lent = new Set<readonly unknown[]>();

  /** `deadline`: milliseconds after which a call is given up. */
  constructor(library: Library, deadline: number) {
    this.#library = library;
    this.#deadline = deadline;
    const [rank, size] = [int32(1), int32(1)];
    this.#checked("MPI_Comm_rank", library.world, rank);
    this.#checked("MPI_Comm_size", library.world, size);
    this.rank = rank[0];
    this.size = size[0];
  }

  async sum(values: Float64Array): Promise<Float64Array> {
    const { double, add, world } = this.#library;
    const all = new Float64Array(values.length);
    const most = MOST_BYTES / 8;
    for (let from = 0; from < values.length; from += most) {
      const count = Math.min(most, values.length - from);
      const own = lasting(values.subarray(from, from + count));
      const found = float64(count);
      await this.#done("MPI_Iallreduce", own, found, count, double, add, world);
      all.set(found, from);
    }
    return all;
  }

  async gather(part: Uint8Array): Promise<Uint8Array[]> {
    const { double, byte, world } = this.#library;
    const sizes = float64(this.size);
    await this.#done("MPI_Iallgather", float64([part.byteLength]), 1, double, sizes, 1, double, world);
    const most = Math.floor(MOST_BYTES / this.size);
    const isOne = Math.max(...sizes) <= most;
    const parts = isOne ? [] : Array.from(sizes, (bytes) => new Uint8Array(bytes));
    for (let from = 0; from < Math.max(...sizes); from += most) {
      const counts = int32(Array.from(sizes, (bytes) => Math.max(0, Math.min(most, bytes - from))));
      const places = int32(this.size);
      for (let r = 1; r < this.size; r++) places[r] = places[r - 1] + counts[r - 1];
      const bytes = places[this.size - 1] + counts[this.size - 1];
      const found = bytesOf(bytes);
      const own = lasting(part.subarray(from, from + counts[this.rank]));
      await this.#done("MPI_Iallgatherv", own, counts[this.rank], byte, found, counts, places, byte, world);
      const pieces = Array.from(counts, (count, r) => found.subarray(places[r], places[r] + count));
      if (isOne) return pieces;
      pieces.forEach((piece, r) => {
        parts[r].set(piece, from);
      });
    }
    return parts;
  }

  async broadcast(bytes: Uint8Array, from: number): Promise<Uint8Array> {
    const { double, byte, world } = this.#library;
    const isOwn = this.rank === from;
    const size = float64([isOwn ? bytes.byteLength : 0]);
    await this.#done("MPI_Ibcast", size, 1, double, from, world);
    const whole = isOwn ? bytes : new Uint8Array(size[0]);
    for (let at = 0; at < whole.byteLength; at += MOST_BYTES) {
      const part = bytesOf(whole.subarray(at, at + MOST_BYTES));
      await this.#done("MPI_Ibcast", part, part.byteLength, byte, from, world);
      if (!isOwn) whole.set(part, at);
    }
    return whole;
  }

  async send(bytes: Uint8Array, to: number): Promise<void> {
    const { double, byte, world } = this.#library;
    await this.#done("MPI_Isend", float64([bytes.byteLength]), 1, double, to, TAG, world);
    for (let at = 0; at < bytes.byteLength; at += MOST_BYTES) {
      const part = lasting(bytes.subarray(at, at + MOST_BYTES));
      await this.#done("MPI_Isend", part, part.byteLength, byte, to, TAG, world);
    }
  }

  async receive(from: number): Promise<Uint8Array> {
    const { double, byte, world } = this.#library;
    const size = float64(1);
    await this.#done("MPI_Irecv", size, 1, double, from, TAG, world);
    const whole = new Uint8Array(size[0]);
    for (let at = 0; at < whole.byteLength; at += MOST_BYTES) {
      const part = bytesOf(Math.min(MOST_BYTES, whole.byteLength - at));
      await this.#done("MPI_Irecv", part, part.byteLength, byte, from, TAG, world);
      whole.set(part, at);
    }
    return whole;
  }

  /** Waits until all processes have come here. */
  barrier(): Promise<void> {
    return this.#done("MPI_Ibarrier", this.#library.world);
  }

  /** Begins a call, whose last argument is a request, and waits until it is done. */
  async #done(name: FunctionName, ...values: readonly unknown[]): Promise<void> {
    const [request, flag, status] = [bytesOf(64), int32(1), bytesOf(256)];
    const lent = [...values, request];
    this.#lent.add(lent);
    this.#checked(name, ...lent);
    const began = performance.now();
    const eager = EAGER + EAGER_BYTE * bytesIn(values);
    for (let waited = 0; ; waited = performance.now() - began) {
      this.#look(request, flag, status, waited < eager ? LOOK : 0);
      if (flag[0] !== 0) {
        this.#lent.delete(lent);
        return;
      }
      if (waited > this.#deadline) {
        throw new RanksimError(
          "no-backend",
          `MPI: process ${this.rank} of ${this.size} waited ${Math.round(waited / 1000)} s for the others in ${name}: one has ended, or is far behind (RANKSIM_MPI_DEADLINE sets the seconds)`,
        );
      }
      await (waited < eager ? nextTurn() : pause());
    }
  }

  /** Looks whether a request is done, again and again for some milliseconds, or a few times. */
  #look(request: Uint8Array, flag: Int32Array, status: Uint8Array, milliseconds: number): void {
    const { test } = this.#library; // called thousands of times a second: nothing is allocated
    const until = performance.now() + milliseconds;
    do {
      for (let looks = 0; looks < LOOKS && flag[0] === 0; looks++) {
        const code = test(request, flag, status);
        if (code !== 0) throw failed("MPI_Test", code, this.#library);
      }
    } while (flag[0] === 0 && performance.now() < until);
  }

  #checked(name: FunctionName, ...values: readonly unknown[]): void {
    const code = this.#library.call(name, ...values);
    if (code !== 0) throw failed(name, code, this.#library);
  }
}

function failed(call: FunctionName, code: number, { name }: Library): RanksimError {
  return new RanksimError("no-backend", `MPI: ${call} failed with code ${code} (${name})`);
}

/** Bytes of all arrays among the arguments of a call. */
function bytesIn(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + (ArrayBuffer.isView(value) ? value.byteLength : 0), 0);
}

const nextTurn = (): Promise<void> => new Promise((resume) => setImmediate(resume));
const pause = (): Promise<void> => new Promise((resume) => setTimeout(resume, PAUSE));

// Memory of their own: an engine may keep small arrays where it moves them about. Large ones stay where they are.

/** The same values where they stay while a call is under way. */
function lasting<T extends Uint8Array | Float64Array>(values: T): T {
  return values.buffer.byteLength >= STAYS
    ? values
    : ((values instanceof Uint8Array ? bytesOf(values) : float64(values)) as T);
}

function int32(from: number | readonly number[]): Int32Array {
  const array = new Int32Array(new ArrayBuffer(4 * (typeof from === "number" ? from : from.length)));
  if (typeof from !== "number") array.set(from);
  return array;
}

function float64(from: number | ArrayLike<number>): Float64Array {
  const array = new Float64Array(new ArrayBuffer(8 * (typeof from === "number" ? from : from.length)));
  if (typeof from !== "number") array.set(from);
  return array;
}

function bytesOf(from: number | Uint8Array): Uint8Array {
  const array = new Uint8Array(new ArrayBuffer(typeof from === "number" ? from : from.byteLength));
  if (typeof from !== "number") array.set(from);
  return array;
}
