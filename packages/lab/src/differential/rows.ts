/** Awkward rows: every element type, ties, zeros, negative and far apart values, rows that repeat, and blends that bounds prune. */

import { Csr, Dense, type Matrix, toCsr, type Values } from "@ranksim/core";
import type { Draw } from "./draw.ts";

export const TYPES = ["u8", "u16", "i16", "f32", "f64"] as const;
export type TypeName = (typeof TYPES)[number];

const ARRAYS = { u8: Uint8Array, u16: Uint16Array, i16: Int16Array, f32: Float32Array, f64: Float64Array } as const;

/** What the numbers are like. */
export const STYLES = ["spread", "few values", "mostly zero", "constant rows", "blends", "far apart"] as const;
export type Style = (typeof STYLES)[number];

/** How rows are drawn. */
export interface RowPlan {
  readonly rows: number;
  readonly features: number;
  readonly type: TypeName;
  readonly form: "dense" | "csr";
  readonly style: Style;
  /** Share of rows that are all zero, and of rows that repeat the one before. */
  readonly zeroRows: number;
  readonly repeated: number;
}

/** Very wide rows are drawn entry by entry. */
const WIDE = 4096;
const WIDE_ENTRIES = 12;
const PATTERNS = 6;
/** Written out, because versions of V8 round powers differently and all must draw the same numbers. */
const SCALES = [1e-12, 1e-9, 1e-6, 1e-3, 1, 1e3, 1e6, 1e9, 1e12];

/** Draws the matrix. */
export function drawRows(plan: RowPlan, draw: Draw): Matrix {
  if (plan.features > WIDE) return drawWide(plan, draw);
  const { rows, features, type, form, style } = plan;
  const values: Values = new ARRAYS[type](rows * features);
  const patterns =
    style === "blends" ? Float64Array.from({ length: PATTERNS * features }, () => draw.share()) : undefined;
  for (let r = 0; r < rows; r++) {
    const row = values.subarray(r * features, (r + 1) * features);
    if (draw.chance(plan.zeroRows)) continue;
    if (r > 0 && draw.chance(plan.repeated)) row.set(values.subarray((r - 1) * features, r * features));
    else if (patterns) blend(row, patterns, type, draw);
    else fillRow(row, type, style, draw);
  }
  const x = Dense.of(values, rows, features);
  return form === "dense" ? x : toCsr(x);
}

function fillRow(row: Values, type: TypeName, style: Style, draw: Draw): void {
  const constant = oneValue(type, style, draw);
  for (let i = 0; i < row.length; i++) {
    if (style === "mostly zero" && draw.chance(0.85)) continue;
    row[i] = style === "constant rows" && draw.chance(0.9) ? constant : oneValue(type, style, draw);
  }
}

function oneValue(type: TypeName, style: Style, draw: Draw): number {
  if (style === "few values") {
    const whole = draw.below(4);
    return type === "u8" || type === "u16" ? whole : type === "i16" ? whole - 2 : (whole - 2) / 4;
  }
  switch (type) {
    case "u8":
      return draw.below(256);
    case "u16":
      return draw.below(style === "far apart" ? 65_536 : 3000);
    case "i16":
      return draw.below(65_536) - 32_768;
    default:
      return (draw.share() - 0.3) * (style === "far apart" ? draw.pick(SCALES) : 10);
  }
}

/** A blend of patterns with some noise: rows of low rank, as measured ones are. */
function blend(row: Values, patterns: Float64Array, type: TypeName, draw: Draw): void {
  const shares = Array.from({ length: PATTERNS }, () => draw.share() * 36);
  const isWhole = type === "u8" || type === "u16" || type === "i16";
  for (let i = 0; i < row.length; i++) {
    let sum = 3 * draw.share();
    for (let p = 0; p < PATTERNS; p++) sum += shares[p] * patterns[p * row.length + i];
    row[i] = isWhole ? Math.floor(sum) : sum;
  }
}

function drawWide({ rows, features, type, zeroRows, style }: RowPlan, draw: Draw): Matrix {
  const lists = Array.from({ length: rows }, () => {
    if (draw.chance(zeroRows)) return [];
    const at = new Set(Array.from({ length: WIDE_ENTRIES }, () => draw.below(features)));
    return [...at].sort((a, b) => a - b).map((feature) => [feature, oneValue(type, style, draw)] as const);
  });
  const entries = lists.flat();
  const offsets = new Uint32Array(rows + 1);
  for (const [r, list] of lists.entries()) offsets[r + 1] = offsets[r] + list.length;
  const indices = Uint32Array.from(entries, ([feature]) => feature);
  const values: Values = new ARRAYS[type](entries.length);
  for (const [e, [, value]] of entries.entries()) values[e] = value;
  return Csr.of(offsets, indices, values, features);
}
