/**
 * How rows and filters lie in the memory of the device: one after the other, each padded with zeros to a multiple of 64 bytes, and
 * as many more of zeros as make whole tiles. Filters are two planes of bytes, the high ones first.
 */

import { type DeviceBuffer, type Kernel, MOST_GROUPS } from "./device.ts";
import type { Job } from "./job.ts";

/** Bytes that a row of features is padded to a multiple of, and items of a block. */
const PAD_BYTES = 64;
export const PAD_ITEMS = 128;

export function padded(count: number): number {
  return Math.max(1, Math.ceil(count / PAD_ITEMS)) * PAD_ITEMS;
}

/** Bytes from one row, or one filter of a plane, to the next. */
export function strideOf(features: number): number {
  return Math.ceil(features / PAD_BYTES) * PAD_BYTES;
}

/** Bytes of both planes of so many filters. */
export function bankBytes(filters: number, features: number): number {
  return 2 * padded(filters) * strideOf(features);
}

const THREADS = 64;

/** One thread a word: four bytes of a row from where they lie packed. */
const SPREAD: Kernel = {
  name: "spread rows",
  writes: [false, true],
  code: `
struct Params { features: u32, words: u32, rows: u32, first: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> packed: array<u32>;
@group(0) @binding(2) var<storage, read_write> spread: array<u32>;
@compute @workgroup_size(${THREADS}) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let r = g.y * ${MOST_GROUPS}u + g.x;
  if (r >= p.rows) { return; }
  for (var c = t; c < p.words; c += ${THREADS}u) {
    var word = 0u;
    if (c * 4u < p.features) {
      let at = r * p.features + c * 4u;
      let shift = (at % 4u) * 8u;
      word = packed[at / 4u] >> shift;
      if (shift > 0u) { word |= packed[at / 4u + 1u] << (32u - shift); }
      let left = p.features - c * 4u;
      if (left < 4u) { word &= (1u << (left * 8u)) - 1u; }
    }
    spread[(p.first + r) * p.words + c] = word;
  }
}`,
};

/** Adds to a job: `rows` rows that lie packed go to their places from row `first` on. The packed ones need a word more of memory. */
export function spreadRows(
  job: Job,
  packed: DeviceBuffer,
  features: number,
  rows: number,
  first: number,
  to: DeviceBuffer,
): Promise<void> {
  const params = [features, strideOf(features) / 4, rows, first];
  return job.run(SPREAD, [packed, to], params, Math.min(rows, MOST_GROUPS), Math.ceil(rows / MOST_GROUPS));
}

/** One workgroup an item: item `from[j]` of one place goes to item `to[j]` of another. */
const MOVE: Kernel = {
  name: "move items",
  writes: [false, false, true],
  code: `
struct Params { words: u32, items: u32, source: u32, target_at: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> pairs: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> given: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(${THREADS}) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let j = g.y * ${MOST_GROUPS}u + g.x;
  if (j >= p.items) { return; }
  let pair = pairs[j];
  for (var c = t; c < p.words; c += ${THREADS}u) {
    out[(p.target_at + pair.y) * p.words + c] = given[(p.source + pair.x) * p.words + c];
  }
}`,
};

/** Adds to a job: moves items (pairs of source and target, counted from the two beginnings). */
export function moveItems(
  job: Job,
  pairs: DeviceBuffer,
  items: number,
  stride: number, // bytes of an item
  source: { readonly buffer: DeviceBuffer; readonly first: number },
  target: { readonly buffer: DeviceBuffer; readonly first: number },
): Promise<void> {
  const params = [stride / 4, items, source.first, target.first];
  const buffers = [pairs, source.buffer, target.buffer];
  return job.run(MOVE, buffers, params, Math.min(items, MOST_GROUPS), Math.ceil(items / MOST_GROUPS));
}
