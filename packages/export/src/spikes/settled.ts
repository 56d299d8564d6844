/**
 * The exact early stop: whether what has arrived already decides the class. At a time t with R left, the final potential of a
 * filter is P + Σ w_i x_i over the features still to come, where P = potential + current · R is what the arrived spikes will
 * give, and every x_i to come is at most R - 1. A filter b can therefore still pass a filter a only if
 * P_a - P_b <= (R - 1) · Σ max(0, w_bi - w_ai) over the features to come.
 */

import type { Arrivals, Network } from "./network.ts";
import { CommitteeSettlement } from "./settled-committee.ts";

/** Looks at a row at a time: the longest may have tens of thousands of moments, and a look costs more than a moment. */
const MOST_LOOKS = 256;

/** Watches one row until its class is settled. */
export class Watch {
  readonly #arrivals: Arrivals;
  readonly #settlement: Settlement | CommitteeSettlement;
  readonly #pause: number;
  #next = 0;
  isSettled = false;
  /** Spikes that had arrived, and the time, when the class was found to be settled; all and the end where it never was. */
  spikes = 0;
  time: number;

  constructor(network: Network, arrivals: Arrivals) {
    this.#arrivals = arrivals;
    this.#settlement = new (network.banks > 1 ? CommitteeSettlement : Settlement)(network, arrivals);
    // Rows of bytes are looked at in every moment.
    this.#pause = Math.max(1, Math.floor(arrivals.end / MOST_LOOKS));
    this.time = arrivals.end;
  }

  /** To be called once the spikes of a moment have arrived. */
  look(): void {
    const { time, seen } = this.#arrivals;
    if (this.isSettled) return;
    this.spikes = seen;
    if (time < this.#next) return;
    this.#next = time + this.#pause;
    this.isSettled = this.#settlement.isSettled();
    if (this.isSettled) this.time = time;
  }
}

/** Looks, time after time, whether the class of one row is settled. */
class Settlement {
  readonly #network: Network;
  readonly #arrivals: Arrivals;
  readonly #promised: Float64Array;
  /** The rival that was not beaten when last looked at: most likely it still is not. */
  #rival = -1;

  constructor(network: Network, arrivals: Arrivals) {
    this.#network = network;
    this.#arrivals = arrivals;
    this.#promised = new Float64Array(network.filters);
  }

  /** Whether no filter of another class than the leader's can still reach it. To be asked once the spikes of a moment have arrived. */
  isSettled(): boolean {
    const { filters, filterClass, total } = this.#network;
    const { potentials, currents, end, time } = this.#arrivals;
    const left = end - time;
    const promised = this.#promised;
    let leader = 0;
    for (let f = 0; f < filters; f++) {
      promised[f] = potentials[f] + currents[f] * left;
      if (promised[f] > promised[leader]) leader = f;
    }
    const largest = Math.max(0, left - 1);
    const isBeaten = (f: number): boolean => {
      const lead = promised[leader] - promised[f];
      // All the weight that f has left is more than it can gain on the leader, and needs no loop.
      if (lead > largest * (total - currents[f])) return true;
      return lead > largest * this.#gain(leader, f, lead / largest);
    };
    const own = filterClass[leader];
    // Those least likely to be beaten are looked at first: the rival of last time and the one closest behind.
    let closest = -1;
    for (let f = 0; f < filters; f++) {
      if (filterClass[f] !== own && (closest < 0 || promised[f] > promised[closest])) closest = f;
    }
    for (const f of [this.#rival, closest]) if (f >= 0 && filterClass[f] !== own && !isBeaten(f)) return false;
    for (let f = 0; f < filters; f++) {
      if (filterClass[f] === own || isBeaten(f)) continue;
      this.#rival = f;
      return false;
    }
    return true;
  }

  /** How much more than the leader a filter can gain by features to come, for each unit of value; left off beyond `enough`. */
  #gain(leader: number, filter: number, enough: number): number {
    const { weights, features } = this.#network;
    const { order, seen } = this.#arrivals;
    const [a, b] = [leader * features, filter * features];
    let sum = 0;
    for (let j = seen; j < order.length && sum < enough; j++) {
      const more = weights[b + order[j]] - weights[a + order[j]];
      if (more > 0) sum += more;
    }
    return sum;
  }
}
