/**
 * An update of refinement on sparse rows, as `src/kernels/refine.ts` defines it. Prototypes and their ranks have all features;
 * a row meets those of its entries alone. Products go to eight lanes by feature, as `src/kernels/dot.ts` has it, four
 * filters at a time.
 */

import * as slot from "../../src/backends/wasm/sparse/slots";
import * as refineSlot from "../../src/backends/wasm/shared/refine-slots";
import { HIGHEST, judge, LOWEST, placeOf, responsesBytes } from "../shared/compare";
import { rankScratch, rankTied } from "../shared/rank";
import { entryOf, valueAt } from "./rows";

/** Eight lanes of four filters. */
const LANES: usize = 256;

/** Scratch of `compare_listed_csr`: lanes and responses. */
export function scratch_compare_csr(context: usize): usize {
  return LANES + responsesBytes(context);
}

/** Compares the rows at [from, to) of BATCH_ROWS with the filters listed for them. */
export function compare_listed_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const k = load<u32>(context, refineSlot.LISTED);
  const bytes = load<i32>(context, refineSlot.RANK_BYTES);
  const responses = scratch + LANES;
  for (let j = from; j < to; j++) {
    const r = load<u32>(load<usize>(context, refineSlot.BATCH_ROWS) + (<usize>j << 2));
    const list = load<usize>(context, refineSlot.LISTS) + (placeOf(context, j) * <usize>k << 2);
    for (let q: u32 = 0; q < k; q += 4) {
      const out = responses + (<usize>q << 3);
      if (bytes == 2) respondCsr<u16>(context, r, list, q, k - 1, scratch, out);
      else if (bytes == 4) respondCsr<u32>(context, r, list, q, k - 1, scratch, out);
      else respondCsr<f64>(context, r, list, q, k - 1, scratch, out);
    }
    judge(context, j, responses);
  }
  return 0;
}

/** x·w / norm of row r and the filters q to q + 3 of a list, the last one repeated beyond its end. */
function respondCsr<T>(context: usize, r: u32, list: usize, q: u32, last: u32, lanes: usize, out: usize): void {
  const indices = load<usize>(context, slot.ROW_INDICES);
  const values = load<usize>(context, slot.ROW_VALUES);
  const type = load<i32>(context, slot.ROW_TYPE);
  const w0 = weightsOf<T>(context, list, q);
  const w1 = weightsOf<T>(context, list, min(q + 1, last));
  const w2 = weightsOf<T>(context, list, min(q + 2, last));
  const w3 = weightsOf<T>(context, list, min(q + 3, last));
  const end = entryOf(context, r + 1);
  memory.fill(lanes, 0, LANES);
  for (let e = entryOf(context, r); e < end; e++) {
    const i = <usize>load<u32>(indices + (e << 2));
    const x = f64x2.splat(valueAt(values, e, type));
    const at = i * sizeof<T>();
    const lane = lanes + ((i & 7) << 5);
    const low = f64x2.replace_lane(f64x2.splat(<f64>load<T>(w0 + at)), 1, <f64>load<T>(w1 + at));
    const high = f64x2.replace_lane(f64x2.splat(<f64>load<T>(w2 + at)), 1, <f64>load<T>(w3 + at));
    v128.store(lane, f64x2.add(v128.load(lane), f64x2.mul(x, low)));
    v128.store(lane, f64x2.add(v128.load(lane, 16), f64x2.mul(x, high)), 16);
  }
  const norm = f64x2.splat(load<f64>(context, slot.COMMON_NORM_F64));
  v128.store(out, f64x2.div(joinLanes(lanes), norm));
  v128.store(out, f64x2.div(joinLanes(lanes + 16), norm), 16);
}

/** Where the weights of filter q of a list begin. */
// @ts-ignore: decorator
@inline
function weightsOf<T>(context: usize, list: usize, q: u32): usize {
  const f = <usize>load<u32>(list + (<usize>q << 2));
  return load<usize>(context, refineSlot.RANKS) + f * <usize>load<u32>(context, slot.FEATURES) * sizeof<T>();
}

