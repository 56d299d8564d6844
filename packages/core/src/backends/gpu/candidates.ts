/**
 * The strongest filters of rows whose products are not exact on the device: float32 responses propose candidates, and responses in
 * the order of summation of `kernels/dot.ts` decide between them, on the device (`respond.ts`) or on the host (`decide.ts`).
 *
 * **The bound.** A row x meets filters whose weights the device has as ŵ = float32(w / (norm·s)), where s is at least the largest |w| / norm
 * of the bank: |ŵ| <= 1. It has the row as x̂ = float32(x). Let g be the device's Σ x̂ŵ, ρ the response that the host finds
 * in float64, and τ = ρ / s. Then
 *
 *   |g - τ| <= E = (n + 8)·u·‖x‖₁ / (1 - (n + 8)·u) + n·2^-120,    u = 2^-23, ‖x‖₁ = Σ|x|, n terms.
 *
 * - WGSL rounds sums and products up or down as it likes, so each is off by at most u of itself, not u/2. In whatever order n terms are
 *   added, each goes through one product and at most n - 1 sums: a factor of (1+δ)^n, |δ| <= u. A fused multiply-add leaves
 *   one of these out, adding a zero of the padding is exact.
 * - x̂ is off by u/2 of x, ŵ by less than u of the quotient (a product and a division in float64, one rounding to float32). On the host the sum
 *   of n products and the division are off by (n + 2)·2^-53, far below u for n <= 2^15. So all in all a factor of (1+δ)^(n+3).
 * - Σ|x||w| / norm / s <= ‖x‖₁, since |w| / norm <= s; so the error is at most ((1+u)^(n+3) - 1)·‖x‖₁, which is less than the bound.
 * - Numbers below 2^-126 may be taken for zero, as arguments and as results, by each of the 2n operations, and x̂ and ŵ may become such
 *   numbers: less than 8·2^-126 a term, and as much of ‖x‖₁ once more, which the spare (n + 8) - (n + 3) covers. On the host
 *   that happens below 2^-1022, and s is within 2^±200 (`float-bank.ts`).
 * - Nothing overflows: rows with a value of 2^60 or more are left to the host, and n <= 2^15, so |g| < 2^76.
 *
 * **Why none is missed.** Let T be such that k filters of the row have g >= T: the k-th largest of the maxima of 128 sets of filters.
 * Those have τ >= T - E, so the k-th largest τ is at least T - E, and whatever is among the k strongest, or ties with one, has
 * τ >= T - E and g >= T - 2E. All filters with g >= T - slack are listed, and slack >= 2E with room for the rounding of T - slack (u of ‖x‖₁)
 * and for its own. That is: the device sums |x̂| in float32, so its ‖x‖₁ is off by the same factor; for n <= 2^15 all of
 * 1 / (1 - (n + 8)·u) < 1.004, the sum and the rounding are less than 1.0625 together.
 */

import { type Kernel, MOST_GROUPS, type Room } from "./device.ts";
import type { Job } from "./job.ts";

/** Terms of a product, at most. */
export const MOST_TERMS = 2 ** 15;
/** The bits of 2^60: values whose bits, without the sign, reach this are too large, or no numbers. */
export const TOO_LARGE = 0x5d800000;
/** The largest k. */
export const MOST_PLACES = 64;

const THREADS = 128;

/** One workgroup a row: its slack, and the bits of the largest value of all rows. */
const MEASURE: Kernel = {
  name: "measure rows",
  writes: [false, true, true],
  code: `
struct Params { words: u32, rows: u32, terms: u32, first: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> slack: array<f32>;
@group(0) @binding(3) var<storage, read_write> largest: atomic<u32>;
var<workgroup> sums: array<f32, 64>;
@compute @workgroup_size(64) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let r = g.y * ${MOST_GROUPS}u + g.x;
  if (r >= p.rows) { return; }
  var sum = 0.0;
  var most = 0u;
  for (var c = t; c < p.words; c += 64u) {
    let bits = x[r * p.words + c] & 0x7fffffffu;
    most = max(most, bits);
    sum += bitcast<f32>(min(bits, ${TOO_LARGE}u));
  }
  atomicMax(&largest, most);
  sums[t] = sum;
  workgroupBarrier();
  for (var half = 32u; half > 0u; half /= 2u) {
    if (t < half) { sums[t] += sums[t + half]; }
    workgroupBarrier();
  }
  if (t == 0u) { slack[p.first + r] = 2.125 * f32(p.terms + 8u) * 0x1p-23f * sums[0] + f32(p.terms) * 0x1p-118f; }
}`,
};

