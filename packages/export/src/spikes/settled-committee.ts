/**
 * The exact early stop of a committee, whose classes score the sum over its banks of their strongest potential. With a_k the filter
 * of the leading class that is ahead in bank k, what class b can still gain on the leader is at most the sum over banks of the
 * largest P_f - P_ak + (R - 1) · Σ max(0, w_fi - w_aki) over its filters f there, because the leader ends with a_k at least.
 * P, R and the features to come are those of `settled.ts`.
 */

import type { Arrivals, Network } from "./network.ts";
import { scoreClasses } from "./network.ts";

/** Looks, time after time, whether the class of one row is settled. */
export class CommitteeSettlement {
  readonly #network: Network;
  readonly #arrivals: Arrivals;
  readonly #promised: Float64Array;
  /** Class by class and bank by bank, the numbers of filters. */
  readonly #groups: readonly (readonly number[])[][];
  #rival = -1;

  constructor(network: Network, arrivals: Arrivals) {
    this.#network = network;
    this.#arrivals = arrivals;
    this.#promised = new Float64Array(network.filters);
    const { filterClass, filterBank, classes, banks } = network;
    const groups = Array.from({ length: classes }, () => Array.from({ length: banks }, () => [] as number[]));
    for (const [f, c] of filterClass.entries()) groups[c][filterBank?.[f] ?? 0].push(f);
    this.#groups = groups;
  }

  /** Whether no class can still reach the leader. To be asked once the spikes of a moment have arrived. */
  isSettled(): boolean {
    const { filters, classes } = this.#network;
    const { potentials, currents, end, time } = this.#arrivals;
    const left = end - time;
    const promised = this.#promised;
    for (let f = 0; f < filters; f++) promised[f] = potentials[f] + currents[f] * left;
    const scores = scoreClasses(promised, this.#network);
    const leader = scores.indexOf(scores.reduce((most, score) => Math.max(most, score)));
    const leaders = this.#groups[leader].map((group) => strongestOf(group, promised));
    const largest = Math.max(0, left - 1);
    if (this.#rival >= 0 && this.#rival !== leader && !this.#isBeaten(this.#rival, leaders, largest)) return false;
    for (let c = 0; c < classes; c++) {
      if (c === leader || this.#isBeaten(c, leaders, largest)) continue;
      this.#rival = c;
      return false;
    }
    return true;
  }

  #isBeaten(rival: number, leaders: readonly (number | undefined)[], largest: number): boolean {
    const promised = this.#promised;
    let sum = 0;
    for (const [k, group] of this.#groups[rival].entries()) {
      const ahead = leaders[k];
      const own = ahead === undefined ? 0 : promised[ahead];
      // A class without filters in a bank has nothing there.
      let most = group.length === 0 ? -own : Number.NEGATIVE_INFINITY;
      for (const f of group) most = Math.max(most, promised[f] - own + largest * this.#gain(ahead, f));
      sum += most;
    }
    return sum < 0;
  }

  /** How much more than another a filter can gain by features to come, for each unit of value. */
  #gain(other: number | undefined, filter: number): number {
    const { weights, features } = this.#network;
    const { order, seen } = this.#arrivals;
    const b = filter * features;
    let sum = 0;
    for (let j = seen; j < order.length; j++) {
      const more = weights[b + order[j]] - (other === undefined ? 0 : weights[other * features + order[j]]);
      if (more > 0) sum += more;
    }
    return sum;
  }
}

function strongestOf(group: readonly number[], potentials: Float64Array): number | undefined {
  let best: number | undefined;
  for (const f of group) if (best === undefined || potentials[f] > potentials[best]) best = f;
  return best;
}
