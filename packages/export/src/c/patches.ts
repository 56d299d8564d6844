/** The patch stage in C: windows of the image against small filters, the strongest of each window, added up by cells. Whole numbers. */

import { type PatchModel, RanksimError } from "@ranksim/core";
import { byteFactor, FACTOR_BITS, HALF } from "../pooled-bytes.ts";
import { type CType, table, UINT8, UINT16, UINT32, UINT64 } from "./types.ts";

type Layer = PatchModel["layers"][number];

/** Similarity of the strongest filter of a window, and the largest byte. */
const LARGEST = 255;
/** Largest pooled sum, by the definition of the stage. */
const LARGEST_SUM = 2 ** 15 - 1;

/** The stage as text, and what it takes. */
export interface CPatches {
  readonly text: string;
  /** Names of its tables. */
  readonly tables: readonly string[];
  readonly flashBytes: number;
  readonly ramBytes: number;
  /** What pooled values are held in. */
  readonly pooled: CType;
  /** The largest pooled value there can be. */
  readonly largest: number;
  /** Pooled values of an image. */
  readonly features: number;
}

/** The stage with `NAME_pool(const uint8_t *row, POOLED *pooled)`. */
export function patchStage(name: string, { layers, scale, pooledFeatures: features }: PatchModel): CPatches {
  if (scale) {
    throw new RanksimError("unsupported", "c: expected a model trained on images of bytes, found one of other numbers");
  }
  const isBytes = layers[0].windows.limit > 0; // of all layers or of none
  const [pooled, largest] = isBytes ? [UINT8, LARGEST] : [UINT16, LARGEST_SUM];
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
  return { text, tables, flashBytes, ramBytes: features * pooled.bytes + most, pooled, largest, features };
}

function layerText(name: string, { bank, windows }: Layer, pooled: CType) {
  const { filters: m, features: n, weights } = bank;
  const { width, channels, patchWidth, patchHeight, stride, across, down, cellsAcross, cellsDown, shift } = windows;
  const k = Math.min(windows.nBest, m);
  const weight = 2 * n <= 255 ? UINT8 : UINT16;
  // 255 times the largest response, and a half.
  const wide = (LARGEST + 1) * LARGEST * n * (n + 1) < 2 ** 32 ? UINT32 : UINT64;
  // Sums that are to be halved do not fit before they are.
  const sum = shift === 0 ? UINT16 : UINT32;
  const line = patchWidth * channels;
  const text = `${table(`${name}_weights`, weight, weights)}
/* ${m} filters on windows of ${patchWidth} x ${patchHeight} values${channels > 1 ? ` of ${channels} channels` : ""}; the ${k} strongest count. */
static inline void ${name}(const uint8_t *image, ${pooled.type} *pooled) {
  uint32_t responses[${m}], best[${k}];
  ${sum.type} sums[${m}];
  uint32_t cell_column, cell_row, x, y, f, i, j, k;
  for (cell_row = 0; cell_row < ${cellsDown}; cell_row++) {
    for (cell_column = 0; cell_column < ${cellsAcross}; cell_column++, pooled += ${m}) {
      for (f = 0; f < ${m}; f++) sums[f] = 0;
      for (y = ${firstOf("cell_row", down, cellsDown)}; y * ${cellsDown}u / ${down}u == cell_row; y++) {
        for (x = ${firstOf("cell_column", across, cellsAcross)}; x * ${cellsAcross}u / ${across}u == cell_column; x++) {
          const uint8_t *corner = image + (y * ${stride * width}u + x * ${stride}u) * ${channels}u;
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
            sums[f] = (${sum.type})(sums[f] + (${LARGEST} * (${wide.type})(responses[f] - best[${k - 1}]) + distance / 2) / distance);
          }
        }
      }
${pooledText(windows, m)}
    }
  }
}
`;
  const ramBytes = (m + k) * UINT32.bytes + m * sum.bytes + wide.bytes;
  return { text, flashBytes: weights.length * weight.bytes, ramBytes };
}

/** The number of the first window of a cell: cell · windows / cells, rounded up. */
const firstOf = (cell: string, windows: number, cells: number): string =>
  `(${cell} * ${windows}u + ${cells - 1}u) / ${cells}u`;

/** The sums of a cell as pooled values: as they are, or as bytes. */
function pooledText({ shift, limit }: Layer["windows"], m: number): string {
  const kept = shift === 0 ? "sums[f]" : `sums[f] >> ${shift}`;
  if (limit === 0) return `      for (f = 0; f < ${m}; f++) pooled[f] = (uint16_t)(${kept});`;
  return `      for (f = 0; f < ${m}; f++) {
        const uint32_t sum = ${kept};
        pooled[f] = (uint8_t)(((sum < ${limit} ? sum : ${limit}u) * ${byteFactor(limit)}u + ${HALF}u) >> ${FACTOR_BITS});
      }`;
}
