/**
 * Weights that are no longer needed, for the next bank. Training makes several banks a round, and memory that is left to
 * the collector makes it run more often than all the rest of a fit.
 */

import type { Weights } from "../../kernels/shapes.ts";

/** Arrays that are kept: a round has at most as many banks at a time. */
const MOST = 3;

export class Spares {
  readonly #kept: Weights[] = [];
  /** Those that others than banks may use. */
  readonly #handedOut = new WeakSet<Weights>();

  /** Room for as many weights of the type of `like`, with whatever was there before; it may be part of a larger buffer. */
  take<W extends Weights>(like: W, count: number): W {
    const fits = (kept: Weights): boolean => kept.constructor === like.constructor && kept.length >= count;
    const at = this.#kept.findIndex(fits);
    if (at < 0) return new (like.constructor as new (count: number) => W)(count);
    const [kept] = this.#kept.splice(at, 1);
    return kept.subarray(0, count) as W;
  }

  /** The same weights in such room. */
  copy(weights: Weights): Weights {
    const room = this.take(weights, weights.length);
    room.set(weights);
    return room;
  }

  /** Notes that somebody may keep these weights. */
  handOut(weights: Weights): void {
    this.#handedOut.add(weights);
  }

  /** Keeps weights that no bank has any more, unless they were handed out. */
  give(weights: Weights): void {
    if (this.#handedOut.has(weights)) return;
    const whole = new (weights.constructor as new (buffer: ArrayBufferLike) => Weights)(weights.buffer);
    this.#kept.push(whole);
    if (this.#kept.length > MOST) this.#kept.shift();
  }
}

/** The same weights, in a buffer of no more than their size. */
export function trimmed(weights: Weights): Weights {
  return weights.byteLength === weights.buffer.byteLength ? weights : weights.slice();
}
