/** Filters as float32, for products that propose candidates (`candidates.ts`). */

import type { DenseBank, FilterBank } from "../../kernels/shapes.ts";
import { expandFilter } from "../../kernels/top.ts";
import { type Device, type Kernel, MOST_GROUPS, type Room } from "./device.ts";
import { padded, strideOf } from "./layout.ts";
import { MOST_WEIGHT } from "./respond.ts";

/** Filters in columns are written with a stride; beyond so many weights that takes longer than the host's search. */
const MOST_COLUMNS = 2 ** 26;
/** Scales that float64 divides by without a loss. */
const LEAST_SCALE = 2 ** -200;
const MOST_SCALE = 2 ** 200;

/** Filters on the device; `columns`: those of a feature lie side by side. */
export interface FloatFilters {
  readonly room: Room;
  readonly columns: boolean;
  /** Filters with those that are padding. */
  readonly filters: number;
  /** Where weights are whole numbers of one norm: each is what the device has, times two to this power. */
  readonly power: number | undefined;
}

/** Bytes of filters as they lie on the device. */
export function floatBytes({ filters, features }: FilterBank, columns: boolean): number {
  return padded(filters) * (columns ? 4 * features : strideOf(4 * features));
}

/** One workgroup a filter: its weights of two bytes to their places, as float32. */
const WIDEN: Kernel = {
  name: "widen weights",
  writes: [false, true],
  code: `
struct Params { features: u32, filters: u32, of_filter: u32, of_feature: u32, scale: f32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> packed: array<u32>;
@group(0) @binding(2) var<storage, read_write> wide: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let f = g.y * ${MOST_GROUPS}u + g.x;
  if (f >= p.filters) { return; }
  for (var i = t; i < p.features; i += 64u) {
    let e = f * p.features + i;
    wide[f * p.of_filter + i * p.of_feature] = f32((packed[e / 2u] >> ((e % 2u) * 16u)) & 65535u) * p.scale;
  }
}`,
};

/** Brings filters to the device; undefined where they cannot be had as float32. The caller frees them. */
export async function bringFloats(
  device: Device,
  bank: FilterBank,
  columns: boolean,
): Promise<FloatFilters | undefined> {
  const bytes = floatBytes(bank, columns);
  if (bank.filters === 0 || bytes > device.mostBytes) return undefined;
  const ranks = rankPower(bank);
  const made = ranks === undefined ? floatWeights(bank, columns) : { weights: undefined, power: ranks };
  if (!made) return undefined;
  const room = device.room(bytes);
  try {
    if (made.weights) device.write(room, 0, made.weights);
    else await widen(device, bank as DenseBank, columns, made.power as number, room);
  } catch (error) {
    room.free();
    throw error;
  }
  return { room, columns, filters: padded(bank.filters), power: made.power };
}

/** The power of two above all weights of a dense bank of two bytes each and one norm: the host need not look at them otherwise. */
function rankPower({ form, weights, norm }: FilterBank): number | undefined {
  if (form !== "dense" || !(weights instanceof Uint16Array)) return undefined;
  if (!(norm[0] > 0) || norm.some((each) => each !== norm[0])) return undefined;
  let most = 0;
  for (let e = 0; e < weights.length; e++) if (weights[e] > most) most = weights[e];
  const power = 32 - Math.clz32(most);
  const scale = 2 ** power / norm[0];
  return most > 0 && scale > LEAST_SCALE && scale < MOST_SCALE ? power : undefined;
}

async function widen(device: Device, bank: DenseBank, columns: boolean, power: number, room: Room): Promise<void> {
  const { filters, features } = bank;
  await device.borrowing(async (borrow) => {
    const packed = borrow(bank.weights.byteLength + 4);
    const job = device.job();
    job.bring(packed, bank.weights);
    job.clear(room); // padding
    const places = columns ? [1, padded(filters)] : [strideOf(4 * features) / 4, 1];
    const scale = (127 - power) * 2 ** 23; // the bits of 2^-power, as float32
    const params = [features, filters, ...places, scale];
    await job.run(WIDEN, [packed, room], params, Math.min(filters, MOST_GROUPS), Math.ceil(filters / MOST_GROUPS));
    job.send();
  });
}

/**
 * The weights, each divided by the norm of its filter and by the largest quotient of all, or a little more, so that none exceeds 1: a filter
 * in a row, or a feature if they are wanted in columns. Whole weights of one norm are divided by a power of two, which loses
 * nothing. Undefined where it cannot be done: norms that are not positive, weights that are all zero, too many columns.
 */
export function floatWeights(
  bank: FilterBank,
  columns: boolean,
): { readonly weights: Float32Array; readonly power: number | undefined } | undefined {
  const { filters, features, norm } = bank;
  if (columns && filters * features > MOST_COLUMNS) return undefined;
  const { scale, most, isWhole } = measure(bank);
  if (!(scale > LEAST_SCALE && scale < MOST_SCALE)) return undefined;
  const power = isWhole && most < MOST_WEIGHT ? 32 - Math.clz32(most) : undefined;
  const weights = new Float32Array(floatBytes(bank, columns) / 4);
  const [ofFilter, ofFeature] = columns ? [1, padded(filters)] : [strideOf(4 * features) / 4, 1];
  const w = new Float64Array(features);
  for (let f = 0; f < filters; f++) {
    expandFilter(bank, f, w);
    const by = power === undefined ? norm[f] * scale : 2 ** power;
    for (let i = 0; i < features; i++) weights[f * ofFilter + i * ofFeature] = w[i] / by;
  }
  return { weights, power };
}

/** The largest |weight| / norm (NaN where a norm is not positive), the largest |weight|, and whether all are whole numbers from 0 of one norm. */
function measure(bank: FilterBank): { readonly scale: number; readonly most: number; readonly isWhole: boolean } {
  let scale = 0;
  let most = 0;
  let isWhole = true;
  const w = new Float64Array(bank.features);
  for (let f = 0; f < bank.filters; f++) {
    if (!(bank.norm[f] > 0)) return { scale: Number.NaN, most, isWhole };
    expandFilter(bank, f, w);
    let largest = 0;
    for (let i = 0; i < w.length; i++) {
      largest = Math.max(largest, Math.abs(w[i]));
      isWhole &&= w[i] >= 0 && w[i] === Math.floor(w[i]);
    }
    isWhole &&= bank.norm[f] === bank.norm[0];
    most = Math.max(most, largest);
    scale = Math.max(scale, largest / bank.norm[f]);
  }
  return { scale, most, isWhole };
}
