/**
 * The patch stage as operators: what `kernels/patches.ts` of core defines. Windows are gathered from the row, so that a window is
 * a row of its own; responses, similarities and sums are whole numbers throughout.
 */

import type { PatchModel } from "@ranksim/core";
import { byteFactor, HALF, UNIT } from "../pooled-bytes.ts";
import { bytesOf, type Graph, type Value } from "./graph.ts";
import { byteProducts, type RowType } from "./responses.ts";

/** Similarity of the strongest filter of a window. */
const LARGEST = 255;

/** The type that rows of images have where nothing else is asked for; only bytes where the model was trained on bytes. */
export const imageRowType = ({ scale }: PatchModel): RowType => (scale ? "float64" : "uint8");

/** Rows as bytes: as they are, or spread over 0 to 255 as training values were. */
export function imageBytes(g: Graph, rows: Value, { scale }: PatchModel, rowType: RowType): Value {
  if (!scale) return rows;
  const wide = rowType === "float64" ? rows : g.cast(rows, "double");
  const range = scale.high - scale.low;
  const share = g.op("Div", [g.op("Sub", [wide, g.doubles([scale.low])]), g.doubles([range > 0 ? range : 1])]);
  const [zero, one] = [g.doubles([0]), g.doubles([range > 0 ? 1 : 0])];
  const inside = g.op("Min", [g.op("Max", [share, zero]), one]);
  const spread = g.op("Add", [g.op("Mul", [inside, g.doubles([LARGEST])]), g.doubles([0.5])]);
  return g.cast(g.op("Floor", [spread]), "uint8");
}

/** The type of pooled similarities: bytes where the layers have limits, which all of them have or none. */
export const pooledType = ({ layers }: PatchModel): RowType => (layers[0].windows.limit > 0 ? "uint8" : "float64");

/** Pooled similarities of images (rows of bytes), all layers side by side. */
export function pooled(g: Graph, bytes: Value, model: PatchModel): Value {
  const parts = model.layers.map((layer) => pooledLayer(g, bytes, layer));
  const all = parts.length === 1 ? parts[0] : g.op("Concat", parts, { axis: 1 });
  return g.cast(all, pooledType(model) === "uint8" ? "uint8" : "double");
}

type Layer = PatchModel["layers"][number];

function pooledLayer(g: Graph, bytes: Value, { bank, windows }: Layer): Value {
  const m = bank.filters;
  const { across, down, nBest, shift, limit, cellsAcross, cellsDown } = windows;
  const count = across * down;
  const cells = cellsAcross * cellsDown;
  const places = g.integers(windowPlaces(windows), [count, bank.features]);
  // rows x windows x filters.
  const responses = byteProducts(g, g.op("Gather", [bytes, places], { axis: 1 }), bank);
  const k = Math.min(nBest, m);
  const [strongest] = g.ops("TopK", [responses, g.list(k)], 2, { axis: 2 });
  const at = (place: number) => g.cast(g.op("Gather", [strongest, g.list(place)], { axis: 2 }), "int64");
  const kth = at(k - 1);
  const distance = g.op("Sub", [at(0), kth]);
  // Where all are equal nothing is above the k-th, and the divisor only must not be 0.
  const divisor = g.op("Max", [distance, g.integers([1])]);
  const above = g.op("Max", [g.op("Sub", [g.cast(responses, "int64"), kth]), g.integers([0])]);
  const half = g.op("Div", [distance, g.integers([2])]);
  const scaled = g.op("Add", [g.op("Mul", [above, g.integers([LARGEST])]), half]);
  const similarity = g.cast(g.op("Div", [scaled, divisor]), "double");
  // A window counts in the cell it begins in: cells x windows times windows x filters.
  const table = g.cast(g.tensor("uint8", cellTable(windows), [cells, count]), "double");
  const sums = g.cast(g.op("MatMul", [table, similarity]), "int64");
  const kept = shift === 0 ? sums : g.op("Div", [sums, g.integers([2 ** shift])]);
  return g.op("Reshape", [limit === 0 ? kept : sumBytes(g, kept, limit), g.list(-1, cells * m)]);
}

/** Sums as bytes: 255 from the limit on, smaller ones in proportion. In int64, like the sums. */
function sumBytes(g: Graph, sums: Value, limit: number): Value {
  const scaled = g.op("Mul", [g.op("Min", [sums, g.integers([limit])]), g.integers([byteFactor(limit)])]);
  return g.op("Div", [g.op("Add", [scaled, g.integers([HALF])]), g.integers([UNIT])]);
}

/** For each window the places of its values in a row, in the order in which filters have them. */
function windowPlaces({ width, channels, patchWidth, patchHeight, stride, across, down }: Layer["windows"]): number[] {
  const places: number[] = [];
  for (let y = 0; y < down; y++) {
    for (let x = 0; x < across; x++) {
      for (let j = 0; j < patchHeight; j++) {
        const from = ((y * stride + j) * width + x * stride) * channels;
        for (let i = 0; i < patchWidth * channels; i++) places.push(from + i);
      }
    }
  }
  return places;
}

/** cells x windows: 1 where the window begins in the cell. */
function cellTable({ across, down, cellsAcross, cellsDown }: Layer["windows"]): Uint8Array {
  const table = new Uint8Array(cellsAcross * cellsDown * across * down);
  for (let y = 0; y < down; y++) {
    for (let x = 0; x < across; x++) {
      const cell = Math.floor((y * cellsDown) / down) * cellsAcross + Math.floor((x * cellsAcross) / across);
      table[cell * across * down + y * across + x] = 1;
    }
  }
  return bytesOf(table);
}
