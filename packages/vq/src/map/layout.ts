/**
 * Places for filters in a plane: those that are strongest for the same rows lie together. In the manner of UMAP, with 1 / (1 + d²) for how near
 * two places are: neighbours draw each other nearer, drawn others push away, ever less. Only + − × ÷ and roots, so places have the same bits
 * everywhere.
 */

import { drawBelow, generatorOf } from "@ranksim/core/internal";

/** Strongest filters of a row that are neighbours of one another, and neighbours that a filter keeps. */
const TOGETHER = 5;
const KEPT = 15;
/** Turns, others drawn for each neighbour, and the longest step. Measured on Fashion-MNIST, as are those above. */
const EPOCHS = 300;
const DRAWN = 5;
const LONGEST = 4;
/** Rounds of the power method, and how far the first places reach from the middle. */
const ROUNDS = 300;
const REACH = 10;

/** Neighbours among filters, and how often rows say so: from 0 to 1. */
interface Edges {
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly weight: Float64Array;
}

/** Places of `filters` filters, x and y of one after the other, given the k strongest of each row, strongest first. */
export async function layOut(
  filters: number,
  strongest: Uint32Array,
  k: number,
  seed: number,
  tell: (share: number) => Promise<void>,
): Promise<Float64Array> {
  const edges = edgesOf(filters, strongest, k);
  const random = generatorOf(seed);
  const places = firstPlaces(filters, edges, () => drawBelow(random, 2 ** 24) / 2 ** 23 - 1);
  const due = new Float64Array(edges.weight.length);
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    if (epoch % 10 === 0) await tell(epoch / EPOCHS);
    turn(places, edges, due, 1 - epoch / EPOCHS, () => drawBelow(random, filters));
  }
  return places;
}

/** Pairs of filters by the rows for which both are among the strongest: of each filter those it shares most rows with. */
function edgesOf(filters: number, strongest: Uint32Array, k: number): Edges {
  const together = Math.min(k, TOGETHER);
  const shared = Array.from({ length: filters }, () => new Map<number, number>());
  for (let at = 0; at < strongest.length; at += k) {
    for (let i = 0; i < together; i++) {
      for (let j = 0; j < together; j++) {
        if (i === j) continue;
        const [f, g] = [strongest[at + i], strongest[at + j]];
        shared[f].set(g, (shared[f].get(g) ?? 0) + 1);
      }
    }
  }
  // A neighbour of both is one by either: the weight of a or b is that of a + b less that of both.
  const joined = new Map<number, number>();
  for (const [f, others] of shared.entries()) {
    const kept = [...others].sort(([g, a], [h, b]) => b - a || g - h).slice(0, KEPT);
    for (const [g, rows] of kept) {
      const pair = Math.min(f, g) * filters + Math.max(f, g);
      const [weight, before] = [rows / kept[0][1], joined.get(pair) ?? 0];
      joined.set(pair, before + weight - before * weight);
    }
  }
  const pairs = [...joined].sort(([p], [q]) => p - q);
  return {
    from: Uint32Array.from(pairs, ([pair]) => Math.floor(pair / filters)),
    to: Uint32Array.from(pairs, ([pair]) => pair % filters),
    weight: Float64Array.from(pairs, ([, weight]) => weight),
  };
}

/** The second and third vector of the random walk along edges, by the power method: filters that are linked by few steps begin together. */
function firstPlaces(filters: number, { from, to, weight }: Edges, draw: () => number): Float64Array {
  const degree = new Float64Array(filters).fill(1e-9);
  for (let e = 0; e < weight.length; e++) {
    degree[from[e]] += weight[e];
    degree[to[e]] += weight[e];
  }
  const root = degree.map(Math.sqrt);
  const vectors = [unit(root.slice())];
  for (const _ of "xy") {
    let v = unit(Float64Array.from(root, draw));
    for (let round = 0; round < ROUNDS; round++) {
      const next = v.slice();
      for (let e = 0; e < weight.length; e++) {
        const share = weight[e] / (root[from[e]] * root[to[e]]);
        next[from[e]] += share * v[to[e]];
        next[to[e]] += share * v[from[e]];
      }
      for (const known of vectors) {
        const along = next.reduce((sum, value, f) => sum + value * known[f], 0);
        for (let f = 0; f < filters; f++) next[f] -= along * known[f];
      }
      v = unit(next);
    }
    vectors.push(v);
  }
  const places = new Float64Array(2 * filters);
  for (const [axis, v] of vectors.slice(1).entries()) {
    const steps = v.map((value, f) => value / root[f]);
    const longest = steps.reduce((most, step) => Math.max(most, Math.abs(step)), 1e-300);
    // A little of chance keeps filters apart that no edge tells apart.
    for (let f = 0; f < filters; f++) places[2 * f + axis] = (steps[f] / longest) * REACH + draw() / 1000;
  }
  return places;
}

function unit(v: Float64Array): Float64Array {
  const length = Math.sqrt(v.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? v : v.map((value) => value / length);
}

/** One turn: each edge is taken as often as its weight says, from both ends. */
function turn(places: Float64Array, { from, to, weight }: Edges, due: Float64Array, step: number, draw: () => number) {
  const most = LONGEST * step;
  for (let e = 0; e < weight.length; e++) {
    due[e] += weight[e];
    if (due[e] < 1) continue;
    due[e] -= 1;
    for (const [f, g] of [
      [from[e], to[e]],
      [to[e], from[e]],
    ]) {
      const x = places[2 * f] - places[2 * g];
      const y = places[2 * f + 1] - places[2 * g + 1];
      const pull = (-2 * step) / (1 + x * x + y * y);
      const [alongX, alongY] = [within(pull * x, most), within(pull * y, most)];
      places[2 * f] += alongX;
      places[2 * f + 1] += alongY;
      places[2 * g] -= alongX;
      places[2 * g + 1] -= alongY;
      for (let q = 0; q < DRAWN; q++) push(places, f, draw(), step, most);
    }
  }
}

/** Filter h pushes filter f away. */
function push(places: Float64Array, f: number, h: number, step: number, most: number): void {
  if (f === h) return;
  const x = places[2 * f] - places[2 * h];
  const y = places[2 * f + 1] - places[2 * h + 1];
  const square = x * x + y * y;
  const force = (2 * step) / ((0.001 + square) * (1 + square));
  places[2 * f] += within(force * x, most);
  places[2 * f + 1] += within(force * y, most);
}

const within = (value: number, most: number): number => Math.max(-most, Math.min(most, value));
