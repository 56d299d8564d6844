/**
 * Pooled patches in one kernel, where a subgroup has a fixed size and windows are small: a workgroup takes one row of cells of an
 * image, a subgroup four windows at a time. Each lane has the responses of its own filters in registers, so that nothing but
 * pixels comes in and nothing but pooled values goes out.
 *
 * **The strongest.** A response and the number of its filter make one key, response · 2^b + number, and keys differ. Each lane sorts
 * its own; the largest head of all lanes, taken k times, gives the k strongest, the r-th to lane r. Which of two equal
 * responses comes first does not matter: only responses above the k-th add anything.
 */

import { byteFactor, FACTOR_BITS, windowFeatures } from "@ranksim/core/backend";
import { type Device, type DeviceBuffer, type Kernel, MOST_GROUPS } from "./device.ts";
import type { Job } from "./job.ts";
import type { Layer, SomeImages } from "./pool.ts";

/** Subgroups of a workgroup, windows that a subgroup takes at a time, and those that are laid out at a time. */
const SUBGROUPS = 4;
const WINDOWS = 4;
const BATCH = 32;
/** Filters of a lane at most: their keys are sorted in registers. */
const MOST_OWN = 16;

/** What the program is written for. */
interface Plan {
  readonly filters: number;
  /** Words of a window. */
  readonly words: number;
  readonly cellsAcross: number;
  readonly lanes: number;
  /** Filters of a lane: a power of two, at least 4. */
  readonly own: number;
  readonly idBits: number;
  readonly isPacked: boolean;
  /** Pooled values in a word: 4 are bytes, 2 are sums. */
  readonly inWord: 2 | 4;
}

/** The components of a vector of WGSL. */
const COMPONENTS = ["x", "y", "z", "w"];

/** A word of pooled values from sums: less their last bits, as bytes (`byteOf`) where there are four. `p` has shift, limit and factor. */
function wordOf(inWord: 2 | 4, sum: (j: number) => string): string {
  const value = (j: number): string => {
    const cut = `(${sum(j)} >> p.shift)`;
    return inWord === 2 ? cut : `((min(${cut}, p.limit) * p.factor + ${2 ** (FACTOR_BITS - 1)}u) >> ${FACTOR_BITS}u)`;
  };
  return Array.from({ length: inWord }, (_, j) => `(${value(j)} << ${(32 / inWord) * j}u)`).join(" | ");
}

/** Programs by what they are written for. */
const kernels = new Map<string, Kernel>();

/** The program for such a layer on such a device; undefined where it does not fit. */
export function fusedKernel({ opened, limits }: Device, { planes, filters, windows }: Layer): Kernel | undefined {
  const { subgroup: lanes, language, device } = opened;
  if (!device.features.has("subgroups") || !language.has("subgroup_id") || lanes < 4) return undefined;
  const { cellsAcross } = windows;
  const own = 2 ** Math.max(2, Math.ceil(Math.log2(filters / lanes)));
  const idBits = Math.log2(own * lanes);
  const n = windowFeatures(windows);
  const words = Math.ceil(n / 4);
  const inWord = windows.limit ? 4 : 2;
  const bytes = 4 * (words * own * lanes + (BATCH + 4) * words + cellsAcross * filters);
  // Weights are bytes: a response is at most 255 · 255 · n.
  const fits = planes.planes === 1 && filters % inWord === 0 && own <= MOST_OWN && 255 * 255 * n < 2 ** (32 - idBits);
  if (!fits || Math.min(windows.nBest, filters) > lanes || bytes > limits.maxComputeWorkgroupStorageSize)
    return undefined;
  const plan: Plan = {
    ...{ filters, words, cellsAcross, lanes, own, idBits },
    isPacked: language.has("packed_4x8_integer_dot_product") && !opened.isSoftware,
    inWord,
  };
  const key = JSON.stringify(plan);
  const kernel = kernels.get(key) ?? write(plan);
  kernels.set(key, kernel);
  return kernel;
}

