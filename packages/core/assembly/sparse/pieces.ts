/**
 * The strongest rows of some filters. Rows are cut into pieces; each piece has an answer of its own for every filter asked
 * for (a place is a filter's position among them), and the answers are joined filter by filter. So every row's scores are
 * made once, for all filters together, and pieces can be worked at the same time.
 */

import * as slot from "../../src/backends/wasm/sparse/slots";
import { clearDoubts, doubtAt, MOST_DOUBTS, noteDoubt, resolvedAt, resolveDoubts } from "./rescore";
import { addColumns, scaleOf, scoreRow, scoresOf } from "./scores";
import { allowanceOf, doubtsAt, productsWide } from "./search";
import { clearTop, LIST_LIMIT, offerNew, sortTop } from "../shared/top";

/** Factors from a scaled product to a value beyond which rounding is not what the allowance assumes. */
const SMALL: f64 = 1e-200;
const LARGE: f64 = 1e200;

// @ts-ignore: decorator
@inline
export function firstOf(context: usize, piece: u32): u32 {
  return piece * load<u32>(context, slot.PIECE_ROWS);
}

// @ts-ignore: decorator
@inline
export function lastOf(context: usize, piece: u32): u32 {
  return min(load<u32>(context, slot.ROW_COUNT), (piece + 1) * load<u32>(context, slot.PIECE_ROWS));
}

/** Position of the answer of a piece for place p. */
// @ts-ignore: decorator
@inline
function answerOf(context: usize, piece: u32, p: u32): usize {
  return (<usize>piece * <usize>load<u32>(context, slot.ASKED) + <usize>p) * <usize>load<u32>(context, slot.PIECE_K);
}

/** Empties the answers of a piece. */
export function clearPiece(context: usize, piece: u32): void {
  const at = answerOf(context, piece, 0);
  const size = load<i32>(context, slot.ASKED) * load<i32>(context, slot.PIECE_K);
  clearTop(load<usize>(context, slot.PIECE_VALUE) + (at << 3), load<usize>(context, slot.PIECE_ID) + (at << 2), size);
}

/** Offers row r to place p. */
// @ts-ignore: decorator
@inline
export function offerRow(context: usize, piece: u32, p: u32, r: u32, value: f64): void {
  const at = answerOf(context, piece, p);
  const values = load<usize>(context, slot.PIECE_VALUE) + (at << 3);
  const ids = load<usize>(context, slot.PIECE_ID) + (at << 2);
  offerNew(value, r, values, ids, load<i32>(context, slot.PIECE_K));
}

/** What a value must reach to enter the answer for place p. */
// @ts-ignore: decorator
@inline
function weakestOf(context: usize, piece: u32, p: u32): f64 {
  const k = load<u32>(context, slot.PIECE_K);
  const at = answerOf(context, piece, p) + (<i32>k <= LIST_LIMIT ? <usize>(k - 1) : 0);
  return load<f64>(load<usize>(context, slot.PIECE_VALUE) + (at << 3));
}

/** The strongest rows, for the filters of an index, within each of the pieces [from, to). Returns the products computed in full. */
export function top_rows_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const whole = load<u32>(context, slot.WHOLE);
  const places = load<u32>(context, slot.PLACES);
  let exact: u64 = 0;
  if (!whole) clearDoubts(context, scratch + doubtsAt(context));
  for (let c = from; c < to; c++) {
    clearPiece(context, c);
    const last = lastOf(context, c);
    for (let r = firstOf(context, c); r < last; r++) {
      const divisor = load<f64>(load<usize>(context, slot.DIVISOR) + (<usize>r << 3));
      if (divisor == 0) {
        for (let p: u32 = 0; p < places; p++) offerRow(context, c, p, r, 0);
      } else if (!scoreRow(context, r, scratch)) {
        const products = productsWide(context, r, scratch);
        for (let p: u32 = 0; p < places; p++) offerRow(context, c, p, r, load<f64>(products + (<usize>p << 3)) / divisor);
        exact += <u64>places;
      } else if (whole) {
        const scores = scoresOf(scratch);
        addColumns<i32>(context, scratch);
        for (let p: u32 = 0; p < places; p++) offerRow(context, c, p, r, <f64>load<i32>(scores + (<usize>p << 2)) / divisor);
        exact += <u64>places;
      } else exact += offerSingle(context, c, r, scratch, divisor);
    }
  }
  return <f64>exact;
}

/** Offers row r to the places that approximate products leave in doubt; see `search.ts`. */
function offerSingle(context: usize, piece: u32, r: u32, scratch: usize, divisor: f64): u64 {
  const places = load<u32>(context, slot.PLACES);
  const doubts = scratch + doubtsAt(context);
  const scores = scoresOf(scratch);
  addColumns<f32>(context, scratch);
  const factor = 1 / (scaleOf(scratch) * load<f64>(context, slot.SCALE_F64)) / divisor;
  const allowance = allowanceOf(context, r, scratch);
  const doubt = abs(factor) > SMALL && abs(factor) < LARGE ? allowance * abs(factor) : Infinity;
  let exact: u64 = 0;
  let noted: u32 = 0;
  for (let p: u32 = 0; p < places; p++) {
    if (doubt == Infinity || <f64>load<f32>(scores + (<usize>p << 2)) * factor + doubt >= weakestOf(context, piece, p)) {
      noteDoubt(doubts, noted++, p);
    }
    if (noted == 0 || (noted < MOST_DOUBTS && p + 1 < places)) continue;
    resolveDoubts(context, r, noted, doubts);
    for (let j: u32 = 0; j < noted; j++) offerRow(context, piece, doubtAt(doubts, j), r, resolvedAt(doubts, j) / divisor);
    exact += <u64>noted;
    noted = 0;
  }
  return exact;
}

/** Joins the answers of all pieces for the places [from, to). */
export function join_pieces_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const k = load<i32>(context, slot.K);
  const pieces = load<u32>(context, slot.PIECE_COUNT);
  const kept = <usize>load<u32>(context, slot.PIECE_K);
  for (let p = from; p < to; p++) {
    const ids = load<usize>(context, slot.OUT_ID) + (<usize>p * <usize>k << 2);
    const values = load<usize>(context, slot.OUT_VALUE) + (<usize>p * <usize>k << 3);
    clearTop(values, ids, k);
    for (let c: u32 = 0; c < pieces; c++) {
      const at = answerOf(context, c, p);
      for (let j = at; j < at + kept; j++) {
        const value = load<f64>(load<usize>(context, slot.PIECE_VALUE) + (j << 3));
        if (value != -Infinity) offerNew(value, load<u32>(load<usize>(context, slot.PIECE_ID) + (j << 2)), values, ids, k);
      }
    }
    sortTop(values, ids, k);
  }
  return 0;
}
