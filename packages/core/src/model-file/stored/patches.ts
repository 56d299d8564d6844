/** Patch filters as stored arrays and back. Reading trusts nothing: what no training gives is refused. */

import { type ByteScale, checkWindows } from "../../beyond/patches/windows.ts";
import { RanksimError } from "../../errors.ts";
import { LARGEST_SUM, type WindowChoice, windowFeatures, windowsOf } from "../../kernels/patches.ts";
import { commonNorm } from "../../kernels/rank.ts";
import type { DenseBank, PatchLayer } from "../../kernels/shapes.ts";
import type { ImageShape } from "../../matrix/image-shape.ts";
import type { Json, Saved, SavedArray } from "../saved.ts";
import { array, bad, count, readParams } from "./arrays.ts";
import { NUMBER, record } from "./record.ts";

/** Windows of at most this many values have ranks that fit in a byte. */
const BYTE_VALUES = 127;

/** Values of the largest image. */
const MOST_IMAGE = 2 ** 28;

const nameOf = (layer: number): string => `filters_${layer}`;

/** The ranks of each layer, m x n. */
export function patchArrays(layers: readonly PatchLayer[]): { [name: string]: SavedArray } {
  const arrays: { [name: string]: SavedArray } = {};
  for (const [j, { bank }] of layers.entries()) {
    const values = bank.features <= BYTE_VALUES ? Uint8Array.from(bank.weights) : Uint16Array.from(bank.weights);
    arrays[nameOf(j)] = { shape: [bank.filters, bank.features], values };
  }
  return arrays;
}

/** The layers that stored arrays make for images of a size; `choicesOf` checks the stored parameters. */
export function readLayers(
  saved: Saved,
  shape: ImageShape,
  choicesOf: (params: { readonly [name: string]: Json }) => {
    readonly choices: readonly WindowChoice[];
    readonly bytes: boolean;
  },
): PatchLayer[] {
  try {
    const { choices, bytes } = choicesOf(readParams(saved));
    const limits = readLimits(saved, bytes ? choices.length : 0);
    return choices.map((choice, j) => {
      const windows = windowsOf(shape, choice, limits[j]);
      checkWindows(windows);
      return { windows, bank: readRanks(saved, j, windowFeatures(windows)) };
    });
  } catch (cause) {
    throw cause instanceof RanksimError && cause.code === "bad-file" ? cause : bad(saved, (cause as Error).message);
  }
}

/** The stored limits of so many layers, 0 where pooled values are the sums. */
function readLimits(saved: Saved, layers: number): number[] {
  const { limits } = saved.meta;
  if (layers === 0) {
    if (limits !== undefined) throw bad(saved, "limits: expected none, since parameter bytes is not set");
    return [];
  }
  const isLimit = (value: Json): value is number =>
    Number.isInteger(value) && 1 <= Number(value) && Number(value) <= LARGEST_SUM;
  if (!Array.isArray(limits) || limits.length !== layers || !limits.every(isLimit)) {
    const found = limits === undefined ? "none" : JSON.stringify(limits).slice(0, 80);
    throw bad(
      saved,
      `limits: expected ${layers} whole numbers from 1 to ${LARGEST_SUM}, one for each layer, found ${found}`,
    );
  }
  return limits;
}

/** The stored size of images. */
export function readShape(saved: Saved): ImageShape {
  const shape = { width: count(saved, "width"), height: count(saved, "height"), channels: count(saved, "channels") };
  const values = shape.width * shape.height * shape.channels;
  if (!(values >= 1 && values <= MOST_IMAGE)) throw bad(saved, `expected images of 1 to ${MOST_IMAGE} values`);
  return shape;
}

function readRanks(saved: Saved, layer: number, features: number): DenseBank {
  const name = nameOf(layer);
  const Type = features <= BYTE_VALUES ? Uint8Array : Uint16Array;
  const { shape, values } = array<Uint8Array | Uint16Array>(saved, name, [Type], [undefined, features]);
  if (shape[0] === 0) throw bad(saved, `${name}: expected at least 1 filter, found none`);
  const norm = commonNorm(features, undefined);
  for (let f = 0; f < shape[0]; f++) {
    let sum = 0;
    for (let i = f * features; i < (f + 1) * features; i++) {
      if (values[i] < 2 || values[i] > 2 * features) throw bad(saved, `${name}: filter ${f}: expected doubled ranks`);
      sum += values[i];
    }
    if (sum !== norm) throw bad(saved, `${name}: filter ${f}: expected ranks that add up to ${norm}, found ${sum}`);
  }
  const weights = Uint16Array.from(values);
  return { form: "dense", filters: shape[0], features, weights, norm: new Float64Array(shape[0]).fill(norm) };
}

const SCALE = record({ low: NUMBER, high: NUMBER });

/** How values become bytes, if that is stored. */
export function readScale(saved: Saved): ByteScale | undefined {
  const { scale } = saved.meta;
  if (scale === null) return undefined;
  const wrong = SCALE(scale, "scale");
  if (wrong !== undefined) throw bad(saved, wrong);
  const { low, high } = scale as unknown as ByteScale;
  if (low > high) throw bad(saved, `scale: expected low up to high, found ${low} and ${high}`);
  return { low, high };
}
