/**
 * One update of refinement, as plain loops: learning vector quantisation on rank filters. Each filter has a prototype P,
 * its weights are the rank of P (or the draw from a distribution). Each listed row is compared with the filters listed for
 * it; where the strongest of its own class does not lead the strongest other by the window, the row is added to the P of
 * the one and taken off the P of the other. All rows of a batch are compared before any P changes, and a P is ranked again
 * when it has been moved often enough: ranking takes longer than moving.
 *
 * **Order of summation.** A prototype takes the rows in the order listed; a product is rounded, then added.
 */

import { dotRow } from "./dot.ts";
import { commonNorm, rankVector, weightsFor } from "./rank.ts";
import type { Compared, DenseBank, Listed, Prototypes, RefineBatch, Rows, Weights } from "./shapes.ts";

/** Factors hold a prototype of the rule "multiply" within these: products of a few of them stay finite. */
const LOWEST_PROTOTYPE = 1e-50;
const HIGHEST_PROTOTYPE = 1e50;

/** Prototypes with their weights, which change from update to update. */
export interface RankedPrototypes extends Prototypes {
  /** m x n weights, as float64 for the products. */
  readonly weights: Float64Array;
  readonly norm: number;
  /** How often each prototype has been moved since it was ranked. */
  readonly moves: Uint32Array;
}

/** Ranks prototypes for the first time. */
export function rankPrototypes(start: Prototypes): RankedPrototypes {
  const { filters, features, distribution } = start;
  const ranked = {
    ...start,
    values: start.values.slice(),
    weights: new Float64Array(filters * features),
    norm: commonNorm(features, distribution),
    moves: new Uint32Array(filters),
  };
  for (let f = 0; f < filters; f++) rankPrototype(ranked, f);
  return ranked;
}

/** The filters as they now are. */
export function bankOf({ filters, features, weights, norm, distribution }: RankedPrototypes): DenseBank {
  const kept: Weights = weightsFor(weights.length, features, distribution);
  kept.set(weights);
  return { form: "dense", filters, features, weights: kept, norm: new Float64Array(filters).fill(norm) };
}

/** Compares the rows [from, to) of a batch with the filters listed for them. Equal responses: the lower filter. */
export function compareListed(
  x: Rows,
  ranked: RankedPrototypes,
  rows: Uint32Array,
  { codes, filters, k }: Listed,
  from: number,
  to: number,
  { own, rival, margin }: Compared, // out
): void {
  const n = ranked.features;
  const { weights, filterClass, norm } = ranked;
  for (let j = from; j < to; j++) {
    let best = Number.NEGATIVE_INFINITY;
    let other = Number.NEGATIVE_INFINITY;
    const r = rows[j];
    for (let e = r * k; e < (r + 1) * k; e++) {
      const f = filters[e];
      const response = dotRow(x, r, weights.subarray(f * n, (f + 1) * n)) / norm;
      if (filterClass[f] === codes[r]) {
        if (response > best || (response === best && f < own[j])) {
          best = response;
          own[j] = f;
        }
      } else if (response > other || (response === other && f < rival[j])) {
        other = response;
        rival[j] = f;
      }
    }
    margin[j] = marginOf(best, other);
  }
}

/** How far the first response leads the second. */
export function marginOf(own: number, rival: number): number {
  const sum = Math.abs(own) + Math.abs(rival);
  return sum > 0 && sum < Number.POSITIVE_INFINITY ? (own - rival) / sum : 1;
}

/** Lets the rows [from, to) of a batch move prototypes, once all of its rows have been compared. */
export function learn(
  x: Rows,
  ranked: RankedPrototypes,
  { rows, step, window }: RefineBatch,
  { own, rival, margin }: Compared,
  from: number,
  to: number,
): void {
  for (let j = from; j < to; j++) {
    if (!(margin[j] < window)) continue;
    move(x, rows[j], ranked, own[j], step);
    move(x, rows[j], ranked, rival[j], -step);
    ranked.moves[own[j]]++;
    ranked.moves[rival[j]]++;
  }
}

/** Ranks those of the prototypes [from, to) that were moved often enough, once all rows of a batch have moved them. */
export function rankMoved(ranked: RankedPrototypes, { patience }: RefineBatch, from: number, to: number): void {
  const { moves } = ranked;
  for (let f = from; f < to; f++) {
    if (moves[f] === 0 || moves[f] < patience) continue;
    rankPrototype(ranked, f);
    moves[f] = 0;
  }
}

/** Brings row r to prototype f, or with a negative step takes it away. */
function move(x: Rows, r: number, { values, features: n, rule }: RankedPrototypes, f: number, step: number): void {
  const from = x.form === "dense" ? r * n : x.offsets[r];
  const to = x.form === "dense" ? from + n : x.offsets[r + 1];
  for (let e = from; e < to; e++) {
    const at = f * n + (x.form === "dense" ? e - from : x.indices[e]);
    const value = x.values[e];
    if (rule === "add") values[at] += step * value;
    else if (value !== 0) {
      const factor = 1 + Math.abs(step) * value;
      const moved = step > 0 ? values[at] * factor : values[at] / factor;
      values[at] = Math.min(HIGHEST_PROTOTYPE, Math.max(LOWEST_PROTOTYPE, moved));
    }
  }
}

function rankPrototype({ values, weights, features: n, distribution }: RankedPrototypes, f: number): void {
  rankVector(values.subarray(f * n, (f + 1) * n), n, distribution, weights, f * n);
}
