/**
 * The strongest rows of some filters. Rows are cut into pieces; each piece has an answer of its own for every filter asked
 * for (a place is a filter's position among them), and the answers are joined filter by filter. So every row's scores are
 * made once, for all filters together, and pieces can be worked at the same time.
 */

import {
  ASKED,
  DIVISOR,
  FIRST_ROW,
  K,
  KNOWN,
  LAST,
  OUT_ID,
  OUT_VALUE,
  PIECE_COUNT,
  PIECE_ID,
  PIECE_K,
  PIECE_ROWS,
  PIECE_VALUE,
  PLACES,
  PLACE_FILTER,
  ROW_COUNT,
  SCALE_F64,
  WHOLE,
} from "../src/backends/wasm/csr-context";
import { dotSparse } from "./sparse-dot";
import { productAt, productsSingle, productsWhole, scratchOfRow } from "./sparse-search";
import { clearTop, LIST_LIMIT, offerNew, sortTop } from "./top";

/** Factors from a scaled product to a value beyond which rounding is not what the allowance assumes. */
const SMALL: f64 = 1e-200;
const LARGE: f64 = 1e200;

// @ts-ignore: decorator
@inline
export function firstOf(context: usize, piece: u32): u32 {
  return piece * load<u32>(context, PIECE_ROWS);
}

// @ts-ignore: decorator
@inline
export function lastOf(context: usize, piece: u32): u32 {
  return min(load<u32>(context, ROW_COUNT), (piece + 1) * load<u32>(context, PIECE_ROWS));
}

/** Position of the answer of a piece for place p. */
// @ts-ignore: decorator
@inline
function answerOf(context: usize, piece: u32, p: u32): usize {
  return (<usize>piece * <usize>load<u32>(context, ASKED) + <usize>p) * <usize>load<u32>(context, PIECE_K);
}

/** Empties the answers of a piece. */
export function clearPiece(context: usize, piece: u32): void {
  const at = answerOf(context, piece, 0);
  const size = load<i32>(context, ASKED) * load<i32>(context, PIECE_K);
  clearTop(load<usize>(context, PIECE_VALUE) + (at << 3), load<usize>(context, PIECE_ID) + (at << 2), size);
}

/** Offers row r to place p. */
// @ts-ignore: decorator
@inline
export function offerRow(context: usize, piece: u32, p: u32, r: u32, value: f64): void {
  const at = answerOf(context, piece, p);
  const values = load<usize>(context, PIECE_VALUE) + (at << 3);
  const ids = load<usize>(context, PIECE_ID) + (at << 2);
  offerNew(value, load<u32>(context, FIRST_ROW) + r, values, ids, load<i32>(context, PIECE_K));
}

/** What a value must reach to enter the answer for place p. */
// @ts-ignore: decorator
@inline
function weakestOf(context: usize, piece: u32, p: u32): f64 {
  const k = load<u32>(context, PIECE_K);
  const at = answerOf(context, piece, p) + (<i32>k <= LIST_LIMIT ? k - 1 : 0);
  return load<f64>(load<usize>(context, PIECE_VALUE) + (at << 3));
}

/** The strongest rows, for the filters of an index, within each of the pieces [from, to). Returns the products computed in full. */
export function top_rows_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const whole = load<u32>(context, WHOLE);
  const places = load<u32>(context, PLACES);
  let exact: u64 = 0;
  for (let c = from; c < to; c++) {
    clearPiece(context, c);
    const last = lastOf(context, c);
    for (let r = firstOf(context, c); r < last; r++) {
      const divisor = load<f64>(load<usize>(context, DIVISOR) + (<usize>r << 3));
      if (divisor == 0) {
        for (let p: u32 = 0; p < places; p++) offerRow(context, c, p, r, 0);
      } else if (whole) {
        const narrow = productsWhole(context, r, scratch);
        for (let p: u32 = 0; p < places; p++) offerRow(context, c, p, r, productAt(scratch, <usize>p, narrow) / divisor);
        exact += <u64>places;
      } else exact += offerSingle(context, c, r, divisor, scratch);
    }
  }
  return <f64>exact;
}

/** Offers row r to the places its approximate products leave in doubt; see `sparse-search.ts` for the allowance. */
function offerSingle(context: usize, piece: u32, r: u32, divisor: f64, scratch: usize): u64 {
  const places = load<u32>(context, PLACES);
  const filters = load<usize>(context, PLACE_FILTER);
  const lanes = scratch + scratchOfRow(context);
  const allowance = productsSingle(context, r, scratch, lanes);
  const factor = 1 / (load<f64>(lanes) * load<f64>(context, SCALE_F64)) / divisor;
  const doubt = abs(factor) > SMALL && abs(factor) < LARGE ? allowance * abs(factor) : Infinity;
  let exact: u64 = 0;
  for (let p: u32 = 0; p < places; p++) {
    if (doubt != Infinity && load<f64>(scratch + (<usize>p << 3)) * factor + doubt < weakestOf(context, piece, p)) continue;
    const f = load<u32>(filters + (<usize>p << 2));
    offerRow(context, piece, p, r, dotSparse(context, r, f, lanes) / divisor);
    exact++;
  }
  return exact;
}

/** Joins the answers of all pieces for the places [from, to). */
export function join_pieces_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const k = load<i32>(context, K);
  const pieces = load<u32>(context, PIECE_COUNT);
  const kept = <usize>load<u32>(context, PIECE_K);
  for (let p = from; p < to; p++) {
    const ids = load<usize>(context, OUT_ID) + (<usize>p * <usize>k << 2);
    const values = load<usize>(context, OUT_VALUE) + (<usize>p * <usize>k << 3);
    if (!load<u32>(context, KNOWN)) clearTop(values, ids, k);
    for (let c: u32 = 0; c < pieces; c++) {
      const at = answerOf(context, c, p);
      for (let j = at; j < at + kept; j++) {
        const value = load<f64>(load<usize>(context, PIECE_VALUE) + (j << 3));
        if (value != -Infinity) offerNew(value, load<u32>(load<usize>(context, PIECE_ID) + (j << 2)), values, ids, k);
      }
    }
    if (load<u32>(context, LAST)) sortTop(values, ids, k);
  }
  return 0;
}