/** Adds to a job: pools images by the program. */
export function addFused(
  job: Job,
  kernel: Kernel,
  { buffer, stride: rowBytes, image, count }: SomeImages,
  { planes, filters, windows }: Layer,
  pooled: DeviceBuffer,
): Promise<void> {
  const { across, down, width, channels, patchWidth, stride, cellsDown, nBest, shift, limit } = windows;
  const total = count * cellsDown;
  const groups = Math.min(total, MOST_GROUPS);
  const params = [
    ...[image, rowBytes / 4, planes.stride / 4, (planes.padded * planes.stride) / 4, total, groups],
    ...[across, down, cellsDown, width * channels, channels * stride, patchWidth * channels],
    ...[stride, windowFeatures(windows), Math.min(nBest, filters), shift],
    ...(limit ? [limit, byteFactor(limit)] : []),
  ];
  return job.run(kernel, [buffer, planes.buffer, pooled], params, groups, Math.ceil(total / groups));
}

/** Pairs of places that Batcher's network compares to sort so many (a power of two). */
function sortingPairs(count: number): [number, number][] {
  const pairs: [number, number][] = [];
  for (let p = 1; p < count; p *= 2) {
    for (let k = p; k >= 1; k /= 2) {
      for (let j = k % p; j + k < count; j += 2 * k) {
        for (let i = 0; i < k; i++) {
          if (Math.floor((i + j) / (2 * p)) === Math.floor((i + j + k) / (2 * p))) pairs.push([i + j, i + j + k]);
        }
      }
    }
  }
  return pairs;
}

const each = (count: number, text: (j: number) => string): string =>
  Array.from({ length: count }, (_, j) => text(j)).join(" ");

