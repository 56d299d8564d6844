/** One row through the network of spikes, kept step by step: what an animation shows. */

import { type Label, type Model, RanksimError } from "@ranksim/core";
import { Arrivals, networkOf, spikingRows, strongestClass } from "./network.ts";
import { Settlement } from "./settled.ts";

/** One row over time. */
export interface SpikeTrace {
  /** Features in the order of their spikes, with the times. */
  readonly features: Uint32Array;
  readonly times: Float64Array;
  /** The time at which potentials are x·w. */
  readonly end: number;
  /** When the class was certain, and how many spikes had arrived. */
  readonly settledAt: number;
  readonly settledAfter: number;
  /** The strongest filter of each class at the end, strongest class first. */
  readonly racers: readonly { readonly filter: number; readonly label: Label; readonly potentials: Float64Array }[];
  /** The moments of `racers.potentials`. */
  readonly moments: Float64Array;
  /** The label at each moment. */
  readonly labels: readonly Label[];
}

/** Follows one row at so many evenly spaced moments. */
export function traceSpikes(model: Model, row: ArrayLike<number>, moments = 60): SpikeTrace {
  if (!Number.isInteger(moments) || moments < 1) {
    throw new RanksimError("bad-params", `moments: expected a whole number from 1 on, found ${moments}`);
  }
  const { network, classifier } = networkOf(model);
  const { values } = spikingRows([Float64Array.from(row)], network.features);
  const arrivals = new Arrivals(network, values);
  const settlement = new Settlement(network, arrivals);
  let settledAt = arrivals.end;
  let isSettled = false;
  let settledAfter = 0;
  const taken: Float64Array[] = [];
  const labels: Label[] = [];
  const at = Float64Array.from({ length: moments }, (_, m) => Math.floor((arrivals.end * (m + 1)) / moments));
  for (const moment of at) {
    while (arrivals.seen < network.features && arrivals.next < arrivals.end && arrivals.next <= moment) {
      arrivals.pass(arrivals.next);
      arrivals.arrive();
      if (isSettled) continue;
      isSettled = settlement.isSettled();
      settledAfter = arrivals.seen;
      if (isSettled) settledAt = arrivals.time;
    }
    arrivals.pass(moment);
    taken.push(arrivals.potentials.slice());
    labels.push(classifier.classes[strongestClass(arrivals.potentials, network)]);
  }
  const last = taken[moments - 1];
  const best = new Map<number, number>();
  for (const [f, c] of network.filterClass.entries()) {
    const found = best.get(c);
    if (found === undefined || last[f] > last[found]) best.set(c, f);
  }
  const racers = [...best].sort(([, a], [, b]) => last[b] - last[a] || a - b);
  const spiking = arrivals.order.filter((i) => values[i] > 0);
  return {
    features: spiking,
    times: Float64Array.from(spiking, (i) => arrivals.end - values[i]),
    end: arrivals.end,
    settledAt,
    settledAfter,
    racers: racers.map(([c, filter]) => ({
      filter,
      label: classifier.classes[c],
      potentials: Float64Array.from(taken, (potentials) => potentials[filter]),
    })),
    moments: at,
    labels,
  };
}
