/** The mappings from scores to probabilities, each against a plain statement of what makes it the best. */

import { Csr } from "@ranksim/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  applyToClasses,
  applyToLabels,
  probabilityAt,
  relateResponses,
  rootSpread,
  type ScoreKind,
  soften,
  valueAt,
  weighByLength,
} from "../../../src/beyond/probabilities/calibration.ts";
import {
  calibrateClasses,
  calibrateLabels,
  fitBeta,
  fitCurve,
  fitHalfway,
  fitRising,
  fitSparse,
} from "../../../src/beyond/probabilities/fit.ts";
import { LARGEST_BETA, LARGEST_HALFWAY } from "../../../src/beyond/probabilities/fitted.ts";
import { naturalLog } from "../../../src/kernels/exponential.ts";
import { drawBelow, drawUnit, generatorOf } from "../../../src/random.ts";

describe("naturalLog", () => {
  it("agrees with Math.log", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-300, max: 1e300, noNaN: true }), (x) => {
        expect(Math.abs(naturalLog(x) - Math.log(x))).toBeLessThanOrEqual(2e-15 * Math.max(1, Math.abs(Math.log(x))));
      }),
    );
    expect(naturalLog(1)).toBe(0);
  });
});

/** Rows of three scores, the own class mostly ahead. */
function rowsOf(count: number, seed: number): { scores: Float64Array; truth: Uint32Array } {
  const generator = generatorOf(seed);
  const truth = Uint32Array.from({ length: count }, () => drawBelow(generator, 3));
  const scores = new Float64Array(count * 3).map((_, e) => 5 + drawUnit(generator) + (truth[Math.floor(e / 3)] === e % 3 ? 0.4 : 0)); // biome-ignore format: one rule
  return { scores, truth };
}

/** The loss with 1 / (n + 2) of each row left to its strongest other class. */
const doubtingLoss = (scores: Float64Array, truth: Uint32Array, classes: number, beta: number): number => {
  let loss = 0;
  for (let r = 0; r < truth.length; r++) {
    const own = Array.from(scores.subarray(r * classes, (r + 1) * classes));
    const sum = own.reduce((total, score) => total + Math.exp(beta * score), 0);
    const surprise = (score: number) => -Math.log(Math.exp(beta * score) / sum);
    const other = Math.max(...own.filter((_, c) => c !== truth[r]));
    const doubt = 1 / (truth.length + 2);
    loss += (1 - doubt) * surprise(own[truth[r]]) + doubt * surprise(other);
  }
  return loss / truth.length;
};

describe("the length of rows", () => {
  /** Rows of which the own class leads by 0.5, among chance that a row of n features halves when n grows fourfold. */
  function lengthy(count: number, seed: number, isTold: boolean) {
    const generator = generatorOf(seed);
    const truth = Uint32Array.from({ length: count }, () => drawBelow(generator, 3));
    const lengths = Uint32Array.from({ length: count }, () => 1 + drawBelow(generator, 64));
    const scores = new Float64Array(count * 3);
    for (let e = 0; e < scores.length; e++) {
      const r = Math.floor(e / 3);
      const chance = (drawUnit(generator) - 0.5) * 8;
      scores[e] = (truth[r] === e % 3 ? 0.5 : 0) + chance / Math.sqrt(isTold ? lengths[r] : 32);
    }
    return { scores, truth, lengths };
  }

  const lossAt = (scores: Float64Array, truth: Uint32Array, lengths: Uint32Array, halfway: number): number => {
    const own = scores.map((score, e) => (score * lengths[Math.floor(e / 3)]) / (lengths[Math.floor(e / 3)] + halfway));
    soften(own, 3, fitBeta(own, truth, 3));
    return truth.reduce((loss, c, r) => loss - Math.log(own[r * 3 + c]), 0);
  };

  it("counts where short rows are a matter of chance: no power of two has a smaller log loss", () => {
    for (const seed of [1, 2, 3]) {
      const { scores, truth, lengths } = lengthy(600, seed, true);
      const { halfway, beta } = fitHalfway(scores, truth, 3, lengths);
      expect(halfway).toBeGreaterThan(0);
      const least = lossAt(scores, truth, lengths, halfway);
      expect(lossAt(scores, truth, lengths, 0) - least).toBeGreaterThan(2);
      for (let other = 1; other <= LARGEST_HALFWAY; other *= 2)
        expect(lossAt(scores, truth, lengths, other)).toBeGreaterThanOrEqual(least - 1e-9);
      const own = scores.slice();
      weighByLength(own, 3, lengths, halfway);
      expect(beta).toBe(fitBeta(own, truth, 3));
    }
  });

  it("counts nothing where it says nothing", () => {
    for (const seed of [1, 2, 3]) {
      const { scores, truth, lengths } = lengthy(600, seed, false);
      expect(fitHalfway(scores, truth, 3, lengths)).toMatchObject({ halfway: 0, beta: fitBeta(scores, truth, 3) });
    }
  });

  it("of a row without anything leaves nothing of its scores", () => {
    const scores = Float64Array.of(1, 2, 3, 1, 2, 3);
    weighByLength(scores, 3, Uint32Array.of(0, 6), 2);
    expect(Array.from(scores)).toEqual([0, 0, 0, 0.75, 1.5, 2.25]);
  });
});

