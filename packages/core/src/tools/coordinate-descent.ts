/**
 * Dual coordinate descent for a linear support vector machine of two classes (Hsieh, Chang, Lin, Keerthi and
 * Sundararajan 2008, algorithms 1 and 3): minimise ½ w·w + c Σ loss(sign·x·w) by solving for one row's multiplier at a
 * time, rows in random order, setting rows aside ("shrinking") while their multiplier is stuck at a bound.
 *
 * The intercept is the weight of one more feature that has the same value in each row.
 */

import { RanksimError } from "../errors.ts";
import type { Rows } from "../kernels/shapes.ts";
import type { RandomGenerator } from "../random.ts";
import { addRow, type PackedRows, packRows, product, square } from "./packed-rows.ts";

/** What a row on the wrong side or inside the margin costs: the distance to the margin, or its square. */
export type Loss = "hinge" | "squaredHinge";

interface DescentOptions {
  readonly c: number;
  readonly loss: Loss;
  /** Stop when the projected gradients of all rows lie within this range. */
  readonly tolerance: number;
  readonly maxIterations: number;
}

/** Rows prepared for descent: the part that all classes share. */
export interface Prepared {
  readonly x: PackedRows;
  /** Value of the extra feature; 0 for none. */
  readonly bias: number;
  /** x·x of each row, the extra feature included. */
  readonly squares: Float64Array;
}

/** A separating plane: positive where x·weights + intercept is above 0. */
export interface Plane {
  readonly weights: Float64Array;
  readonly intercept: number;
  readonly iterations: number;
  readonly converged: boolean;
}

/** Gradients below this move a multiplier by rounding alone. Source: LIBLINEAR. */
const SMALLEST_GRADIENT = 1e-12;

/** Entries visited between two looks at the clock and the signal: some milliseconds of work. */
const ENTRIES_PER_STRETCH = 5_000_000;

/** Computes what all classes share. Refuses rows whose square is beyond float64. */
export function prepare(x: Rows, bias: number): Prepared {
  const packed = packRows(x);
  const squares = new Float64Array(x.rows);
  for (let r = 0; r < x.rows; r++) {
    squares[r] = square(packed, r) + bias * bias;
    if (!Number.isFinite(squares[r])) {
      throw new RanksimError("bad-matrix", `row ${r}: expected values whose squares can be added up; scale the data`);
    }
  }
  return { x: packed, bias, squares };
}

/** Finds the plane between the rows of sign 1 and those of sign -1. `stretch` is awaited after each piece of work. */
export async function separate(
  prepared: Prepared,
  sign: Int8Array, // in: 1 or -1 per row
  options: DescentOptions,
  generator: RandomGenerator,
  stretch: (iteration: number) => Promise<void>,
): Promise<Plane> {
  const descent = new Descent(prepared, sign, options);
  const { x } = prepared;
  const entries = x.offsets[x.rows] - x.offsets[0];
  const rowsPerStretch = Math.max(1, Math.floor(ENTRIES_PER_STRETCH / (1 + entries / x.rows)));
  let iterations = 0;
  let converged = false;
  while (!converged && iterations < options.maxIterations) {
    descent.shuffle(generator);
    iterations++;
    for (let at = 0; at < descent.active; ) {
      at = descent.sweep(at, rowsPerStretch);
      await stretch(iterations);
    }
    converged = descent.finishIteration(options.tolerance);
  }
  return { weights: descent.weights, intercept: descent.biasWeight * prepared.bias, iterations, converged };
}

/** The state of one descent. */
class Descent {
  readonly weights: Float64Array;
  biasWeight = 0;
  /** Rows not set aside: the first of `#order`. */
  active: number;
  readonly #prepared: Prepared;
  readonly #sign: Int8Array;
  readonly #multiplier: Float64Array;
  readonly #order: Uint32Array;
  /** Largest multiplier, and what squaring the loss adds to each x·x. */
  readonly #most: number;
  readonly #ridge: number;
  /** Range of projected gradients in this iteration, and the range of the last one, outside which bound rows are set aside. */
  #highest = Number.NEGATIVE_INFINITY;
  #lowest = Number.POSITIVE_INFINITY;
  #highestBefore = Number.POSITIVE_INFINITY;
  #lowestBefore = Number.NEGATIVE_INFINITY;

