/** The reference back end: the kernels as they are written. For truth and for small data; the others are measured against it. */

import { poolLayers } from "../kernels/patches.ts";
import { rankSums } from "../kernels/rank-sums.ts";
import type { FilterBank, Groups, Leaders, Prototypes, Rows, TopFilters, TopRows } from "../kernels/shapes.ts";
import { leadersOf, pickRows, topFilters, topRows } from "../kernels/top.ts";
import type { Backend, Held, Refining, Work } from "./backend.ts";
import { holdNarrow } from "./narrow.ts";
import { RefiningInPlace } from "./refine-in-place.ts";

/** Opens the back end of plain loops. */
export function openReference(): Backend {
  return {
    name: "reference",
    threads: 1,
    hold: (x) => holdNarrow(x, async (rows) => new HeldInPlace(rows)),
    pool: async (images, layers) => poolLayers(images, layers),
    close: async () => {},
  };
}

class HeldInPlace implements Held {
  readonly #x: Rows;
  #pairs = 0;

  constructor(x: Rows) {
    this.#x = x;
  }

  async topFilters(bank: FilterBank, k: number): Promise<TopFilters> {
    this.#pairs += this.#x.rows * bank.filters;
    return topFilters(this.#x, bank, k);
  }

  async topFiltersOf(rows: Uint32Array, bank: FilterBank, k: number): Promise<TopFilters> {
    return pickRows(await this.topFilters(bank, k), rows);
  }

  async leaders(bank: FilterBank): Promise<Leaders> {
    return leadersOf(await this.topFilters(bank, Math.min(2, bank.filters)));
  }

  async topRows(bank: FilterBank, filters: Uint32Array, k: number, divisor: Float64Array): Promise<TopRows> {
    this.#pairs += this.#x.rows * filters.length;
    return topRows(this.#x, bank, filters, k, divisor);
  }

  async rankSums(groups: Groups, distribution?: Float64Array): Promise<FilterBank> {
    return rankSums(this.#x, groups, distribution);
  }

  async refining(start: Prototypes): Promise<Refining> {
    return new RefiningInPlace(this.#x, start);
  }

  work(): Work {
    return { pairs: this.#pairs, exact: this.#pairs };
  }

  release(): void {}
}
