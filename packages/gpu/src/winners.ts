/**
 * The strongest filter of each row, found while its products are still in registers: each workgroup keeps the winner of its tile for
 * every row, and a second kernel takes the best of all tiles. No product goes to memory.
 *
 * A winner is two numbers: the product, and the filter, whose top bit says that another filter has the same product. Of equal
 * products the lowest filter wins, so the order in which winners meet does not matter.
 */

import { type DeviceBuffer, type Kernel, MOST_GROUPS } from "./device.ts";
import type { Job } from "./job.ts";
import { type Factors, type Multiply, paramsOf, STRONGER } from "./multiply.ts";

/** One thread a row. */
const BEST: Kernel = {
  name: "best of tiles",
  writes: [false, true],
  code: `${STRONGER}
struct Params { rows: u32, tiles: u32, stride: u32, first: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> partial: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> found: array<vec2<u32>>;
@compute @workgroup_size(64) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let r = (g.y * ${MOST_GROUPS}u + g.x) * 64u + t;
  if (r >= p.rows) { return; }
  var best = vec2<u32>(0u, NONE);
  for (var j = 0u; j < p.tiles; j++) { best = stronger(best, partial[j * p.stride + r]); }
  found[p.first + r] = best;
}`,
};

/** Bytes that the winners of all tiles take for one row. */
export function partialBytes({ tileFilters, parts }: Multiply, filters: number): number {
  return 8 * parts * (filters / tileFilters);
}

/** Adds to a job: the winners of a block's rows, of the first `real` filters, go to `found` from row `at` on. */
export async function addWinners(
  job: Job,
  program: Multiply,
  on: Factors,
  real: number,
  partial: DeviceBuffer,
  rows: number,
  at: number,
  found: DeviceBuffer,
): Promise<void> {
  const { winners, tileRows, tileFilters, parts } = program;
  const tiles = on.filters / tileFilters;
  await job.run(winners, [on.rows, on.weights, partial], paramsOf(on, real), tiles, on.count / tileRows);
  const groups = Math.ceil(rows / 64);
  const down = Math.ceil(groups / MOST_GROUPS);
  await job.run(BEST, [partial, found], [rows, tiles * parts, on.count, at], Math.min(groups, MOST_GROUPS), down);
}
