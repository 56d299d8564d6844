/**
 * Filters in words: the features whose weight stands out most from the mean of all filters. Plain weights would name the
 * features that are large everywhere ("the", "of"); what stands out is what the filter is about.
 */

import { expandFilter, type FilterBank } from "@ranksim/core";

/** A word or the name of a feature, with what it adds. */
export interface Word {
  readonly text: string;
  /** Weight above the mean of all filters, or contribution to a decision. */
  readonly weight: number;
}

/** A word of a filter, and the feature it names. */
export interface FilterWord extends Word {
  readonly feature: number;
}

/** What sets filters, and groups of filters, apart. */
export class FilterWords {
  readonly #bank: FilterBank;
  readonly #nameOf: (feature: number) => string;
  readonly #mean: Float64Array;
  readonly #scratch: Float64Array;

  constructor(bank: FilterBank, nameOf: (feature: number) => string) {
    this.#bank = bank;
    this.#nameOf = nameOf;
    this.#scratch = new Float64Array(bank.features);
    this.#mean = new Float64Array(bank.features);
    const all = Uint32Array.from({ length: bank.filters }, (_, f) => f);
    this.#addUp(all, (_) => 1 / bank.filters, this.#mean);
  }

  /** The words of one filter. */
  ofFilter(filter: number, most: number): FilterWord[] {
    return this.ofFilters(Uint32Array.of(filter), () => 1, most);
  }

  /** The words of several filters together, each counting as much as `share` says (shares add up to 1). */
  ofFilters(filters: Uint32Array, share: (filter: number) => number, most: number): FilterWord[] {
    const sum = this.#scratch.fill(0);
    this.#addUp(filters, share, sum);
    const best: { feature: number; weight: number }[] = [];
    for (let feature = 0; feature < sum.length; feature++) {
      const weight = sum[feature] - this.#mean[feature];
      if (weight <= 0 || (best.length === most && weight <= best[most - 1].weight)) continue;
      if (best.length === most) best.pop();
      best.push({ feature, weight });
      best.sort((a, b) => b.weight - a.weight || a.feature - b.feature);
    }
    return best.map(({ feature, weight }) => ({ feature, text: this.#nameOf(feature), weight }));
  }

  /** Adds the normalised weights of filters, times their shares, to `out`. A sparse bank costs its exceptions only. */
  #addUp(filters: Uint32Array, share: (filter: number) => number, out: Float64Array): void {
    const bank = this.#bank;
    if (bank.form === "dense") {
      const weights = new Float64Array(bank.features);
      for (const f of filters) {
        expandFilter(bank, f, weights);
        const scale = share(f) / bank.norm[f];
        for (let i = 0; i < weights.length; i++) out[i] += weights[i] * scale;
      }
      return;
    }
    let base = 0;
    for (const f of filters) {
      const scale = share(f) / bank.norm[f];
      base += bank.base[f] * scale;
      for (let e = bank.offsets[f]; e < bank.offsets[f + 1]; e++) {
        out[bank.indices[e]] += (bank.weights[e] - bank.base[f]) * scale;
      }
    }
    for (let i = 0; i < out.length; i++) out[i] += base;
  }
}