describe("the spread of scores", () => {
  it("is divided by its root, and equal scores become zeros", () => {
    const scores = Float64Array.of(1, 5, 3, 3, 0.1, 0.1);
    rootSpread(scores, 2);
    const root = Math.sqrt(2);
    expect(Array.from(scores)).toEqual([-2 / root, 2 / root, 0, 0, 0, 0]);
  });

  it("of any row becomes its root, and the order of scores stays", () => {
    const rows = fc.array(fc.double({ min: -1e3, max: 1e3, noNaN: true }), { minLength: 2, maxLength: 9 });
    fc.assert(
      fc.property(rows, (row) => {
        const spread = (values: ArrayLike<number>) => {
          const list = Array.from(values);
          const mean = list.reduce((a, b) => a + b) / list.length;
          return Math.sqrt(list.reduce((sum, value) => sum + (value - mean) ** 2, 0) / list.length);
        };
        fc.pre(spread(row) > 1e-3);
        const found = Float64Array.from(row);
        rootSpread(found, row.length);
        expect(spread(found)).toBeCloseTo(Math.sqrt(spread(row)), 6);
        for (let c = 1; c < row.length; c++) if (row[c] > row[0]) expect(found[c]).toBeGreaterThanOrEqual(found[0]);
      }),
    );
  });

  /** Rows of three scores in which class 0 leads by a draw, and is true with a chance whose log odds are `odds` of it. */
  function leads(count: number, seed: number, odds: (lead: number) => number) {
    const generator = generatorOf(seed);
    const scores = new Float64Array(count * 3);
    const truth = new Uint32Array(count);
    for (let r = 0; r < count; r++) {
      const lead = 4 * drawUnit(generator) ** 2;
      scores[3 * r] = lead;
      const powers = 1 / (2 + Math.exp(odds(lead)));
      const drawn = drawUnit(generator);
      truth[r] = drawn < powers ? 1 : drawn < 2 * powers ? 2 : 0;
    }
    return { scores, truth, lengths: new Uint32Array(count).fill(9) };
  }

  it("counts by its root where log odds do, and as it is where they are straight", () => {
    for (const seed of [1, 2, 3]) {
      const bent = leads(2000, seed, (lead) => 2.5 * Math.sqrt(lead));
      expect(fitSparse(bent.scores, bent.truth, 3, bent.lengths)).toMatchObject({ isRooted: true });
      const straight = leads(2000, seed, (lead) => 1.5 * lead);
      const { scores, truth, lengths } = straight;
      expect(fitSparse(scores, truth, 3, lengths)).toMatchObject({ isRooted: false, beta: fitBeta(scores, truth, 3) });
    }
  });
});

