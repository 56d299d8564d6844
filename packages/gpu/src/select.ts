/**
 * The k strongest filters of each row, from a block of products. One workgroup a row; each turn finds the largest product behind
 * the one found before, where an equal product of a lower filter comes first, so k turns give the answer in its order.
 */

import { type DeviceBuffer, type Kernel, MOST_GROUPS } from "./device.ts";
import type { Job } from "./job.ts";

const THREADS = 64;
/** The most strongest filters of a row: each takes a pass over all its products. Presets ask for 8; the bound was not measured. */
export const MOST_STRONGEST = 64;

const SELECT: Kernel = {
  name: "select",
  writes: [false, true],
  code: `
struct Params { filters: u32, stride: u32, k: u32, rows: u32, first: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> products: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> found: array<vec2<u32>>;
var<workgroup> value: array<u32, ${THREADS}>;
var<workgroup> id: array<u32, ${THREADS}>;
@compute @workgroup_size(${THREADS}) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let r = g.y * ${MOST_GROUPS}u + g.x;
  if (r >= p.rows) { return; }
  let at = r * p.stride / 4u;
  var last = 0u;
  var last_id = 0u;
  for (var j = 0u; j < p.k; j++) {
    var best = 0u;
    var best_id = 0xffffffffu;
    for (var q = t; q * 4u < p.filters; q += ${THREADS}u) {
      let four = products[at + q];
      for (var i = 0u; i < 4u; i++) {
        let v = four[i];
        let f = q * 4u + i;
        let behind = j == 0u || v < last || (v == last && f > last_id);
        if (f < p.filters && behind && (best_id == 0xffffffffu || v > best)) { best = v; best_id = f; }
      }
    }
    value[t] = best;
    id[t] = best_id;
    workgroupBarrier();
    for (var half = ${THREADS / 2}u; half > 0u; half /= 2u) {
      if (t < half) {
        let other = id[t + half];
        let v = value[t + half];
        if (other != 0xffffffffu && (id[t] == 0xffffffffu || v > value[t] || (v == value[t] && other < id[t]))) { value[t] = v; id[t] = other; }
      }
      workgroupBarrier();
    }
    last = value[0];
    last_id = id[0];
    if (t == 0u) { found[(p.first + r) * p.k + j] = vec2<u32>(last, last_id); }
    workgroupBarrier();
  }
}`,
};

/** Adds to a job: what `rows` rows of products find goes to `found`, product and filter, from row `first` on. */
export function select(
  job: Job,
  products: DeviceBuffer,
  {
    filters,
    stride,
    k,
    rows,
    first,
  }: {
    readonly filters: number;
    readonly stride: number;
    readonly k: number;
    readonly rows: number;
    readonly first: number;
  },
  found: DeviceBuffer,
): Promise<void> {
  const across = Math.min(rows, MOST_GROUPS);
  return job.run(SELECT, [products, found], [filters, stride, k, rows, first], across, Math.ceil(rows / MOST_GROUPS));
}
