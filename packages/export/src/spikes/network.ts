/**
 * The filters as a network of spikes. Feature i of a row spikes once, at the time x_max - x_i (never where x_i is 0); each
 * spike adds its weight to the current of every filter, for good; a potential integrates its current. At the time x_max the
 * potential of a filter is exactly x·w. All numbers are whole, so nothing is rounded.
 */

import {
  asMatrix,
  type ClassifierModel,
  type Dense,
  type MatrixLike,
  type Model,
  RanksimError,
  toDense,
} from "@ranksim/core";
import { denseWeights, imageClassifierOf, isRanked, isScored } from "../parts.ts";
import { PatchNetwork } from "./patch-layer.ts";

/** A classifier laid out for spikes. */
export interface Network {
  readonly filters: number;
  readonly features: number;
  readonly classes: number;
  readonly filterClass: Uint32Array;
  /** Bank number of each filter of a committee. */
  readonly filterBank: Uint32Array | undefined;
  readonly banks: number;
  /** Whether classes score by their strongest filters; else that with most of the strongest filters wins. */
  readonly isScored: boolean;
  /** Whether the first class wins where nothing responds; else that with most filters. */
  readonly isFirstIfSilent: boolean;
  /** filters x features. */
  readonly weights: Float64Array;
  /** features x filters: what one spike gives to all filters. */
  readonly byFeature: Float64Array;
  /** The sum of the weights of a filter, the same for all. */
  readonly total: number;
}

/** A model as spikes: one layer of filters, after a layer of windows where it takes images. */
interface Spiking {
  readonly patches: PatchNetwork | undefined;
  readonly network: Network;
  readonly classifier: ClassifierModel;
}

/** The network of a classifier whose weights are ranks; others are refused (code "unsupported"). */
export function networkOf(model: Model): Spiking {
  const { classifier, patches } = imageClassifierOf(model, "spikes");
  const { bank, filterClass, filterBank, committee: banks } = classifier;
  if (!isRanked(bank)) {
    throw new RanksimError("unsupported", 'spikes: expected weights that are ranks; train with distribution "rank"');
  }
  if (patches?.scale) {
    throw new RanksimError(
      "unsupported",
      "spikes: expected a model trained on images of bytes, as the times of spikes",
    );
  }
  const { filters, features } = bank;
  const weights = Float64Array.from(denseWeights(bank));
  const byFeature = new Float64Array(weights.length);
  for (let f = 0; f < filters; f++) {
    for (let i = 0; i < features; i++) byFeature[i * filters + f] = weights[f * features + i];
  }
  const classes = classifier.classes.length;
  const total = features * (features + 1);
  const rule = { isScored: isScored(classifier), isFirstIfSilent: classifier.decision === "probability" };
  const network = { filters, features, classes, filterClass, filterBank, banks, ...rule, weights, byFeature, total };
  return { network, classifier, patches: patches && new PatchNetwork(patches) };
}

/** Rows that can spike: whole numbers from 0 on, bytes where they are images. */
export function spikingRows(x: MatrixLike, { network, patches }: Spiking): Dense {
  const features = patches?.features ?? network.features;
  const most = patches ? 255 : Number.MAX_SAFE_INTEGER;
  const matrix = toDense(asMatrix(x));
  if (matrix.features !== features && matrix.rows > 0) {
    throw new RanksimError("wrong-width", `the model has ${features} features, the data has ${matrix.features}`);
  }
  const bad = matrix.values.findIndex((value) => !(value >= 0 && value <= most && Number.isInteger(value)));
  if (bad < 0) return matrix;
  throw new RanksimError(
    "bad-matrix",
    `row ${Math.floor(bad / features)}, column ${bad % features}: expected a whole number from 0 ${patches ? "to 255" : "on"} as the time of a spike, ` +
      `found ${matrix.values[bad]}; scale the data to bytes`,
  );
}

/** The spikes of a row in the order they come: features by falling value, equal ones by number. Features of 0 come last. */
function spikeOrder(row: ArrayLike<number>): Uint32Array {
  const order = Uint32Array.from({ length: row.length }, (_, i) => i);
  return order.sort((a, b) => row[b] - row[a] || a - b);
}

/** A network while the spikes of one row arrive. */
export class Arrivals {
  readonly #network: Network;
  readonly #row: ArrayLike<number>;
  readonly order: Uint32Array;
  /** When the last potential is read. */
  readonly end: number;
  readonly currents: Float64Array;
  readonly potentials: Float64Array;
  /** Spikes that have arrived. */
  seen = 0;
  time = 0;

  constructor(network: Network, row: ArrayLike<number>) {
    this.#network = network;
    this.#row = row;
    this.order = spikeOrder(row);
    this.end = row.length === 0 ? 0 : row[this.order[0]];
    this.currents = new Float64Array(network.filters);
    this.potentials = new Float64Array(network.filters);
  }

  /** The time of the next spike, or the end where none is left. */
  get next(): number {
    return this.seen < this.order.length ? this.end - this.#row[this.order[this.seen]] : this.end;
  }

  /** Lets time pass, without any spike between. */
  pass(time: number): void {
    const step = time - this.time;
    if (step > 0) for (let f = 0; f < this.potentials.length; f++) this.potentials[f] += this.currents[f] * step;
    this.time = time;
  }

  /** All spikes of the present moment arrive. */
  arrive(): void {
    const { filters, byFeature } = this.#network;
    for (; this.time < this.end && this.next === this.time && this.seen < this.order.length; this.seen++) {
      const at = this.order[this.seen] * filters;
      for (let f = 0; f < filters; f++) this.currents[f] += byFeature[at + f];
    }
  }
}

/**
 * The class that potentials name: that of the strongest, of several the class with most of them, then the lowest. Where classes score,
 * as in a committee, the class that scores most, the lowest of equals.
 */
export function strongestClass(potentials: Float64Array, network: Network): number {
  const { filterClass, classes } = network;
  let counts: Float64Array;
  if (network.isScored) counts = scoreClasses(potentials, network);
  else {
    let largest = potentials[0];
    for (const potential of potentials) if (potential > largest) largest = potential;
    if (largest === 0 && network.isFirstIfSilent) return 0;
    counts = new Float64Array(classes);
    for (let f = 0; f < potentials.length; f++) if (potentials[f] === largest) counts[filterClass[f]]++;
  }
  let best = 0;
  for (let c = 1; c < classes; c++) if (counts[c] > counts[best]) best = c;
  return best;
}

/** The sum over banks of the strongest potential of each class. */
export function scoreClasses(
  potentials: Float64Array,
  { filterClass, filterBank, classes, banks }: Network,
): Float64Array {
  const strongest = new Float64Array(banks * classes);
  for (let f = 0; f < potentials.length; f++) {
    const at = (filterBank?.[f] ?? 0) * classes + filterClass[f];
    if (potentials[f] > strongest[at]) strongest[at] = potentials[f];
  }
  const scores = new Float64Array(classes);
  for (let at = 0; at < strongest.length; at++) scores[at % classes] += strongest[at];
  return scores;
}
