/**
 * Random numbers. All random choices follow from one seed, which is split into streams: independent generators, each with one
 * purpose. A generator is an argument, never a global, so neither order nor threads change a draw.
 */

import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import type { JumpableRandomGenerator } from "pure-rand/types/JumpableRandomGenerator";
import type { RandomGenerator } from "pure-rand/types/RandomGenerator";

export type { RandomGenerator } from "pure-rand/types/RandomGenerator";

/**
 * The streams of a seed by their purpose: every use of the seed in the library is named here. A stream has a position, and
 * neighbours are 2^64 draws apart. Positions decide the bits of trained models, so they never change. Purposes that no single
 * call uses together may share a position.
 */
export class Streams {
  /** The generators so far, by position, none of them drawn from: a jump takes longer than a draw, so each is made once. */
  readonly #generators: JumpableRandomGenerator[];

  constructor(seed: number) {
    // The upper half of a seed above 2^32 is mixed in, so that large seeds do not collide with small ones.
    const folded = (seed % 0x1_0000_0000) ^ Math.imul(Math.floor(seed / 0x1_0000_0000), 0x9e3779b1);
    this.#generators = [xoroshiro128plus(folded | 0)];
  }

  /** Rows sampled to estimate the distribution, or those of one class after the other. */
  distribution(): RandomGenerator {
    return this.#at(0);
  }

  /** Initial filters where all rows train together. */
  training(): RandomGenerator {
    return this.#at(1);
  }

  /** The same for one class. Positions go on from bank to bank of a committee: `classes` is how many a bank has. */
  trainingOfClass(position: number, classes = Number.POSITIVE_INFINITY): RandomGenerator {
    return this.#at(position < classes ? 1 + position : 2 + position);
  }

  /** Rows held out to fit probabilities or thresholds: after the first bank's classes. */
  heldOut(classes: number): RandomGenerator {
    return this.#at(1 + classes);
  }

  /** Refinement: held-out rows, and the batches. After all classes of all banks. */
  refinement(classes: number, banks: number): RandomGenerator {
    return this.#at(2 + classes * banks);
  }

  /** Windows of images sampled to train one layer of patch filters. */
  windows(layer: number): RandomGenerator {
    return this.#at(2 + layer);
  }

  /** The order of rows in the fit of one plane of a linear classifier. */
  plane(position: number): RandomGenerator {
    return this.#at(position);
  }

  /** The order of rows, for splits and samples. */
  shuffle(): RandomGenerator {
    return this.#at(0);
  }

  #at(position: number): RandomGenerator {
    while (this.#generators.length <= position) {
      const next = this.#generators[this.#generators.length - 1].clone();
      next.jump();
      this.#generators.push(next);
    }
    return this.#generators[position].clone();
  }
}

/** The first stream of a seed, for work that needs only one. */
export function generatorOf(seed: number): RandomGenerator {
  return new Streams(seed).shuffle();
}

/** A number from 0 (included) to `below` (not included). */
export function drawBelow(generator: RandomGenerator, below: number): number {
  return uniformInt(generator, 0, below - 1);
}

/** A number in [0, 1). */
export function drawUnit(generator: RandomGenerator): number {
  return uniformFloat64(generator);
}

/** `count` different numbers below `below`, in the order drawn. */
export function drawWithoutReplacement(generator: RandomGenerator, count: number, below: number): Uint32Array {
  const deck = new Uint32Array(below);
  for (let j = 0; j < below; j++) deck[j] = j;
  for (let j = 0; j < count; j++) {
    const other = j + drawBelow(generator, below - j);
    const card = deck[j];
    deck[j] = deck[other];
    deck[other] = card;
  }
  return deck.slice(0, count);
}
