/** Dense rows and groups for the tests of back ends, drawn from a seed: ordinary ones, and some that are hard on bounds. */

import type { DenseRows, Groups, Values } from "../../src/kernels/shapes.ts";
import { draws, type ValueType } from "./csr-data.ts";

const TYPES = { u8: Uint8Array, u16: Uint16Array, i16: Int16Array, f32: Float32Array, f64: Float64Array };

/** Smallest and largest values drawn; the integers use the whole of their type. */
const RANGES = { u8: [0, 255], u16: [0, 65_535], i16: [-32_768, 32_767], f32: [-5, 5], f64: [-1, 1] } as const;

/**
 * What the rows look like. `noise`: nothing to find, so bounds prune nothing. `factors`: a few hidden factors, so they
 * prune nearly everything. `same`: all rows equal. `near`: rows that differ in one feature by the least step. `few`: two
 * values only, so that ties abound. `zeros`: most rows are zero.
 */
export type Look = "noise" | "factors" | "same" | "near" | "few" | "zeros";

export function denseRows(type: ValueType, rows: number, features: number, look: Look, seed: number): DenseRows {
  const draw = draws(seed);
  const [low, high] = RANGES[type];
  const whole = type !== "f32" && type !== "f64";
  const at = (share: number): number => (whole ? Math.round(low + share * (high - low)) : low + share * (high - low));
  const values = new TYPES[type](rows * features) as Values;
  const factors = Array.from({ length: 5 * features }, () => draw() - 0.5);
  const first = Array.from({ length: features }, () => at(draw()));
  for (let r = 0; r < rows; r++) {
    const own = Array.from({ length: 5 }, () => draw() - 0.5);
    const isZero = look === "zeros" && draw() < 0.8;
    for (let i = 0; i < features; i++) {
      let value = at(draw());
      if (look === "same" || look === "near") value = first[i];
      if (look === "few") value = at(draw() < 0.5 ? 0.5 : 1);
      if (look === "factors") {
        let share = 0.5 + 0.04 * (draw() - 0.5);
        for (let j = 0; j < 5; j++) share += 0.6 * own[j] * factors[j * features + i];
        value = at(Math.min(1, Math.max(0, share)));
      }
      values[r * features + i] = isZero ? 0 : value;
    }
    if (look === "near") {
      const i = r % features;
      const step = whole ? 1 : 2 ** -20;
      values[r * features + i] = first[i] >= at(0.5) ? first[i] - step : first[i] + step;
    }
  }
  return { form: "dense", rows, features, values };
}

/** Groups of one to four rows, ascending; every seventh is empty if asked. */
export function someGroups(groups: number, rows: number, seed: number, withEmpty = false, weighted = false): Groups {
  const draw = draws(seed);
  const offsets = new Uint32Array(groups + 1);
  const list: number[] = [];
  for (let g = 0; g < groups; g++) {
    const size = withEmpty && g % 7 === 6 ? 0 : 1 + Math.floor(draw() * 4);
    const picked = new Set(Array.from({ length: size }, () => Math.floor(draw() * rows)));
    list.push(...[...picked].sort((a, b) => a - b));
    offsets[g + 1] = list.length;
  }
  const groupRows = Uint32Array.from(list);
  return weighted ? { offsets, rows: groupRows, weight: Float64Array.from(list, draw) } : { offsets, rows: groupRows };
}
