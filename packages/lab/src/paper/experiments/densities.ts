/**
 * Densities of Figure 1 in closed form, samples of them without chance (quantiles at even steps), and confusion in three ways:
 * in closed form, by integration, and as the library estimates it from a sample.
 */

import { columnOf, type Kde, kdeConfusion, kdeOf } from "@ranksim/core/research";

/** A distribution on the line. */
export interface Density {
  readonly at: (x: number) => number;
  /** The value below which a share of the distribution lies. */
  readonly quantile: (share: number) => number;
}

/** A Gaussian. */
export function gaussian(mean: number, deviation: number): Density {
  return {
    at: (x) => Math.exp(-(((x - mean) / deviation) ** 2) / 2) / (deviation * Math.sqrt(2 * Math.PI)),
    quantile: (share) => mean + deviation * normalQuantile(share),
  };
}

/** An exponential distribution that begins at `start`; its standard deviation is its scale. */
export function exponential(start: number, deviation: number): Density {
  return {
    at: (x) => (x < start ? 0 : Math.exp(-(x - start) / deviation) / deviation),
    quantile: (share) => start - deviation * Math.log(1 - share),
  };
}

/** Confusion of two distributions by the trapezoid rule between two values. */
export function integrateConfusion(f: Density, g: Density, from: number, to: number, steps = 20_000): number {
  let sum = 0;
  for (let j = 0; j <= steps; j++) {
    const x = from + ((to - from) * j) / steps;
    const [p, q] = [f.at(x), g.at(x)];
    if (p > 0 && q > 0) sum += ((p * q) / (p + q)) * (j === 0 || j === steps ? 0.5 : 1);
  }
  return (sum * (to - from)) / steps;
}

/** Confusion of two exponentials of one scale, `separation` apart: above the later start their ratio is constant. */
export function exponentialConfusion(separation: number, deviation: number): number {
  return 1 / (1 + Math.exp(separation / deviation));
}

/** The library's density of a sample: quantiles in the middle of `rows` equal shares. */
export function sampledDensity(density: Density, rows = 1000): Kde {
  return kdeOf(columnOf(Array.from({ length: rows }, (_, j) => density.quantile((j + 0.5) / rows))));
}

/** Confusion as the library estimates it from samples. */
export function estimatedConfusion(f: Density, g: Density): number {
  return kdeConfusion(sampledDensity(f), sampledDensity(g));
}

/** Numbers spread over 0..1 without chance: position j of van der Corput's sequence. */
export function vanDerCorput(j: number, base: number): number {
  let [rest, share, value] = [j + 1, 1 / base, 0];
  for (; rest > 0; rest = Math.floor(rest / base), share /= base) value += (rest % base) * share;
  return value;
}

/** Samples ask for the same shares again and again. */
const quantiles = new Map<number, number>();

/** Inverse of the standard normal distribution by bisection: 60 halvings of -9..9 are exact in float64. */
function normalQuantile(share: number): number {
  const known = quantiles.get(share);
  if (known !== undefined) return known;
  let [low, high] = [-9, 9];
  for (let j = 0; j < 60; j++) {
    const middle = (low + high) / 2;
    if (normalShare(middle) < share) low = middle;
    else high = middle;
  }
  quantiles.set(share, (low + high) / 2);
  return (low + high) / 2;
}

/** Share of the standard normal distribution below z: series about 0, continued fraction in the tails. */
function normalShare(z: number): number {
  const height = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  if (Math.abs(z) < 4) {
    let [term, sum] = [z, z];
    for (let k = 3; Math.abs(term) > 1e-17 * Math.abs(sum) && k < 200; k += 2) {
      term *= (z * z) / k;
      sum += term;
    }
    return 0.5 + height * sum;
  }
  let fraction = 0;
  for (let k = 40; k > 0; k--) fraction = k / (Math.abs(z) + fraction);
  const tail = height / (Math.abs(z) + fraction);
  return z < 0 ? tail : 1 - tail;
}