describe("the factor of softmax", () => {
  it("has the smallest log loss of all factors nearby", () => {
    for (const seed of [1, 2, 3]) {
      const { scores, truth } = rowsOf(200, seed);
      relateResponses(scores, 3);
      const beta = fitBeta(scores, truth, 3);
      expect(beta).toBeGreaterThan(1);
      const least = doubtingLoss(scores, truth, 3, beta);
      for (const other of [0.9, 0.999, 1.001, 1.1]) {
        expect(doubtingLoss(scores, truth, 3, beta * other)).toBeGreaterThan(least);
      }
    }
  });

  it("is 0 where scores mislead, and finite where they part the classes", () => {
    expect(fitBeta(Float64Array.of(2, 1, 1, 2), Uint32Array.of(1, 0), 2)).toBe(0);
    const beta = fitBeta(Float64Array.of(2, 1, 1, 2), Uint32Array.of(0, 1), 2);
    // Of two rows 1/4 is left to the other class; for a lead of 1 that is ln 3.
    expect(beta).toBeCloseTo(Math.log(3), 9);
    expect(fitBeta(Float64Array.of(1e-9, 0), Uint32Array.of(0), 2)).toBe(LARGEST_BETA);
    expect(fitBeta(new Float64Array(4), Uint32Array.of(0, 1), 2)).toBeLessThanOrEqual(LARGEST_BETA);
  });

  it("gives softmax", () => {
    const scores = Float64Array.of(1, 2, 3, 0, 0, 0, -700, 0, 0);
    soften(scores, 3, 2);
    const sum = Math.exp(2) + Math.exp(4) + Math.exp(6);
    [Math.exp(2) / sum, Math.exp(4) / sum, Math.exp(6) / sum, 1 / 3, 1 / 3, 1 / 3, 0, 0.5, 0.5].forEach((p, e) => {
      expect(scores[e]).toBeCloseTo(p, 9);
    });
  });
});

describe("the rising function", () => {
  it("pools what falls, by hand", () => {
    const rising = fitRising(Float64Array.of(0.5, 0.1, 0.3, 0.4, 0.2), Uint8Array.of(1, 0, 0, 1, 1));
    // In order of score: 0, 1, 0, 1, 1; the second and third pool to one half. Values stay 1/7 away from 0 and 1.
    expect([...rising.scores]).toEqual([0.1, 0.2, 0.3, 0.4, 0.5]);
    expect([...rising.values]).toEqual([1 / 7, 0.5, 0.5, 1 - 1 / 7, 1 - 1 / 7]);
    expect(valueAt(rising, -3)).toBe(1 / 7);
    expect(valueAt(rising, 0.25)).toBe(0.5);
    expect(valueAt(rising, 0.15)).toBeCloseTo((1 / 7 + 0.5) / 2, 14);
    expect(valueAt(rising, 9)).toBe(1 - 1 / 7);
  });

  it("is the min-max formula of isotonic regression, within its margin, at every row", () => {
    const data = fc.array(fc.tuple(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 1 })), { minLength: 1, maxLength: 40 }); // biome-ignore format: one type
    fc.assert(
      fc.property(data, (rows) => {
        const rising = fitRising(Float64Array.from(rows, ([s]) => s / 8), Uint8Array.from(rows, ([, t]) => t)); // biome-ignore format: a call
        const mean = (low: number, high: number) => {
          const within = rows.filter(([s]) => s >= low && s <= high);
          return within.reduce((sum, [, t]) => sum + t, 0) / within.length;
        };
        const known = [...new Set(rows.map(([s]) => s))];
        for (const score of known) {
          const lows = known.filter((s) => s <= score);
          const highs = known.filter((s) => s >= score);
          const best = Math.max(...lows.map((low) => Math.min(...highs.map((high) => mean(low, high)))));
          const margin = 1 / (rows.length + 2);
          expect(valueAt(rising, score / 8)).toBeCloseTo(Math.min(Math.max(best, margin), 1 - margin), 12);
        }
      }),
    );
  });
});

