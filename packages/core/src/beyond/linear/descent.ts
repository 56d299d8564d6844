/** The fit of one plane: passes over the parts of the rows, each in random order, until no row's gradient is far from its optimum. */

import { descend, type Plane, product } from "../../kernels/descend.ts";
import type { RandomGenerator } from "../../random.ts";
import type { PackedParts } from "./pack.ts";

/** When a fit ends. */
export interface Halt {
  /** The range that all projected gradients must lie in. */
  readonly tolerance: number;
  readonly maxIterations: number;
}

/** What happened in a fit. */
export interface Descended {
  readonly iterations: number;
  readonly converged: boolean;
}

/** Entries visited between two looks at the clock and the signal: some milliseconds of work. */
const ENTRIES_PER_STRETCH = 1_000_000;

/** A plane between the rows of sign 1 and those of sign -1. It can be fitted again, to more rows or to other costs, from where it stands. */
export class Descent {
  readonly #packed: PackedParts;
  readonly #signs: readonly Int8Array[];
  readonly #multipliers: readonly Float64Array[];
  readonly #plane: Plane;

  constructor(packed: PackedParts, sign: Int8Array) {
    this.#packed = packed;
    this.#signs = cut(sign, packed);
    this.#multipliers = packed.parts.map(({ rows }) => new Float64Array(rows));
    const weights = new Float64Array(packed.features);
    this.#plane = { weights, scale: packed.scale, intercept: 0, highest: 0, lowest: 0, stuckAbove: 0 };
  }

  /** One for each feature. */
  get weights(): Float64Array {
    return this.#plane.weights;
  }

  get intercept(): number {
    return this.#plane.intercept;
  }

  /**
   * Moves the plane to the least of ½ w·w + Σ cost · max(0, 1 - sign · (x·w + intercept))², over the rows that cost more than 0. A row that
   * has cost something must not cost 0 later. `stretch` is awaited after each piece of work.
   */
  async fit(
    costs: Float64Array,
    halt: Halt,
    generator: RandomGenerator,
    stretch: (iteration: number) => Promise<void>,
  ): Promise<Descended> {
    const { parts, squares } = this.#packed;
    const plane = this.#plane;
    const own = cut(costs, this.#packed);
    const ridges = own.map((part) => part.map((cost) => 0.5 / cost));
    const orders = own.map((part) => Uint32Array.from(part.keys()).filter((r) => part[r] > 0));
    const active = orders.map((order) => order.length);
    plane.stuckAbove = Number.POSITIVE_INFINITY;
    for (let iterations = 1; ; iterations++) {
      plane.highest = Number.NEGATIVE_INFINITY;
      plane.lowest = Number.POSITIVE_INFINITY;
      for (const [p, x] of parts.entries()) {
        shuffle(orders[p], active[p], generator);
        const sides = { x, squares: squares[p], ridges: ridges[p], sign: this.#signs[p] };
        const count = Math.ceil(ENTRIES_PER_STRETCH / (1 + x.values.length / x.rows));
        for (let at = 0; at < active[p]; ) {
          const reached = descend(sides, this.#multipliers[p], orders[p], at, active[p], count, plane);
          at = reached.at;
          active[p] = reached.active;
          await stretch(iterations);
        }
      }
      const settled = plane.highest - plane.lowest <= halt.tolerance || plane.highest < plane.lowest;
      const isWhole = active.every((count, p) => count === orders[p].length);
      if (settled && isWhole) return { iterations, converged: true };
      if (iterations === halt.maxIterations) return { iterations, converged: false };
      // What was set aside must be looked at again before it is believed.
      if (settled) for (const [p, order] of orders.entries()) active[p] = order.length;
      plane.stuckAbove = !settled && plane.highest > 0 ? plane.highest : Number.POSITIVE_INFINITY;
    }
  }

  /** x·w + intercept of the listed rows, which ascend. */
  values(rows: Uint32Array): Float64Array {
    const { parts } = this.#packed;
    let part = 0;
    let first = 0;
    return Float64Array.from(rows, (r) => {
      while (r - first >= parts[part].rows) first += parts[part++].rows;
      return product(parts[part], r - first, this.#plane.weights) + this.#plane.intercept;
    });
  }
}

/** Cuts what each row has into parts, as the rows are. */
function cut<T extends Int8Array | Float64Array>(all: T, { parts }: PackedParts): T[] {
  let first = 0;
  return parts.map(({ rows }) => {
    first += rows;
    return all.subarray(first - rows, first) as T;
  });
}

/** Puts the first `count` of `order` in random order. */
function shuffle(order: Uint32Array, count: number, generator: RandomGenerator): void {
  for (let j = 0; j < count; j++) {
    // A bias of at most rows / 2^32 does no harm here and saves a slow rejection loop.
    const other = j + Math.floor(((generator.next() >>> 0) / 0x1_0000_0000) * (count - j));
    const row = order[j];
    order[j] = order[other];
    order[other] = row;
  }
}
