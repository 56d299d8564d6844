/**
 * The update step on sparse rows: the sum of each group's rows, ranked, as one base weight and the features that some row
 * of the group has an entry for. Sums are float64, added in the order the group lists its rows. What a group touches is
 * marked in bits, and the marks of a range of bits in bits of their own, so that a group costs what it touches, not n.
 */

import * as slot from "../../src/backends/wasm/sparse/slots";
import { rankFloat, rankScratch } from "../shared/rank";
import { weightAt } from "./dot";
import { entryOf, valueAt } from "./rows";

/** Bytes of marks: one bit a feature, and one bit for 64 of them. */
// @ts-ignore: decorator
@inline
function markBytes(bits: usize): usize {
  return ((bits + 63) >> 6) << 3;
}

/** Scratch of `rank_sums_csr`: sums, marks, the sums of touched features, and what ranking needs. */
export function scratch_sums_csr(context: usize): usize {
  const features = <usize>load<u32>(context, slot.FEATURES);
  const touched = <usize>load<u32>(context, slot.MOST_TOUCHED);
  const marks = markBytes(features);
  return (features << 3) + marks + markBytes(marks >> 3) + (touched << 3) + rankScratch(touched);
}

/** One filter for each group in [from, to). */
export function rank_sums_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const features = <usize>load<u32>(context, slot.FEATURES);
  const offsets = load<usize>(context, slot.GROUP_OFFSETS);
  const bytes = load<i32>(context, slot.WEIGHT_BYTES);
  const marks = scratch + (features << 3);
  const blocks = marks + markBytes(features);
  const touched = blocks + markBytes(markBytes(features) >> 3);
  const ranking = touched + (<usize>load<u32>(context, slot.MOST_TOUCHED) << 3);
  memory.fill(marks, 0, touched - marks);
  for (let g = from; g < to; g++) {
    const first = load<u32>(offsets + (<usize>g << 2));
    const last = load<u32>(offsets + (<usize>g << 2), 4);
    const place = <usize>load<u32>(load<usize>(context, slot.OUT_PLACES) + (<usize>g << 2));
    const indices = load<usize>(context, slot.OUT_INDICES) + (place << 2);
    let count: u32;
    if (last == first + 1) count = copyRow(context, first, indices, touched);
    else {
      for (let e = first; e < last; e++) addRow(context, e, scratch, marks, blocks);
      count = collect(scratch, marks, blocks, touched, indices);
    }
    store<u32>(load<usize>(context, slot.OUT_COUNT) + (<usize>g << 2), count);
    const weights = load<usize>(context, slot.OUT_WEIGHTS) + place * <usize>bytes;
    const base = rank(context, touched, count, ranking, weights, bytes);
    store<f64>(load<usize>(context, slot.OUT_BASE) + (<usize>g << 3), base);
  }
  return 0;
}

// @ts-ignore: decorator
@inline
function weightOf(context: usize, e: u32): f64 {
  const weight = load<usize>(context, slot.GROUP_WEIGHT);
  return weight == 0 ? 1 : load<f64>(weight + (<usize>e << 3));
}

/** A group of one row touches its entries, in their order. */
function copyRow(context: usize, e: u32, indices: usize, touched: usize): u32 {
  const r = load<u32>(load<usize>(context, slot.GROUP_ROWS) + (<usize>e << 2));
  const first = entryOf(context, r);
  const count = entryOf(context, r + 1) - first;
  const weight = weightOf(context, e);
  const values = load<usize>(context, slot.ROW_VALUES);
  const type = load<i32>(context, slot.ROW_TYPE);
  memory.copy(indices, load<usize>(context, slot.ROW_INDICES) + (first << 2), count << 2);
  for (let j: usize = 0; j < count; j++) store<f64>(touched + (j << 3), 0 + weight * valueAt(values, first + j, type));
  return <u32>count;
}

/** sums += weight · row, for entry e of GROUP_ROWS; a sum that was not marked counts as 0. */
function addRow(context: usize, e: u32, sums: usize, marks: usize, blocks: usize): void {
  const r = load<u32>(load<usize>(context, slot.GROUP_ROWS) + (<usize>e << 2));
  const weight = weightOf(context, e);
  const indices = load<usize>(context, slot.ROW_INDICES);
  const values = load<usize>(context, slot.ROW_VALUES);
  const type = load<i32>(context, slot.ROW_TYPE);
  const end = entryOf(context, r + 1);
  for (let j = entryOf(context, r); j < end; j++) {
    const i = <usize>load<u32>(indices + (j << 2));
    const x = weight * valueAt(values, j, type);
    const sum = sums + (i << 3);
    const word = marks + ((i >> 6) << 3);
    const mark = load<u64>(word);
    const bit = (<u64>1) << (<u64>i & 63);
    if (mark & bit) store<f64>(sum, load<f64>(sum) + x);
    else {
      store<f64>(sum, 0 + x);
      store<u64>(word, mark | bit);
      const block = blocks + ((i >> 12) << 3);
      store<u64>(block, load<u64>(block) | ((<u64>1) << ((<u64>i >> 6) & 63)));
    }
  }
}

/** Lists the marked features in ascending order with their sums, and removes the marks. */
function collect(sums: usize, marks: usize, blocks: usize, touched: usize, indices: usize): u32 {
  let count: usize = 0;
  for (let block = blocks, w = marks; w < blocks; block += 8, w += 512) {
    let some = load<u64>(block);
    if (some == 0) continue;
    store<u64>(block, 0);
    for (; some; some &= some - 1) {
      const word = w + (<usize>ctz(some) << 3);
      const first = (word - marks) << 3;
      let bits = load<u64>(word);
      store<u64>(word, 0);
      for (; bits; bits &= bits - 1) {
        const i = first + <usize>ctz(bits);
        store<u32>(indices + (count << 2), <u32>i);
        store<f64>(touched + (count << 3), load<f64>(sums + (i << 3)));
        count++;
      }
    }
  }
  return <u32>count;
}

/** Ranks the touched sums among n features; returns the weight of 0, which is 0 if no feature has it. */
function rank(context: usize, touched: usize, count: u32, scratch: usize, out: usize, bytes: i32): f64 {
  const features = load<u32>(context, slot.FEATURES);
  const distribution = load<usize>(context, slot.DISTRIBUTION);
  const zeros = features - count;
  if (distribution != 0 && zeros > 0 && areAllAbove(touched, count)) {
    // The zeros are the lowest: their mean comes from sums made once, and the others rank among the rest of D.
    if (count > 0) rankFloat(touched, count, 0, distribution + (<usize>zeros << 3), scratch, out, bytes);
    return load<f64>(load<usize>(context, slot.DISTRIBUTION_SUMS) + (<usize>zeros << 3)) / <f64>zeros;
  }
  if (count == 0) return rankFloat(touched, 0, zeros, distribution, scratch, out, bytes);
  const base = rankFloat(touched, count, zeros, distribution, scratch, out, bytes);
  if (zeros > 0) return base;
  for (let j: usize = 0; j < <usize>count; j++) if (load<f64>(touched + (j << 3)) == 0) return weightAt(out, j, bytes);
  return 0;
}

function areAllAbove(values: usize, count: u32): bool {
  for (let j: usize = 0; j < <usize>count; j++) if (!(load<f64>(values + (j << 3)) > 0)) return false;
  return true;
}
