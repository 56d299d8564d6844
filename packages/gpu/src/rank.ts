/**
 * Sums of groups of rows, and their ranks.
 *
 * **Exact.** A sum of bytes is a whole number; `rows.ts` asks for no more rows than keep it below 2^32 - 1, and whole numbers may be
 * added in any order. The doubled rank of a value is 2·(values below it) + (values equal to it, itself among them) + 1, which
 * is `tieWeight` of `kernels/rank.ts`; it is found by counting, n·n comparisons a filter, with no sort at all.
 */

import { type Device, type DeviceBuffer, type Kernel, MOST_GROUPS } from "./device.ts";
import type { Job } from "./job.ts";

const THREADS = 256;
/** Rows that one workgroup adds up. */
const PIECE = 64;

/** One workgroup a piece of a group; pieces of a group meet by adding atomically. */
const ADD: Kernel = {
  name: "add rows",
  writes: [false, false, false, true],
  code: `
struct Params { words: u32, pieces: u32, features: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> pieces: array<vec4<u32>>; // group, first and last entry of the list
@group(0) @binding(3) var<storage, read> list: array<u32>;
@group(0) @binding(4) var<storage, read_write> sums: array<atomic<u32>>;
@compute @workgroup_size(${THREADS}) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let j = g.y * ${MOST_GROUPS}u + g.x;
  if (j >= p.pieces) { return; }
  let piece = pieces[j];
  for (var c = t; c * 4u < p.features; c += ${THREADS}u) {
    var sum = vec4<u32>();
    for (var e = piece.y; e < piece.z; e++) {
      let word = rows[list[e] * p.words + c];
      sum += vec4<u32>(word & 255u, (word >> 8u) & 255u, (word >> 16u) & 255u, word >> 24u);
    }
    let at = piece.x * p.features + c * 4u;
    let left = p.features - c * 4u;
    atomicAdd(&sums[at], sum.x);
    if (left > 1u) { atomicAdd(&sums[at + 1u], sum.y); }
    if (left > 2u) { atomicAdd(&sums[at + 2u], sum.z); }
    if (left > 3u) { atomicAdd(&sums[at + 3u], sum.w); }
  }
}`,
};

/** One workgroup a sum; four features a thread at a time against all others, which lie in workgroup memory. */
function rankKernel(most: number): Kernel {
  const quads = Math.ceil(most / 4);
  return {
    name: `rank sums of ${most} features`,
    writes: [false, true],
    code: `
struct Params { features: u32, words: u32, sums: u32, first: u32, plane: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> sums: array<u32>;
@group(0) @binding(2) var<storage, read_write> bank: array<u32>;
var<workgroup> all: array<vec4<u32>, ${quads}>;
@compute @workgroup_size(${THREADS}) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let j = g.y * ${MOST_GROUPS}u + g.x;
  if (j >= p.sums) { return; }
  let at = j * p.features;
  let quads = (p.features + 3u) / 4u;
  for (var c = t; c < quads; c += ${THREADS}u) {
    var four = vec4<u32>(0xffffffffu); // above every sum, so that it is never counted
    for (var i = 0u; i < 4u; i++) {
      if (c * 4u + i < p.features) { four[i] = sums[at + c * 4u + i]; }
    }
    all[c] = four;
  }
  workgroupBarrier();
  for (var c = t; c < p.words; c += ${THREADS}u) {
    var rank = vec4<u32>();
    if (c < quads) {
      let own = all[c];
      rank = vec4<u32>(1u);
      for (var q = 0u; q < quads; q++) {
        let four = all[q];
        for (var i = 0u; i < 4u; i++) {
          let other = vec4<u32>(four[i]);
          rank += select(vec4<u32>(), vec4<u32>(1u), other < own) + select(vec4<u32>(), vec4<u32>(1u), other <= own);
        }
      }
      for (var i = 0u; i < 4u; i++) {
        if (c * 4u + i >= p.features) { rank[i] = 0u; }
      }
    }
    let high = rank >> vec4<u32>(8u);
    let low = rank & vec4<u32>(255u);
    let place = (p.first + j) * p.words + c;
    bank[place] = high.x | (high.y << 8u) | (high.z << 16u) | (high.w << 24u);
    bank[p.plane + place] = low.x | (low.y << 8u) | (low.z << 16u) | (low.w << 24u);
  }
}`,
  };
}

/** Features that workgroup memory may hold; the least kernel that does is taken. */
const WIDTHS = [1024, 4096, 4104];
const RANK = new Map(WIDTHS.map((most) => [most, rankKernel(most)]));

/** Whether the device can rank so many features. */
export function canRank({ limits }: Device, features: number): boolean {
  const most = WIDTHS.find((width) => features <= width);
  return most !== undefined && most * 4 <= limits.maxComputeWorkgroupStorageSize;
}

/** Groups cut into pieces: (group, first, last) of the list, four numbers each. Groups are counted from `first`. */
export function piecesOf(offsets: Uint32Array, first: number, last: number): Uint32Array<ArrayBuffer> {
  let count = 0;
  for (let g = first; g < last; g++) count += Math.ceil((offsets[g + 1] - offsets[g]) / PIECE);
  const pieces = new Uint32Array(4 * count);
  let at = 0;
  for (let g = first; g < last; g++) {
    for (let e = offsets[g]; e < offsets[g + 1]; e += PIECE, at += 4) {
      pieces[at] = g - first;
      pieces[at + 1] = e;
      pieces[at + 2] = Math.min(offsets[g + 1], e + PIECE);
    }
  }
  return pieces;
}

/** Adds to a job: the sums of pieces, on top of what is in `sums`. */
export function addRows(
  job: Job,
  rows: DeviceBuffer,
  stride: number,
  features: number,
  pieces: DeviceBuffer,
  count: number,
  list: DeviceBuffer,
  sums: DeviceBuffer,
): Promise<void> {
  const across = Math.min(count, MOST_GROUPS);
  return job.run(
    ADD,
    [rows, pieces, list, sums],
    [stride / 4, count, features],
    across,
    Math.ceil(count / MOST_GROUPS),
  );
}

/** Adds to a job: the ranks of `count` sums become the filters from `first` on. */
export function rankSums(
  job: Job,
  sums: DeviceBuffer,
  count: number,
  features: number,
  stride: number,
  bank: { readonly buffer: DeviceBuffer; readonly first: number; readonly plane: number }, // plane: bytes of a plane
): Promise<void> {
  const kernel = RANK.get(WIDTHS.find((width) => features <= width) as number) as Kernel;
  const params = [features, stride / 4, count, bank.first, bank.plane / 4];
  return job.run(kernel, [sums, bank.buffer], params, Math.min(count, MOST_GROUPS), Math.ceil(count / MOST_GROUPS));
}