describe("the logistic curve", () => {
  it("meets its targets on average and in correlation with the score: the gradient is 0", () => {
    const data = fc.array(fc.tuple(fc.double({ min: -3, max: 3, noNaN: true }), fc.integer({ min: 0, max: 1 })), { minLength: 2, maxLength: 60 }); // biome-ignore format: one type
    fc.assert(
      fc.property(data, (rows) => {
        const curve = fitCurve(Float64Array.from(rows, ([s]) => s), Uint8Array.from(rows, ([, t]) => t)); // biome-ignore format: a call
        const hits = rows.filter(([, t]) => t === 1).length;
        const target = (t: number) => (t === 1 ? (hits + 1) / (hits + 2) : 1 / (rows.length - hits + 2));
        const excess = rows.map(([s, t]) => 1 / (1 + Math.exp(-(curve.slope * s + curve.offset))) - target(t));
        const ridge = 1e-3 * curve.slope;
        expect(Math.abs(excess.reduce((sum, e) => sum + e, 0))).toBeLessThan(1e-6);
        expect(Math.abs(excess.reduce((sum, e, r) => sum + e * rows[r][0], ridge))).toBeLessThan(1e-6);
      }),
    );
  });

  it("is finite for labels that never or always occur, and far out", () => {
    const never = fitCurve(Float64Array.of(-7, -5, -1), new Uint8Array(3));
    expect(probabilityAt(never, -1)).toBeLessThan(0.3);
    expect(probabilityAt({ slope: 1e6, offset: -1e6 }, -1e6)).toBeGreaterThanOrEqual(0);
    expect(probabilityAt({ slope: 1e6, offset: 0 }, 1e6)).toBe(1);
  });
});

describe("calibration", () => {
  it("gives probabilities that sum to 1, keep the order of classes (temperature), and fit the rows", () => {
    for (const kind of ["responses", "shares"] as const satisfies readonly ScoreKind[]) {
      const { scores, truth } = rowsOf(300, 5);
      if (kind === "shares") for (let e = 0; e < scores.length; e++) scores[e] = (scores[e] - 4.9) / 20;
      for (const method of ["temperature", "isotonic"] as const) {
        const found = scores.slice();
        applyToClasses(calibrateClasses(scores.slice(), kind, truth, 3, method), kind, found, 3);
        let [loss, plain] = [0, 0];
        for (let r = 0; r < truth.length; r++) {
          const p = found.subarray(3 * r, 3 * r + 3);
          const s = scores.subarray(3 * r, 3 * r + 3);
          expect(p[0] + p[1] + p[2]).toBeCloseTo(1, 12);
          if (method === "temperature") expect(p.indexOf(Math.max(...p))).toBe(s.indexOf(Math.max(...s)));
          loss -= Math.log(p[truth[r]]);
          plain -= Math.log(s[truth[r]] / (s[0] + s[1] + s[2]));
        }
        expect(loss).toBeLessThan(plain);
      }
    }
  });

  it("of rows without any score is even, and of one class certain", () => {
    const zeros = new Float64Array(2);
    applyToClasses({ beta: 3, halfway: 0, isRooted: true, rising: undefined }, "responses", zeros, 2);
    expect([...zeros]).toEqual([0.5, 0.5]);
    const one = Float64Array.of(4, 0);
    applyToClasses(
      calibrateClasses(one.slice(), "responses", Uint32Array.of(0, 0), 1, "isotonic"),
      "responses",
      one,
      1,
    );
    expect([...one]).toEqual([1, 1]);
  });

  it("of several labels gives each label its own share of rows on average", () => {
    const generator = generatorOf(9);
    const rows = 400;
    const shares = Float64Array.from({ length: rows * 2 }, () => drawUnit(generator));
    // Label 0 comes with its share squared, label 1 never.
    const has = Array.from({ length: rows }, (_, r) => drawUnit(generator) < shares[2 * r] ** 2);
    const present = Csr.fromRows(
      has.map((yes) => (yes ? [[0, 1] as const] : [])),
      2,
    );
    for (const method of ["temperature", "isotonic"] as const) {
      const found = shares.slice();
      applyToLabels(calibrateLabels(shares.slice(), "shares", present, method), "shares", found, 2);
      const mean = (o: number) => has.reduce((sum, _, r) => sum + found[2 * r + o], 0) / rows;
      expect(Math.abs(mean(0) - has.filter(Boolean).length / rows)).toBeLessThan(0.01);
      expect(mean(1)).toBeLessThan(0.01);
    }
  });
});
