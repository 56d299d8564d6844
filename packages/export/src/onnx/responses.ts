/**
 * From rows to responses, exactly. Float32 products would round whole numbers beyond 2^24, so there are two ways: bytes times
 * the low and the high byte of each weight in int32, or float64.
 */

import type { FilterBank } from "@ranksim/core";
import { denseWeights, isRanked, type Scaling } from "../parts.ts";
import { bytesOf, type Graph, type Value } from "./graph.ts";

/** Element types that rows may have. */
export type RowType = "uint8" | "float32" | "float64";

/** With more features doubled ranks leave two bytes; up to here 255² · n, the largest sum of one of them, stays in int32. */
const MOST_BYTE_FEATURES = 32_767;
/** With more features 255 · n(n + 1), the largest response of bytes, leaves int32. */
const MOST_WHOLE_FEATURES = 2901;

/** Whether bytes times each byte of the weights can be added up in int32. */
export function fitsBytes(bank: FilterBank): boolean {
  return isRanked(bank) && bank.features <= MOST_BYTE_FEATURES;
}

/** Rows scaled as in a pipeline, in float64. */
export function scaled(g: Graph, rows: Value, { shift, scale }: Scaling): Value {
  const side = [scale.length];
  const divisor = g.doubles(
    scale.map((value) => value || 1),
    side,
  );
  const found = g.op("Div", [g.op("Sub", [rows, g.doubles(shift, side)]), divisor]);
  if (scale.every((value) => value !== 0)) return found;
  const carries = g.truths(
    Array.from(scale, (value) => value !== 0),
    side,
  );
  return g.op("Where", [carries, found, g.doubles([0])]);
}

/** Responses of bytes, rows x filters, in float64. */
export function byteResponses(g: Graph, rows: Value, bank: FilterBank): Value {
  if (bank.features <= MOST_WHOLE_FEATURES) return normalized(g, g.cast(byteProducts(g, rows, bank), "double"), bank);
  const [low, high] = sumsByByte(g, rows, bank).map((sums) => g.cast(sums, "double"));
  return normalized(g, g.op("Add", [low, g.op("Mul", [high, g.doubles([256])])]), bank);
}

/** x·w of rows of bytes (any number of sides, the last one features; 2,901 at most), in int32. */
export function byteProducts(g: Graph, rows: Value, bank: FilterBank): Value {
  const [low, high] = sumsByByte(g, rows, bank);
  if (high === undefined) return low;
  return g.op("Add", [low, g.op("Mul", [high, g.tensor("int32", bytesOf(Int32Array.of(256)), [])])]);
}

/** Sums over the low and, where one is not 0, the high bytes of weights. */
function sumsByByte(g: Graph, rows: Value, bank: FilterBank): Value[] {
  const { filters, features } = bank;
  const weights = denseWeights(bank);
  // Features x filters, as the product takes them.
  const low = new Uint8Array(weights.length);
  const high = new Uint8Array(weights.length);
  for (let f = 0; f < filters; f++) {
    for (let i = 0; i < features; i++) {
      const weight = weights[f * features + i];
      low[i * filters + f] = weight & 255;
      high[i * filters + f] = weight >> 8;
    }
  }
  const parts = high.every((byte) => byte === 0) ? [low] : [low, high];
  return parts.map((part) => g.op("MatMulInteger", [rows, g.tensor("uint8", part, [features, filters])]));
}

/** Responses of float64 rows, rows x filters. Exact for whole numbers; else the order of additions is the reader's. */
export function doubleResponses(g: Graph, rows: Value, bank: FilterBank): Value {
  const { filters, features } = bank;
  const weights = denseWeights(bank);
  const turned = new (weights.constructor as new (length: number) => typeof weights)(weights.length);
  for (let f = 0; f < filters; f++) {
    for (let i = 0; i < features; i++) turned[i * filters + f] = weights[f * features + i];
  }
  const type = turned instanceof Uint16Array ? "uint16" : turned instanceof Uint32Array ? "uint32" : "double";
  const stored = g.tensor(type, bytesOf(turned), [features, filters]);
  // Whole weights are stored as such and widened by the reader: a quarter of the bytes.
  return normalized(g, g.op("MatMul", [rows, type === "double" ? stored : g.cast(stored, "double")]), bank);
}

function normalized(g: Graph, sums: Value, { norm, filters }: FilterBank): Value {
  const equal = norm.every((value) => value === norm[0]);
  return g.op("Div", [sums, equal ? g.doubles([norm[0]]) : g.doubles(norm, [1, filters])]);
}
