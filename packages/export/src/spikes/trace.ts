/** One row through the network of spikes, kept step by step: what an animation shows. */

import { type Label, type Model, RanksimError } from "@ranksim/core";
import { Arrivals, networkOf, scoreClasses, spikingRows, strongestClass } from "./network.ts";
import { Watch } from "./settled.ts";

/** One row over time. Of a model with patches it is about the layer after that of windows, whose features are pooled similarities. */
export interface SpikeTrace {
  /** Whether features are pooled similarities of windows, not values of the row. */
  readonly isPooled: boolean;
  /** Features in the order of their spikes, with the times. */
  readonly features: Uint32Array;
  readonly times: Float64Array;
  /** The time at which potentials are x·w. */
  readonly end: number;
  /** When the class was certain, and how many spikes had arrived. */
  readonly settledAt: number;
  readonly settledAfter: number;
  /** The strongest filter of each class at the end, the class that wins first; in a committee potentials are sums over its banks. */
  readonly racers: readonly { readonly filter: number; readonly label: Label; readonly potentials: Float64Array }[];
  /** The moments of `racers.potentials`. */
  readonly moments: Float64Array;
  /** The label at each moment. */
  readonly labels: readonly Label[];
}

/** Follows one row at evenly spaced moments. */
export function traceSpikes(model: Model, row: ArrayLike<number>, moments = 60): SpikeTrace {
  if (!Number.isInteger(moments) || moments < 1) {
    throw new RanksimError("bad-params", `moments: expected a whole number from 1 on, found ${moments}`);
  }
  const spiking = networkOf(model);
  const { network, classifier, patches } = spiking;
  const given = spikingRows([Float64Array.from(row)], spiking).values;
  const values = patches?.run(given).pooled ?? given;
  const arrivals = new Arrivals(network, values);
  const watch = new Watch(network, arrivals);
  const taken: Float64Array[] = [];
  const labels: Label[] = [];
  const at = Float64Array.from({ length: moments }, (_, m) => Math.floor((arrivals.end * (m + 1)) / moments));
  for (const moment of at) {
    while (arrivals.seen < network.features && arrivals.next < arrivals.end && arrivals.next <= moment) {
      arrivals.pass(arrivals.next);
      arrivals.arrive();
      watch.look();
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
  // What stands for a class: its strongest filter, in a committee the sum over banks.
  const scores = network.banks > 1 ? taken.map((potentials) => scoreClasses(potentials, network)) : undefined;
  const winner = strongestClass(last, network);
  const racers = [...best]
    .map(([c, filter]) => ({
      c,
      filter,
      label: classifier.classes[c],
      potentials: Float64Array.from(taken, (potentials, m) => scores?.[m][c] ?? potentials[filter]),
    }))
    .sort((a, b) => {
      const isAhead = Number(b.c === winner) - Number(a.c === winner);
      return isAhead || b.potentials[moments - 1] - a.potentials[moments - 1] || a.c - b.c;
    });
  const features = arrivals.order.filter((i) => values[i] > 0);
  return {
    isPooled: patches !== undefined,
    features,
    times: Float64Array.from(features, (i) => arrivals.end - values[i]),
    end: arrivals.end,
    settledAt: watch.time,
    settledAfter: watch.spikes,
    racers: racers.map(({ filter, label, potentials }) => ({ filter, label, potentials })),
    moments: at,
    labels,
  };
}
