/**
 * All chance comes from one seed. A generator is an argument, never a global; `streams` splits independent generators
 * from the seed by position, so neither order nor threads change a draw.
 */

import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import type { RandomGenerator } from "pure-rand/types/RandomGenerator";

export type { RandomGenerator } from "pure-rand/types/RandomGenerator";

/** Generators split from a seed, one after the other, 2^64 draws apart. */
export function* streams(seed: number): Generator<RandomGenerator, never> {
  // The upper half of a seed above 2^32 is mixed in, so that large seeds do not collide with small ones.
  const folded = (seed % 0x1_0000_0000) ^ Math.imul(Math.floor(seed / 0x1_0000_0000), 0x9e3779b1);
  const generator = xoroshiro128plus(folded | 0);
  while (true) {
    yield generator.clone();
    generator.jump();
  }
}

/** The first generator of a seed, for work that needs only one. */
export function generatorOf(seed: number): RandomGenerator {
  return streams(seed).next().value;
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
  const deck = Uint32Array.from({ length: below }, (_, j) => j);
  for (let j = 0; j < count; j++) {
    const other = j + drawBelow(generator, below - j);
    const card = deck[j];
    deck[j] = deck[other];
    deck[other] = card;
  }
  return deck.slice(0, count);
}