/** The sums of eight lanes of two filters. */
// @ts-ignore: decorator
@inline
function joinLanes(lanes: usize): v128 {
  const l04 = f64x2.add(v128.load(lanes), v128.load(lanes, 128));
  const l26 = f64x2.add(v128.load(lanes, 64), v128.load(lanes, 192));
  const l15 = f64x2.add(v128.load(lanes, 32), v128.load(lanes, 160));
  const l37 = f64x2.add(v128.load(lanes, 96), v128.load(lanes, 224));
  return f64x2.add(f64x2.add(l04, l26), f64x2.add(l15, l37));
}

/** Scratch of `move_prototypes_csr`: what ranking needs. */
export function scratch_move_csr(context: usize): usize {
  return rankScratch(<usize>load<u32>(context, slot.FEATURES));
}

/** Moves the prototypes [from, to) of TOUCHED by their rows and ranks those that are to be ranked. */
export function move_prototypes_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const features = load<u32>(context, slot.FEATURES);
  const offsets = load<usize>(context, refineSlot.MOVE_OFFSETS);
  const bytes = load<i32>(context, refineSlot.RANK_BYTES);
  const byFactors = load<u32>(context, refineSlot.BY_FACTORS);
  for (let t = from; t < to; t++) {
    const touched = load<u32>(load<usize>(context, refineSlot.TOUCHED) + (<usize>t << 2));
    const f = <usize>(touched >> 1);
    const prototype = load<usize>(context, refineSlot.PROTOTYPES) + f * (<usize>features << 3);
    const last = load<u32>(offsets + (<usize>t << 2), 4);
    for (let e = load<u32>(offsets + (<usize>t << 2)); e < last; e++) {
      const r = load<u32>(load<usize>(context, refineSlot.MOVE_ROWS) + (<usize>e << 2));
      const step = load<f64>(load<usize>(context, refineSlot.MOVE_STEPS) + (<usize>e << 3));
      if (byFactors) scaleRow(context, prototype, r, step);
      else addRow(context, prototype, r, step);
    }
    if (!(touched & 1)) continue;
    const out = load<usize>(context, refineSlot.RANKS) + f * <usize>features * <usize>bytes;
    rankTied(prototype, features, load<usize>(context, refineSlot.DRAWN_FROM), scratch, out, bytes);
  }
  return 0;
}

/** Adds row r, times the step, to a prototype. */
function addRow(context: usize, prototype: usize, r: u32, step: f64): void {
  const indices = load<usize>(context, slot.ROW_INDICES);
  const values = load<usize>(context, slot.ROW_VALUES);
  const type = load<i32>(context, slot.ROW_TYPE);
  const end = entryOf(context, r + 1);
  for (let e = entryOf(context, r); e < end; e++) {
    const at = prototype + (<usize>load<u32>(indices + (e << 2)) << 3);
    store<f64>(at, load<f64>(at) + step * valueAt(values, e, type));
  }
}

/** Multiplies a prototype by factors that grow with row r, or divides it by them; an entry of 0 leaves it as it is. */
function scaleRow(context: usize, prototype: usize, r: u32, step: f64): void {
  const indices = load<usize>(context, slot.ROW_INDICES);
  const values = load<usize>(context, slot.ROW_VALUES);
  const type = load<i32>(context, slot.ROW_TYPE);
  const size = abs(step);
  const end = entryOf(context, r + 1);
  for (let e = entryOf(context, r); e < end; e++) {
    const x = valueAt(values, e, type);
    if (x == 0) continue;
    const at = prototype + (<usize>load<u32>(indices + (e << 2)) << 3);
    const factor = 1 + size * x;
    const moved = step > 0 ? load<f64>(at) * factor : load<f64>(at) / factor;
    store<f64>(at, min(HIGHEST, max(LOWEST, moved)));
  }
}