function write({ filters, cellsAcross, lanes, own, idBits, words, isPacked, inWord }: Plan): Kernel {
  const quads = own / 4;
  const threads = lanes * SUBGROUPS;
  const outWords = (cellsAcross * filters) / inWord;
  const sum = (w: number, j: number): string => `r${w}_${j}`;
  const dots = (q: number): string =>
    each(WINDOWS, (w) => each(4, (i) => `${sum(w, 4 * q + i)} += dot4(v${w}, f.${COMPONENTS[i]});`));
  const strongest = (w: number): string => `
      if (window + ${w}u < count) {
        ${each(own, (j) => `var k${j} = (${sum(w, j)} << ${idBits}u) | (lane * ${own}u + ${j}u);`)}
        ${sortingPairs(own)
          .map(([a, b]) => `{ let large = max(k${a}, k${b}); k${b} = min(k${a}, k${b}); k${a} = large; }`)
          .join(" ")}
        let first = subgroupMax(k0);
        if (first >= ${2 ** idBits}u) {
          var last = first;
          var mine = first;
          for (var r = 0u; r < p.best; r++) {
            last = subgroupMax(k0);
            if (lane == r) { mine = last; }
            if (k0 == last) { ${each(own - 1, (j) => `k${j} = k${j + 1};`)} k${own - 1} = 0u; }
          }
          let least = last >> ${idBits}u;
          let distance = (first >> ${idBits}u) - least;
          let response = mine >> ${idBits}u;
          if (lane < p.best && response > least) {
            let cell = (((window + ${w}u) % p.across) * ${cellsAcross}u) / p.across;
            atomicAdd(&sums[cell * ${filters}u + (mine & ${2 ** idBits - 1}u)], (255u * (response - least) + distance / 2u) / distance);
          }
        }
      }`;
  const code = `diagnostic(off, subgroup_uniformity);
enable subgroups;${isPacked ? "\nrequires packed_4x8_integer_dot_product;" : ""}
struct Params { first: u32, row_words: u32, filter_words: u32, plane: u32, total: u32, groups: u32, across: u32, down: u32, cells_down: u32, line: u32, step: u32, patch_line: u32, step_down: u32, features: u32, best: u32, shift: u32, limit: u32, factor: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> images: array<u32>;
@group(0) @binding(2) var<storage, read> weights: array<u32>;
@group(0) @binding(3) var<storage, read_write> pooled: array<u32>;
var<workgroup> bank: array<vec4<u32>, ${words * quads * lanes}>;
var<workgroup> windows: array<u32, ${BATCH * words}>;
var<workgroup> offsets: array<u32, ${4 * words}>;
var<workgroup> sums: array<atomic<u32>, ${cellsAcross * filters}>;
fn dot4(a: u32, b: u32) -> u32 {
  ${isPacked ? "return dot4U8Packed(a, b);" : "return (a & 255u) * (b & 255u) + ((a >> 8u) & 255u) * ((b >> 8u) & 255u) + ((a >> 16u) & 255u) * ((b >> 16u) & 255u) + (a >> 24u) * (b >> 24u);"}
}
fn weight(f: u32, c: u32) -> u32 {
  if (f >= ${filters}u) { return 0u; }
  return weights[p.plane + f * p.filter_words + c];
}
@compute @workgroup_size(${threads}) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32, @builtin(subgroup_id) sg: u32, @builtin(subgroup_invocation_id) lane: u32) {
  let at = g.y * p.groups + g.x;
  if (at >= p.total) { return; }
  let image = at / p.cells_down;
  let cy = at % p.cells_down;
  for (var i = t; i < ${cellsAcross * filters}u; i += ${threads}u) { atomicStore(&sums[i], 0u); }
  // Where the values of a window lie, counted from its corner.
  for (var i = t; i < ${4 * words}u; i += ${threads}u) { offsets[i] = (i / p.patch_line) * p.line + i % p.patch_line; }
  for (var i = t; i < ${words * quads * lanes}u; i += ${threads}u) {
    let f = (i % ${lanes}u) * ${own}u + ((i / ${lanes}u) % ${quads}u) * 4u;
    let c = i / ${lanes * quads}u;
    bank[i] = vec4<u32>(weight(f, c), weight(f + 1u, c), weight(f + 2u, c), weight(f + 3u, c));
  }
  // Rows y of windows with ⌊y · cells / windows⌋ = cy.
  let y0 = (cy * p.down + p.cells_down - 1u) / p.cells_down;
  let y1 = ((cy + 1u) * p.down + p.cells_down - 1u) / p.cells_down;
  let count = (y1 - y0) * p.across;
  let pixels = (p.first + image) * p.row_words;
  for (var base = 0u; base < count; base += ${BATCH}u) {
    workgroupBarrier();
    for (var i = t; i < ${BATCH * words}u; i += ${threads}u) {
      let w = base + (i / ${WINDOWS * words}u) * ${WINDOWS}u + i % ${WINDOWS}u;
      if (w < count) {
        let c = ((i / ${WINDOWS}u) % ${words}u) * 4u;
        let corner = (y0 + w / p.across) * p.step_down * p.line + (w % p.across) * p.step;
        var word = 0u;
        for (var b = 0u; b < 4u; b++) {
          if (c + b < p.features) {
            let pixel = corner + offsets[c + b];
            word |= ((images[pixels + pixel / 4u] >> ((pixel % 4u) * 8u)) & 255u) << (b * 8u);
          }
        }
        windows[i] = word;
      }
    }
    workgroupBarrier();
    for (var q = sg; q < ${BATCH / WINDOWS}u; q += ${SUBGROUPS}u) {
      let window = base + q * ${WINDOWS}u;
      ${each(WINDOWS, (w) => each(own, (j) => `var ${sum(w, j)} = 0u;`))}
      for (var c = 0u; c < ${words}u; c++) {
        let at = (q * ${words}u + c) * ${WINDOWS}u;
        ${each(WINDOWS, (w) => `let v${w} = windows[at + ${w}u];`)}
        ${each(quads, (q) => `{ let f = bank[(c * ${quads}u + ${q}u) * ${lanes}u + lane]; ${dots(q)} }`)}
      }
      ${each(WINDOWS, strongest)}
    }
  }
  workgroupBarrier();
  for (var i = t; i < ${outWords}u; i += ${threads}u) {
    pooled[at * ${outWords}u + i] = ${wordOf(inWord, (j) => `atomicLoad(&sums[${inWord}u * i + ${j}u])`)};
  }
}`;
  return { name: `pool ${filters} filters of ${words} words, ${inWord} in a word`, code, writes: [false, false, true] };
}
