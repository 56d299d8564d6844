/**
 * One row against all places of an index: x·w as base·Σx + Σ x·(w - base), in 32-bit integers or in float64 where these
 * are exact; the second sum alone in float32 where an approximation is wanted.
 */

import {
  COLUMNS,
  MOST_ENTRIES,
  PLACE_BASE_F64S,
  PLACE_BASE_I32S,
  POSTINGS,
  ROOM,
  ROW_INDICES,
  ROW_TYPE,
  ROW_VALUES,
  TABLE,
} from "../src/backends/wasm/csr-context";
import { COLUMN } from "./sparse-index";
import { entryOf, valueAt } from "./sparse-rows";

/** Scratch beyond the scores: the columns and lists a row meets. */
export function scratchColumns(context: usize): usize {
  return (<usize>load<u32>(context, MOST_ENTRIES) + 1) * 24;
}

/**
 * 32-bit x·w of a row of whole values, from the bases and the row's sum; modulo 2^32, so right if the results fit. What a
 * row meets is looked up first, so that the many waits for memory run side by side.
 */
export function scoreWhole(context: usize, r: u32, sum: i32, scores: usize, scratch: usize): void {
  const indices = load<usize>(context, ROW_INDICES);
  const values = load<usize>(context, ROW_VALUES);
  const type = load<i32>(context, ROW_TYPE);
  const table = load<usize>(context, TABLE);
  const postings = load<usize>(context, POSTINGS);
  const columns = load<usize>(context, COLUMNS);
  const bytes = <usize>load<u32>(context, ROOM) << 2;
  const first = entryOf(context, r);
  const last = entryOf(context, r + 1);
  const others = scratch + ((last - first) << 2);
  const lists = others + ((last - first) << 3);
  let plain = scratch;
  let other = others;
  let list = lists;
  for (let e = first; e < last; e++) {
    const entry = table + (<usize>load<u32>(indices + (e << 2)) << 3);
    const count = load<u32>(entry, 4);
    if (count == 0) continue;
    const x = <i32>valueAt(values, e, type);
    if (count != COLUMN) {
      const at = postings + (<usize>load<u32>(entry) << 3);
      store<u32>(list, <u32>at);
      store<u32>(list, <u32>at + (count << 3), 4);
      store<i32>(list, x, 8);
      list += 12;
    } else if (x == 1) {
      store<u32>(plain, <u32>(columns + <usize>load<u32>(entry) * bytes));
      plain += 4;
    } else {
      store<u32>(other, <u32>(columns + <usize>load<u32>(entry) * bytes));
      store<i32>(other, x, 4);
      other += 8;
    }
  }
  startScores(scores, load<usize>(context, PLACE_BASE_I32S), sum, bytes);
  for (let next = lists; next < list; next += 12) {
    let at = load<usize>(next);
    const end = load<usize>(next, 4);
    const x = load<i32>(next, 8);
    for (; at < end; at += 8) {
      const score = scores + <usize>load<u32>(at);
      store<i32>(score, load<i32>(score) + x * load<i32>(at, 4));
    }
  }
  let next = scratch;
  for (; next + 16 <= plain; next += 16) {
    addColumns(scores, load<usize>(next), load<usize>(next, 4), load<usize>(next, 8), load<usize>(next, 12), bytes);
  }
  for (; next < plain; next += 4) addColumn(scores, load<usize>(next), 1, bytes);
  next = others;
  for (; next + 16 <= other; next += 16) {
    addTwice(scores, load<usize>(next), load<i32>(next, 4), load<usize>(next, 8), load<i32>(next, 12), bytes);
  }
  if (next < other) addColumn(scores, load<usize>(next), load<i32>(next, 4), bytes);
}

function startScores(scores: usize, bases: usize, sum: i32, bytes: usize): void {
  const sums = i32x4.splat(sum);
  for (let p: usize = 0; p < bytes; p += 16) v128.store(scores + p, i32x4.mul(v128.load(bases + p), sums));
}

function addColumns(scores: usize, a: usize, b: usize, c: usize, d: usize, bytes: usize): void {
  for (let p: usize = 0; p < bytes; p += 16) {
    const ab = i32x4.add(v128.load(a + p), v128.load(b + p));
    const cd = i32x4.add(v128.load(c + p), v128.load(d + p));
    v128.store(scores + p, i32x4.add(v128.load(scores + p), i32x4.add(ab, cd)));
  }
}

function addTwice(scores: usize, a: usize, x: i32, b: usize, y: i32, bytes: usize): void {
  const xs = i32x4.splat(x);
  const ys = i32x4.splat(y);
  for (let p: usize = 0; p < bytes; p += 16) {
    const both = i32x4.add(i32x4.mul(v128.load(a + p), xs), i32x4.mul(v128.load(b + p), ys));
    v128.store(scores + p, i32x4.add(v128.load(scores + p), both));
  }
}

function addColumn(scores: usize, a: usize, x: i32, bytes: usize): void {
  const xs = i32x4.splat(x);
  for (let p: usize = 0; p < bytes; p += 16) {
    v128.store(scores + p, i32x4.add(v128.load(scores + p), i32x4.mul(v128.load(a + p), xs)));
  }
}