/** Adds to a job: the slack of the rows of one room, counted from `first`; `largest` takes the bits of the largest value. */
export function measureRows(
  job: Job,
  x: { readonly room: Room; readonly rows: number; readonly features: number; readonly stride: number; first: number },
  slack: Room,
  largest: Room,
): Promise<void> {
  const params = [x.stride / 4, x.rows, x.features, x.first];
  const across = Math.min(x.rows, MOST_GROUPS);
  return job.run(MEASURE, [x.room, slack, largest], params, across, Math.ceil(x.rows / MOST_GROUPS));
}

/** The slack of a sparse row, of entries `from` to `to`; undefined where it has too many, or one that is too large. */
export function slackOf(values: Float32Array, from: number, to: number): number | undefined {
  const terms = to - from;
  let sum = 0;
  for (let e = from; e < to; e++) {
    const value = Math.abs(values[e]);
    if (!(value < 2 ** 60)) return undefined;
    sum += value;
  }
  return terms > MOST_TERMS ? undefined : 2.125 * (terms + 8) * 2 ** -23 * sum + terms * 2 ** -118;
}

/** One workgroup a row: the number of its candidates, then as many of them as there is room for. */
const LIST: Kernel = {
  name: "list candidates",
  writes: [false, false, true],
  code: `
struct Params { filters: u32, stride: u32, k: u32, rows: u32, first: u32, at: u32, words: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> products: array<f32>;
@group(0) @binding(2) var<storage, read> slack: array<f32>;
@group(0) @binding(3) var<storage, read_write> found: array<u32>;
const NONE = -0x1p+120f;
var<workgroup> maxima: array<f32, ${THREADS}>;
var<workgroup> least: f32;
var<workgroup> count: atomic<u32>;
@compute @workgroup_size(${THREADS}) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let r = g.y * ${MOST_GROUPS}u + g.x;
  if (r >= p.rows) { return; }
  let row = r * p.stride;
  var own = NONE;
  for (var f = t; f < p.filters; f += ${THREADS}u) { own = max(own, products[row + f]); }
  maxima[t] = own;
  workgroupBarrier();
  // The maximum that has k - 1 before it, in descending order.
  var before = 0u;
  for (var j = 0u; j < ${THREADS}u; j++) {
    if (maxima[j] > own || (maxima[j] == own && j < t)) { before++; }
  }
  if (before == p.k - 1u) { least = own; }
  workgroupBarrier();
  let bound = least - slack[p.first + r];
  let place = (p.at + r) * p.words;
  for (var f = t; f < p.filters; f += ${THREADS}u) {
    if (products[row + f] >= bound) {
      let at = atomicAdd(&count, 1u) + 1u;
      if (at < p.words) { found[place + at] = f; }
    }
  }
  workgroupBarrier();
  if (t == 0u) { found[place] = atomicLoad(&count); }
}`,
};

/** Words of a row's list for k places: ties and near ties have some room. */
export function listWords(k: number): number {
  return 6 + 2 * k;
}

/** Adds to a job: lists the candidates of `rows` rows of products, whose slacks begin at `first`, from row `at` of `found` on. */
export function listCandidates(
  job: Job,
  on: {
    readonly products: Room;
    readonly filters: number;
    readonly stride: number;
    readonly k: number;
    readonly rows: number;
    readonly slack: Room;
    readonly first: number;
  },
  at: number,
  found: Room,
): Promise<void> {
  const params = [on.filters, on.stride, on.k, on.rows, on.first, at, listWords(on.k)];
  const across = Math.min(on.rows, MOST_GROUPS);
  return job.run(LIST, [on.products, on.slack, found], params, across, Math.ceil(on.rows / MOST_GROUPS));
}
