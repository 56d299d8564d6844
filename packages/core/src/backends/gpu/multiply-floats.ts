/**
 * Products of rows and filters in float32: the work behind candidates. What they are worth is said in `candidates.ts`; nothing here
 * relies on the order in which terms are added.
 */

import { type Kernel, MOST_GROUPS, type Room } from "./device.ts";
import type { Job } from "./job.ts";

/** Threads of a workgroup, down and across; products of a thread, down and across; values of a row at a time. */
const GRID = 16;
const SIDE = 8;
const TILE = GRID * SIDE;
const STEP = (4 * GRID * GRID) / TILE;

const each = (count: number, text: (j: number) => string): string =>
  Array.from({ length: count }, (_, j) => text(j)).join(" ");

/** One workgroup a tile of 128 rows and 128 filters. */
const DENSE: Kernel = {
  name: "multiply floats",
  writes: [false, false, true],
  code: `
struct Params { first: u32, words: u32, filters: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> products: array<f32>;
var<workgroup> xs: array<f32, ${TILE * STEP}>;
var<workgroup> ws: array<f32, ${TILE * STEP}>;
@compute @workgroup_size(${GRID * GRID}) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let across = t % ${GRID}u;
  let down = t / ${GRID}u;
  let quads = p.words / 4u;
  let item = t / ${STEP / 4}u;
  let part = t % ${STEP / 4}u;
  let row = (p.first + g.y * ${TILE}u + item) * quads + part;
  let filter_at = (g.x * ${TILE}u + item) * quads + part;
  let place = part * ${4 * TILE}u + item;
  var sums = array<f32, ${SIDE * SIDE}>();
  for (var k = 0u; k < quads; k += ${STEP / 4}u) {
    let a = x[row + k];
    let b = w[filter_at + k];
    workgroupBarrier();
    xs[place] = a.x; xs[place + ${TILE}u] = a.y; xs[place + ${2 * TILE}u] = a.z; xs[place + ${3 * TILE}u] = a.w;
    ws[place] = b.x; ws[place + ${TILE}u] = b.y; ws[place + ${2 * TILE}u] = b.z; ws[place + ${3 * TILE}u] = b.w;
    workgroupBarrier();
    for (var s = 0u; s < ${STEP}u; s++) {
      ${each(SIDE, (a) => `let x${a} = xs[s * ${TILE}u + down * ${SIDE}u + ${a}u];`)}
      ${each(SIDE, (b) => `{ let v = ws[s * ${TILE}u + across + ${GRID * b}u]; ${each(SIDE, (a) => `sums[${a * SIDE + b}] += x${a} * v;`)} }`)}
    }
  }
  ${each(
    SIDE,
    (a) =>
      `{ let at = (g.y * ${TILE}u + down * ${SIDE}u + ${a}u) * p.filters + g.x * ${TILE}u + across; ${each(SIDE, (b) => `products[at + ${GRID * b}u] = sums[${a * SIDE + b}];`)} }`,
  )}
}`,
};

const THREADS = 64;

/** One workgroup a row, which takes the filters of each of its features in turn: they lie side by side. */
const SPARSE: Kernel = {
  name: "multiply sparse floats",
  writes: [false, false, false, false, true],
  code: `
struct Params { first: u32, rows: u32, quads: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> spans: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> features: array<u32>;
@group(0) @binding(3) var<storage, read> values: array<f32>;
@group(0) @binding(4) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> products: array<vec4<f32>>;
@compute @workgroup_size(${THREADS}) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let r = g.y * ${MOST_GROUPS}u + g.x;
  if (r >= p.rows) { return; }
  let span = spans[p.first + r];
  for (var q = t; q < p.quads; q += ${THREADS}u) {
    var sum = vec4<f32>();
    for (var e = span.x; e < span.y; e++) { sum += values[e] * w[features[e] * p.quads + q]; }
    products[r * p.quads + q] = sum;
  }
}`,
};

/** Adds to a job: products of `count` dense rows from `first` on, both multiples of a tile, and padded filters; `stride`: bytes of a row and of a filter. */
export function multiplyFloats(
  job: Job,
  rows: { readonly room: Room; readonly first: number; readonly count: number; readonly stride: number },
  weights: { readonly room: Room; readonly filters: number },
  products: Room,
): Promise<void> {
  const params = [rows.first, rows.stride / 4, weights.filters];
  return job.run(DENSE, [rows.room, weights.room, products], params, weights.filters / TILE, rows.count / TILE);
}

/** Sparse rows on the device: where each begins and ends, and the features and values of all. */
export interface SparseRooms {
  readonly spans: Room;
  readonly indices: Room;
  readonly values: Room;
}

/** Adds to a job: products of `count` sparse rows from `first` on; the weights of a feature lie side by side. */
export function multiplySparse(
  job: Job,
  { spans, indices, values }: SparseRooms,
  first: number,
  count: number,
  weights: { readonly room: Room; readonly filters: number },
  products: Room,
): Promise<void> {
  const params = [first, count, weights.filters / 4];
  const rooms = [spans, indices, values, weights.room, products];
  return job.run(SPARSE, rooms, params, Math.min(count, MOST_GROUPS), Math.ceil(count / MOST_GROUPS));
}
