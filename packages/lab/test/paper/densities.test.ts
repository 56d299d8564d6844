/** The mathematics of Figure 1 against closed forms and tabled values. */

import { describe, expect, it } from "vitest";
import {
  estimatedConfusion,
  exponential,
  exponentialConfusion,
  gaussian,
  integrateConfusion,
  vanDerCorput,
} from "../../src/paper/experiments/densities.ts";

describe("densities", () => {
  it("have the tabled quantiles of the normal distribution", () => {
    // Abramowitz and Stegun, table 26.1.
    const { quantile } = gaussian(0, 1);
    expect(quantile(0.5)).toBeCloseTo(0, 12);
    expect(quantile(0.975)).toBeCloseTo(1.959963985, 8);
    expect(quantile(0.001)).toBeCloseTo(-3.090232306, 8);
    expect(quantile(1e-6)).toBeCloseTo(-4.753424309, 7);
    expect(gaussian(10, 2).quantile(0.975)).toBeCloseTo(10 + 2 * 1.959963985, 8);
  });

  it("have the median of the exponential distribution", () => {
    expect(exponential(3, 2).quantile(0.5)).toBeCloseTo(3 + 2 * Math.LN2, 12);
  });
});

describe("confusion", () => {
  it("is one half of equal distributions and nothing of disjoint ones", () => {
    expect(integrateConfusion(gaussian(0, 1), gaussian(0, 1), -10, 10)).toBeCloseTo(0.5, 8);
    expect(integrateConfusion(gaussian(0, 1), gaussian(100, 1), -10, 110)).toBeCloseTo(0, 8);
  });

  it("of shifted exponentials is 1 / (1 + exp(shift / scale))", () => {
    for (const [shift, scale] of [
      [0, 1],
      [1, 1],
      [2, 3],
      [5, 2],
    ]) {
      const integrated = integrateConfusion(
        exponential(0, scale),
        exponential(shift, scale),
        shift,
        shift + 40 * scale,
      );
      expect(integrated).toBeCloseTo(exponentialConfusion(shift, scale), 5);
    }
  });

  it("of Gaussians is what the library estimates from a sample", () => {
    for (const shift of [0.5, 1, 2, 3]) {
      const [f, g] = [gaussian(0, 1), gaussian(shift, 1)];
      expect(Math.abs(estimatedConfusion(f, g) - integrateConfusion(f, g, -10, 10 + shift))).toBeLessThan(0.02);
    }
  });
});

it("spreads numbers by van der Corput's sequence", () => {
  expect(Array.from({ length: 5 }, (_, j) => vanDerCorput(j, 2))).toEqual([1 / 2, 1 / 4, 3 / 4, 1 / 8, 5 / 8]);
  expect(vanDerCorput(4, 3)).toBeCloseTo(1 / 9 + 2 / 3, 12);
});
