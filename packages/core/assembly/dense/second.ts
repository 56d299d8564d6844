/**
 * The second bound (`bound.ts`) of listed places: the first bound, of which the upper half is known, and one cache line a
 * filter more.
 */

import { SECOND_BYTES } from "../../src/backends/wasm/dense/sizes";
import { dotLine } from "./dot";

/** What the lower half of a first bound, which is not kept, may add to a second. */
export const DROPPED: f64 = 65535;

/**
 * Second bounds of the candidates, less what the first bounds dropped, and the same without ρ: what their products are likely
 * to be. Two at a time: the engine loads all that a turn needs before it multiplies, and more would not fit its registers.
 */
export function listSecond(
  vector: usize,
  seconds: usize, // in: SECOND_BYTES per place
  bounds: usize, // in: the upper halves of the first bounds of all places
  candidates: usize, // in: u16 places
  count: i32,
  levels: usize, // out: i32
  estimates: usize, // out: i32
): void {
  const v0 = v128.load(vector);
  const v1 = v128.load(vector, 16);
  const v2 = v128.load(vector, 32);
  const v3 = v128.load(vector, 48);
  const rho = i32x4.splat(<i32>load<i16>(vector, SECOND_BYTES - 2));
  const end = candidates + (<usize>count << 1);
  do {
    const p0 = <usize>load<u16>(candidates);
    const p1 = <usize>load<u16>(candidates, 2);
    const f0 = seconds + p0 * SECOND_BYTES;
    const f1 = seconds + p1 * SECOND_BYTES;
    const first = v128.load16_lane(bounds + (p1 << 1), v128.load16_lane(bounds + (p0 << 1), i16x8.splat(0), 1), 3);
    const rhos = v128.load16_lane(f1, v128.load16_lane(f0, i16x8.splat(0), 0, SECOND_BYTES - 2), 2, SECOND_BYTES - 2);
    const sums = i32x4.add(first, join(dotLine(v0, v1, v2, v3, f0), dotLine(v0, v1, v2, v3, f1)));
    v128.store64_lane(levels, sums, 0);
    v128.store64_lane(estimates, i32x4.sub(sums, i32x4.mul(rhos, rho)), 0);
    candidates += 4;
    levels += 8;
    estimates += 8;
  } while (candidates < end);
}

/** Two vectors of four partial sums become two sums, in the first two lanes. */
// @ts-ignore: decorator
@inline
function join(a0: v128, a1: v128): v128 {
  const halves = i32x4.add(v128.shuffle<i32>(a0, a1, 0, 4, 1, 5), v128.shuffle<i32>(a0, a1, 2, 6, 3, 7));
  return i32x4.add(halves, v128.shuffle<i32>(halves, halves, 2, 3, 0, 1));
}

/** The filter at the place that is listed at `candidate`. */
// @ts-ignore: decorator
@inline
export function filterAt(order: usize, candidate: usize): usize {
  return <usize>load<u32>(order + (<usize>load<u16>(candidate) << 2));
}
