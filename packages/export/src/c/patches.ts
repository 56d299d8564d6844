/** The patch stage in C: windows of the image against small filters, the strongest of each window, added up by cells. Whole numbers. */

import { type PatchModel, RanksimError } from "@ranksim/core";
import { type CType, table, UINT8, UINT16, UINT32, UINT64 } from "./types.ts";

type Layer = PatchModel["layers"][number];

/** Similarity of the strongest filter of a window. */
const LARGEST = 255;
/** Largest pooled sum, by the definition of the stage. */
export const LARGEST_POOLED = 2 ** 15 - 1;

/** The stage as text, and what it takes. */
export interface CPatches {
  readonly text: string;
  /** Names of its tables. */
  readonly tables: readonly string[];
  readonly flashBytes: number;
  readonly ramBytes: number;
  /** What pooled sums are held in. */
  readonly pooled: CType;
  /** Pooled sums of an image. */
  readonly features: number;
}

/** The stage with `NAME_pool(const uint8_t *row, POOLED *pooled)`. */
export function patchStage(name: string, { layers, scale, pooledFeatures: features }: PatchModel): CPatches {
  if (scale) {
    throw new RanksimError("unsupported", "c: expected a model trained on images of bytes, found one of other numbers");
  }
  // Sums that are to be halved do not fit before they are.
  const pooled = layers.every(({ windows }) => windows.shift === 0) ? UINT16 : UINT32;
  const parts = layers.map((layer, j) => layerText(`${name}_pool_${j}`, layer, pooled));
  let at = 0;
  const calls = layers.map(({ bank, windows }, j) => {
    const call = `  ${name}_pool_${j}(row, pooled + ${at});`;
    at += windows.cellsAcross * windows.cellsDown * bank.filters;
    return call;
  });
  const text = `${parts.map((part) => part.text).join("\n")}
static inline void ${name}_pool(const uint8_t *row, ${pooled.type} *pooled) {
${calls.join("\n")}
}
`;
  const flashBytes = parts.reduce((sum, part) => sum + part.flashBytes, 0);
  const most = parts.reduce((bytes, part) => Math.max(bytes, part.ramBytes), 0);
  const tables = layers.map((_, j) => `${name}_pool_${j}_weights`);
  return { text, tables, flashBytes, ramBytes: features * pooled.bytes + most, pooled, features };
}

function layerText(name: string, { bank, windows }: Layer, pooled: CType) {
  const { filters: m, features: n, weights } = bank;
  const { width, channels, patchWidth, patchHeight, stride, across, down, cellsAcross, cellsDown, shift } = windows;
  const k = Math.min(windows.nBest, m);
  const weight = 2 * n <= 255 ? UINT8 : UINT16;
  // 255 times the largest response, and a half.
  const wide = (LARGEST + 1) * LARGEST * n * (n + 1) < 2 ** 32 ? UINT32 : UINT64;
  const line = patchWidth * channels;
  const text = `${table(`${name}_weights`, weight, weights)}
/* ${m} filters on windows of ${patchWidth} x ${patchHeight} values${channels > 1 ? ` of ${channels} channels` : ""}; the ${k} strongest count. */
static inline void ${name}(const uint8_t *image, ${pooled.type} *pooled) {
  uint32_t responses[${m}], best[${k}];
  uint32_t x, y, f, i, j, k;
  for (i = 0; i < ${cellsAcross * cellsDown * m}; i++) pooled[i] = 0;
  for (y = 0; y < ${down}; y++) {
    for (x = 0; x < ${across}; x++) {
      const uint8_t *corner = image + (y * ${stride * width}u + x * ${stride}u) * ${channels}u;
      ${pooled.type} *cell = pooled + (y * ${cellsDown}u / ${down}u * ${cellsAcross}u + x * ${cellsAcross}u / ${across}u) * ${m}u;
      const ${weight.type} *weight = ${name}_weights;
      ${wide.type} distance;
      for (k = 0; k < ${k}; k++) best[k] = 0;
      for (f = 0; f < ${m}; f++) {
        uint32_t sum = 0;
        for (j = 0; j < ${patchHeight}; j++) {
          for (i = 0; i < ${line}; i++) sum += (uint32_t)corner[j * ${width * channels}u + i] * *weight++;
        }
        responses[f] = sum;
        for (k = ${k}; k > 0 && sum > best[k - 1]; k--) {
          if (k < ${k}) best[k] = best[k - 1];
        }
        if (k < ${k}) best[k] = sum;
      }
      distance = best[0] - best[${k - 1}];
      if (distance == 0) continue;
      for (f = 0; f < ${m}; f++) {
        if (responses[f] <= best[${k - 1}]) continue;
        cell[f] = (${pooled.type})(cell[f] + (${LARGEST} * (${wide.type})(responses[f] - best[${k - 1}]) + distance / 2) / distance);
      }
    }
  }
${shift === 0 ? "" : `  for (i = 0; i < ${cellsAcross * cellsDown * m}; i++) pooled[i] >>= ${shift};\n`}}
`;
  return { text, flashBytes: weights.length * weight.bytes, ramBytes: (m + k) * UINT32.bytes + wide.bytes };
}