  constructor(prepared: Prepared, sign: Int8Array, { c, loss }: DescentOptions) {
    const { rows, features } = prepared.x;
    this.#prepared = prepared;
    this.#sign = sign;
    this.weights = new Float64Array(features);
    this.#multiplier = new Float64Array(rows);
    this.#order = Uint32Array.from({ length: rows }, (_, r) => r);
    this.active = rows;
    this.#most = loss === "hinge" ? c : Number.POSITIVE_INFINITY;
    this.#ridge = loss === "hinge" ? 0 : 0.5 / c;
  }

  /** Puts the active rows in random order. */
  shuffle(generator: RandomGenerator): void {
    const order = this.#order;
    for (let j = 0; j < this.active; j++) {
      // A bias of at most rows / 2^32 does no harm here and saves a slow rejection loop.
      const other = j + Math.floor(((generator.next() >>> 0) / 0x1_0000_0000) * (this.active - j));
      const row = order[j];
      order[j] = order[other];
      order[other] = row;
    }
  }

  /** Visits at most `count` active rows from position `at` on; returns the position reached. */
  sweep(at: number, count: number): number {
    const { x, bias, squares } = this.#prepared;
    // Fields are kept in variables through the loop: with rows of few entries their access would be half the work.
    const w = this.weights;
    const order = this.#order;
    const sign = this.#sign;
    const multiplier = this.#multiplier;
    const most = this.#most;
    const ridge = this.#ridge;
    const aboveIsStuck = this.#highestBefore;
    const belowIsStuck = this.#lowestBefore;
    let active = this.active;
    let biasWeight = this.biasWeight;
    let highest = this.#highest;
    let lowest = this.#lowest;
    for (let visit = 0; visit < count && at < active; visit++) {
      const r = order[at];
      const y = sign[r];
      const before = multiplier[r];
      const gradient = y * (product(x, r, w) + bias * biasWeight) - 1 + ridge * before;
      if ((before === 0 && gradient > aboveIsStuck) || (before === most && gradient < belowIsStuck)) {
        active--;
        order[at] = order[active];
        order[active] = r;
        continue;
      }
      at++;
      const outward = (before === 0 && gradient > 0) || (before === most && gradient < 0);
      const projected = outward ? 0 : gradient;
      if (projected > highest) highest = projected;
      if (projected < lowest) lowest = projected;
      if (Math.abs(projected) <= SMALLEST_GRADIENT) continue;
      const after = Math.min(Math.max(before - gradient / (squares[r] + ridge), 0), most);
      multiplier[r] = after;
      const step = (after - before) * y;
      addRow(x, r, step, w);
      biasWeight += step * bias;
    }
    this.active = active;
    this.biasWeight = biasWeight;
    this.#highest = highest;
    this.#lowest = lowest;
    return at;
  }

  /** Ends an iteration; whether all rows, those set aside included, are within the tolerance. */
  finishIteration(tolerance: number): boolean {
    const settled = this.#highest - this.#lowest <= tolerance;
    if (settled && this.active === this.#order.length) return true;
    if (settled) {
      // What was set aside must be looked at again before it is believed.
      this.active = this.#order.length;
      this.#highestBefore = Number.POSITIVE_INFINITY;
      this.#lowestBefore = Number.NEGATIVE_INFINITY;
    } else {
      this.#highestBefore = this.#highest > 0 ? this.#highest : Number.POSITIVE_INFINITY;
      this.#lowestBefore = this.#lowest < 0 ? this.#lowest : Number.NEGATIVE_INFINITY;
    }
    this.#highest = Number.NEGATIVE_INFINITY;
    this.#lowest = Number.POSITIVE_INFINITY;
    return false;
  }
}
