/**
 * The strongest rows of filters, by response over the row's mean response. Here only candidates are found; the host divides.
 *
 * **Why none is missed.** The value of a row is v = p / d with whole p and d. The device computes ṽ in float32: p and the four parts
 * of d are converted, three additions of positive numbers, one division, each off by at most 2.5 units in the last place
 * (2^-23 relative each, so 2.5·2^-23; nine of them make less than ε = 2^-18), so (1-ε)v <= ṽ <= (1+ε)v. Let T be the k-th largest
 * of the maxima of 256 sets of rows: k rows have ṽ >= T, so the k-th largest value is at least T/(1+ε), and whatever has a
 * value as large has ṽ >= T(1-ε)/(1+ε) >= T(1-2ε). Rows with ṽ >= T(1-2^-16) are listed; nothing else can be among the k.
 */

import { type DeviceBuffer, type Kernel, MOST_GROUPS } from "./device.ts";
import type { Job } from "./job.ts";

const THREADS = 256;
/** Candidates a filter may have; where there are more (ties without end), the host does the work. */
export const MOST_CANDIDATES = 512;
/** The largest k. */
export const MOST_ROWS = 128;

/** Numbers of a filter's list: how many there are, then row and product of each. */
export const LIST_WORDS = 2 + 2 * MOST_CANDIDATES;

/** One workgroup a row: Σ x_i · (byte b of s_i) for the four bytes of the sums of all filters, each exact in u32. */
const MEANS: Kernel = {
  name: "mean responses",
  writes: [false, false, true],
  code: `
struct Params { words: u32, rows: u32, features: u32, first: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read> planes: array<u32>; // sums of the high bytes, then of the low bytes
@group(0) @binding(3) var<storage, read_write> means: array<vec4<u32>>;
var<workgroup> parts: array<vec4<u32>, 64>;
fn bytes_of(v: u32) -> vec4<u32> { return vec4<u32>(v & 255u, (v >> 8u) & 255u, (v >> 16u) & 255u, v >> 24u); }
@compute @workgroup_size(64) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let r = g.y * ${MOST_GROUPS}u + g.x;
  if (r >= p.rows) { return; }
  var sum = vec4<u32>();
  for (var c = t; c * 4u < p.features; c += 64u) {
    let four = bytes_of(x[r * p.words + c]);
    for (var i = 0u; i < 4u; i++) {
      let feature = c * 4u + i;
      if (feature < p.features) { sum += four[i] * bytes_of(planes[feature] * 256u + planes[p.features + feature]); }
    }
  }
  parts[t] = sum;
  workgroupBarrier();
  for (var half = 32u; half > 0u; half /= 2u) {
    if (t < half) { parts[t] += parts[t + half]; }
    workgroupBarrier();
  }
  if (t == 0u) { means[p.first + r] = parts[0]; }
}`,
};

const HEAD = `
struct Params { rows: u32, stride: u32, k: u32, first: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> products: array<u32>;
@group(0) @binding(2) var<storage, read> means: array<vec4<u32>>;
fn value_of(r: u32, f: u32) -> f32 {
  let d = means[p.first + r];
  let mean = f32(d.x) + 256.0 * f32(d.y) + 65536.0 * f32(d.z) + 16777216.0 * f32(d.w);
  if (mean == 0.0) { return 0.0; }
  return f32(products[r * p.stride + f]) / mean;
}`;

/** One workgroup a filter: each thread keeps the largest value of its rows, over all blocks. No rows: -1. */
const MAXIMA: Kernel = {
  name: "largest values",
  writes: [false, false, true],
  code: `${HEAD}
@group(0) @binding(3) var<storage, read_write> maxima: array<f32>;
@compute @workgroup_size(${THREADS}) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let f = g.x;
  var best = -1.0;
  if (p.first > 0u) { best = maxima[f * ${THREADS}u + t]; }
  for (var r = t; r < p.rows; r += ${THREADS}u) { best = max(best, value_of(r, f)); }
  maxima[f * ${THREADS}u + t] = best;
}`,
};

/** One workgroup a filter: lists the rows that may be among the k strongest. */
const LIST: Kernel = {
  name: "list strong rows",
  writes: [false, false, true, true],
  code: `${HEAD}
@group(0) @binding(3) var<storage, read_write> maxima: array<f32>;
@group(0) @binding(4) var<storage, read_write> lists: array<atomic<u32>>;
var<workgroup> all: array<f32, ${THREADS}>;
var<workgroup> least: f32;
@compute @workgroup_size(${THREADS}) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let f = g.x;
  let own = maxima[f * ${THREADS}u + t];
  all[t] = own;
  workgroupBarrier();
  // The maximum that has k - 1 before it, in descending order, is T.
  var before = 0u;
  for (var j = 0u; j < ${THREADS}u; j++) {
    if (all[j] > own || (all[j] == own && j < t)) { before++; }
  }
  if (before == p.k - 1u) { least = own; }
  workgroupBarrier();
  let bound = select(-1.0, least * (1.0 - 0.0000152587890625), least > 0.0);
  for (var r = t; r < p.rows; r += ${THREADS}u) {
    if (value_of(r, f) >= bound) {
      let at = atomicAdd(&lists[f * ${LIST_WORDS}u], 1u);
      if (at < ${MOST_CANDIDATES}u) {
        atomicStore(&lists[f * ${LIST_WORDS}u + 2u + 2u * at], p.first + r);
        atomicStore(&lists[f * ${LIST_WORDS}u + 3u + 2u * at], products[r * p.stride + f]);
      }
    }
  }
}`,
};

/** Adds to a job: the mean responses of rows of one buffer, to `means` from row `first` on; `planes` has the sums of the filters' bytes. */
export function meanResponses(
  job: Job,
  x: { readonly buffer: DeviceBuffer; readonly rows: number; readonly features: number; readonly stride: number },
  planes: DeviceBuffer,
  first: number,
  means: DeviceBuffer,
): Promise<void> {
  const params = [x.stride / 4, x.rows, x.features, first];
  return job.run(
    MEANS,
    [x.buffer, planes, means],
    params,
    Math.min(x.rows, MOST_GROUPS),
    Math.ceil(x.rows / MOST_GROUPS),
  );
}

/** A block of products of rows, counted from `first`, and the listed filters. */
interface ProductBlock {
  readonly products: DeviceBuffer;
  readonly stride: number;
  readonly rows: number;
  readonly first: number;
  readonly filters: number;
}

/** Adds to a job: takes a block into the maxima. */
export function largestValues(job: Job, block: ProductBlock, means: DeviceBuffer, maxima: DeviceBuffer): Promise<void> {
  const params = [block.rows, block.stride, 0, block.first];
  return job.run(MAXIMA, [block.products, means, maxima], params, block.filters);
}

/** Adds to a job: lists the rows of a block that may be among the k strongest. */
export function listStrongRows(
  job: Job,
  block: ProductBlock,
  k: number,
  means: DeviceBuffer,
  maxima: DeviceBuffer,
  lists: DeviceBuffer,
): Promise<void> {
  const params = [block.rows, block.stride, k, block.first];
  return job.run(LIST, [block.products, means, maxima, lists], params, block.filters);
}