/** The same as float64, for rows too large for 32 bits; exact below 2^53. */
export function scoreWide(context: usize, r: u32, sum: f64, scores: usize): void {
  const indices = load<usize>(context, ROW_INDICES);
  const values = load<usize>(context, ROW_VALUES);
  const type = load<i32>(context, ROW_TYPE);
  const table = load<usize>(context, TABLE);
  const bases = load<usize>(context, PLACE_BASE_F64S);
  const room = <usize>load<u32>(context, ROOM);
  const sums = f64x2.splat(sum);
  for (let p: usize = 0; p < room << 3; p += 16) v128.store(scores + p, f64x2.mul(v128.load(bases + p), sums));
  const last = entryOf(context, r + 1);
  for (let e = entryOf(context, r); e < last; e++) {
    const entry = table + (<usize>load<u32>(indices + (e << 2)) << 3);
    const count = load<u32>(entry, 4);
    if (count == 0) continue;
    const x = valueAt(values, e, type);
    if (count == COLUMN) {
      const at = load<usize>(context, COLUMNS) + <usize>load<u32>(entry) * (room << 2);
      const xs = f64x2.splat(x);
      for (let p: usize = 0; p < room << 2; p += 8) {
        const two = f64x2.convert_low_i32x4_s(v128.load64_zero(at + p));
        const score = scores + (p << 1);
        v128.store(score, f64x2.add(v128.load(score), f64x2.mul(two, xs)));
      }
      continue;
    }
    let at = load<usize>(context, POSTINGS) + (<usize>load<u32>(entry) << 3);
    const end = at + (<usize>count << 3);
    for (; at < end; at += 8) {
      const score = scores + (<usize>load<u32>(at) << 1);
      store<f64>(score, load<f64>(score) + x * <f64>load<i32>(at, 4));
    }
  }
}

/** Approximate scores of a row times `scale`. */
export function scoreSingle(context: usize, r: u32, scale: f64, scores: usize, scratch: usize): void {
  const indices = load<usize>(context, ROW_INDICES);
  const values = load<usize>(context, ROW_VALUES);
  const type = load<i32>(context, ROW_TYPE);
  const table = load<usize>(context, TABLE);
  const postings = load<usize>(context, POSTINGS);
  const columns = load<usize>(context, COLUMNS);
  const bytes = <usize>load<u32>(context, ROOM) << 2;
  const first = entryOf(context, r);
  const last = entryOf(context, r + 1);
  let met = scratch;
  const lists = scratch + ((last - first) << 3);
  let list = lists;
  for (let e = first; e < last; e++) {
    const entry = table + (<usize>load<u32>(indices + (e << 2)) << 3);
    const count = load<u32>(entry, 4);
    if (count == 0) continue;
    const x = <f32>(valueAt(values, e, type) * scale);
    if (count != COLUMN) {
      const at = postings + (<usize>load<u32>(entry) << 3);
      store<u32>(list, <u32>at);
      store<u32>(list, <u32>at + (count << 3), 4);
      store<f32>(list, x, 8);
      list += 12;
    } else {
      store<u32>(met, <u32>(columns + <usize>load<u32>(entry) * bytes));
      store<f32>(met, x, 4);
      met += 8;
    }
  }
  memory.fill(scores, 0, bytes);
  for (let next = lists; next < list; next += 12) {
    let at = load<usize>(next);
    const end = load<usize>(next, 4);
    const x = load<f32>(next, 8);
    for (; at < end; at += 8) {
      const score = scores + <usize>load<u32>(at);
      store<f32>(score, load<f32>(score) + x * load<f32>(at, 4));
    }
  }
  let next = scratch;
  for (; next + 32 <= met; next += 32) addFour(scores, next, bytes);
  for (; next < met; next += 8) addSingle(scores, load<usize>(next), load<f32>(next, 4), bytes);
}

function addFour(scores: usize, four: usize, bytes: usize): void {
  const a = load<usize>(four);
  const b = load<usize>(four, 8);
  const c = load<usize>(four, 16);
  const d = load<usize>(four, 24);
  const xa = v128.load32_splat(four, 4);
  const xb = v128.load32_splat(four, 12);
  const xc = v128.load32_splat(four, 20);
  const xd = v128.load32_splat(four, 28);
  for (let p: usize = 0; p < bytes; p += 16) {
    const ab = f32x4.add(f32x4.mul(v128.load(a + p), xa), f32x4.mul(v128.load(b + p), xb));
    const cd = f32x4.add(f32x4.mul(v128.load(c + p), xc), f32x4.mul(v128.load(d + p), xd));
    v128.store(scores + p, f32x4.add(v128.load(scores + p), f32x4.add(ab, cd)));
  }
}

function addSingle(scores: usize, a: usize, x: f32, bytes: usize): void {
  const xs = f32x4.splat(x);
  for (let p: usize = 0; p < bytes; p += 16) {
    v128.store(scores + p, f32x4.add(v128.load(scores + p), f32x4.mul(v128.load(a + p), xs)));
  }
}
