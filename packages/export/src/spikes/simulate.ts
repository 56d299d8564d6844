/** Rows through the network of spikes: the class over time, how soon it was certain, and what the way there cost. */

import { type Label, type MatrixLike, type Model, RanksimError } from "@ranksim/core";
import { Arrivals, networkOf, spikingRows, strongestClass } from "./network.ts";
import { Watch } from "./settled.ts";

/** How rows are watched. */
export interface SpikeOptions {
  /** Moments at which the class is noted, evenly over the time of a row; 20 where absent. */
  readonly moments?: number;
  /** Called every few rows with the share that is done; the work waits for it and stops where it throws. */
  readonly onProgress?: (share: number) => void | Promise<void>;
}

/** What was seen. Moment m of row r is entry `r * moments + m`. */
export interface SpikeRun {
  readonly rows: number;
  readonly moments: number;
  readonly classes: readonly Label[];
  readonly filters: number;
  /** The class at the end: that of `predict`. */
  readonly labels: readonly Label[];
  /** Of a model with patches: what the layer of windows took for each row. All else is about the layer after it. */
  readonly firstLayer: { readonly spikes: Uint32Array; readonly synapticEvents: Float64Array } | undefined;
  /** Spikes of each row: features above 0. */
  readonly spikes: Uint32Array;
  /** Spikes of each row that had arrived when its class was certain. */
  readonly spikesNeeded: Uint32Array;
  /** Class number at each moment. */
  readonly classAt: Uint32Array;
  /** Spikes that had arrived at each moment. */
  readonly spikesAt: Uint32Array;
}

/** What a run amounts to. */
export interface SpikeSummary {
  /** One entry a moment: the mean share of spikes seen, and the share of rows that have the right class. */
  readonly curve: readonly { readonly spikeShare: number; readonly accuracy: number }[];
  readonly spikes: number;
  readonly spikesNeeded: number;
  /** Additions of a weight to a current, one for each spike and filter: all, and those before the class was certain. */
  readonly synapticEvents: number;
  readonly synapticEventsNeeded: number;
  /** Spikes and events of the layer of windows, all of which are needed; absent where there is none. */
  readonly firstLayer?: { readonly spikes: number; readonly synapticEvents: number };
}

const DEFAULT_MOMENTS = 20;
const ROWS_BETWEEN = 64;

/**
 * Simulates a classifier as a network of spikes, event by event, in whole numbers. Takes rows of whole numbers from 0 on, or images
 * of bytes where the model has patches, and a model whose weights are ranks (code "unsupported" else). The labels are those of
 * `predict`, but perhaps where classes of a committee score exactly the same.
 */
export async function simulateSpikes(model: Model, x: MatrixLike, options: SpikeOptions = {}): Promise<SpikeRun> {
  const { moments = DEFAULT_MOMENTS, onProgress } = options;
  if (!Number.isInteger(moments) || moments < 1) {
    throw new RanksimError("bad-params", `moments: expected a whole number from 1 on, found ${moments}`);
  }
  const spiking = networkOf(model);
  const { network, classifier, patches } = spiking;
  const { rows, values, features } = spikingRows(x, spiking);
  const n = network.features;
  const run = {
    firstLayer: patches && { spikes: new Uint32Array(rows), synapticEvents: new Float64Array(rows) },
    spikes: new Uint32Array(rows),
    spikesNeeded: new Uint32Array(rows),
    classAt: new Uint32Array(rows * moments),
    spikesAt: new Uint32Array(rows * moments),
  };
  const between = patches ? 1 : ROWS_BETWEEN;
  for (let r = 0; r < rows; r++) {
    if (r % between === 0) await onProgress?.(r / rows);
    const given = values.subarray(r * features, (r + 1) * features);
    const first = patches?.run(given);
    if (first && run.firstLayer) {
      run.firstLayer.spikes[r] = first.spikes;
      run.firstLayer.synapticEvents[r] = first.events;
    }
    const row = first?.pooled ?? given;
    const arrivals = new Arrivals(network, row);
    const watch = new Watch(network, arrivals);
    for (const value of row) if (value > 0) run.spikes[r]++;
    for (let m = 0; m < moments; m++) {
      // Whole, so that potentials stay whole; the last moment is the end.
      const moment = Math.floor((arrivals.end * (m + 1)) / moments);
      while (arrivals.seen < n && arrivals.next < arrivals.end && arrivals.next <= moment) {
        arrivals.pass(arrivals.next);
        arrivals.arrive();
        watch.look();
      }
      arrivals.pass(moment);
      run.classAt[r * moments + m] = strongestClass(arrivals.potentials, network);
      run.spikesAt[r * moments + m] = arrivals.seen;
    }
    run.spikesNeeded[r] = watch.spikes;
  }
  await onProgress?.(1);
  const labels = Array.from({ length: rows }, (_, r) => classifier.classes[run.classAt[(r + 1) * moments - 1]]);
  return { rows, moments, classes: classifier.classes, filters: network.filters, labels, ...run };
}

/** The curve of accuracy over spikes and the spikes that an early stop saves. Without labels, agreement with the end. */
export function summarizeSpikes(run: SpikeRun, y: ArrayLike<Label> = run.labels): SpikeSummary {
  if (y.length !== run.rows) {
    throw new RanksimError("bad-labels", `expected ${run.rows} labels, one for each row, found ${y.length}`);
  }
  const sum = (values: Uint32Array | Float64Array) => {
    let total = 0;
    for (const value of values) total += value;
    return total;
  };
  const curve = Array.from({ length: run.moments }, (_, m) => {
    let right = 0;
    let seen = 0;
    for (let r = 0; r < run.rows; r++) {
      const at = r * run.moments + m;
      if (run.classes[run.classAt[at]] === y[r]) right++;
      // A row without spikes has seen all there is.
      seen += run.spikes[r] === 0 ? 1 : run.spikesAt[at] / run.spikes[r];
    }
    return { spikeShare: seen / Math.max(1, run.rows), accuracy: right / Math.max(1, run.rows) };
  });
  const [spikes, spikesNeeded] = [sum(run.spikes), sum(run.spikesNeeded)];
  return {
    curve,
    spikes,
    spikesNeeded,
    synapticEvents: spikes * run.filters,
    synapticEventsNeeded: spikesNeeded * run.filters,
    ...(run.firstLayer && {
      firstLayer: { spikes: sum(run.firstLayer.spikes), synapticEvents: sum(run.firstLayer.synapticEvents) },
    }),
  };
}
