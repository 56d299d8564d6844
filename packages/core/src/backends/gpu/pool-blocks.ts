/**
 * Pooled patches by the kernels of a search: the windows of some images are laid out as rows, multiplied with the filters like any
 * others, the strongest filters of each are found, and one workgroup a cell adds up the similarities of its windows. For
 * devices and windows that `pool-fused.ts` does not take.
 */

import { byteFactor, windowFeatures } from "../../kernels/patches.ts";
import { type Kernel, MOST_GROUPS, type Room } from "./device.ts";
import type { House } from "./house.ts";
import type { Job } from "./job.ts";
import { padded } from "./layout.ts";
import { multiply } from "./multiply.ts";
import type { Layer, SomeImages } from "./pool.ts";
import { COMPONENTS, valuesInWord, wordOf } from "./pool-words.ts";
import { select } from "./select.ts";

/** One thread a word of a window: four of its values from where they lie in the image. */
const CUT: Kernel = {
  name: "cut windows",
  writes: [false, true],
  code: `
struct Params { first: u32, row_words: u32, words: u32, features: u32, across: u32, windows: u32, total: u32, width: u32, channels: u32, line: u32, step: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> images: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(256) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let at = (g.y * ${MOST_GROUPS}u + g.x) * 256u + t;
  if (at >= p.total * p.words) { return; }
  let w = at / p.words;
  let c = at % p.words;
  let image = p.first + w / p.windows;
  let x = (w % p.windows) % p.across;
  let y = (w % p.windows) / p.across;
  var word = 0u;
  for (var i = 0u; i < 4u; i++) {
    let j = c * 4u + i;
    if (j < p.features) {
      let pixel = ((y * p.step + j / p.line) * p.width + x * p.step) * p.channels + j % p.line;
      word |= ((images[image * p.row_words + pixel / 4u] >> ((pixel % 4u) * 8u)) & 255u) << (i * 8u);
    }
  }
  out[at] = word;
}`,
};

/** One workgroup a cell of an image, a word of pooled values a thread at a time. */
const poolKernel = (inWord: 2 | 4): Kernel => ({
  name: `pool similarities, ${inWord} in a word`,
  writes: [false, false, true],
  code: `
struct Params { filters: u32, stride: u32, k: u32, across: u32, down: u32, cells_across: u32, cells_down: u32, shift: u32, total: u32, first: u32, limit: u32, factor: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> products: array<u32>;
@group(0) @binding(2) var<storage, read> found: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> pooled: array<u32>;
@compute @workgroup_size(128) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let at = g.y * ${MOST_GROUPS}u + g.x;
  if (at >= p.total) { return; }
  let cells = p.cells_across * p.cells_down;
  let image = at / cells;
  let cx = (at % cells) % p.cells_across;
  let cy = (at % cells) / p.cells_across;
  // Windows x with ⌊x · cells / windows⌋ = cx.
  let x0 = (cx * p.across + p.cells_across - 1u) / p.cells_across;
  let x1 = ((cx + 1u) * p.across + p.cells_across - 1u) / p.cells_across;
  let y0 = (cy * p.down + p.cells_down - 1u) / p.cells_down;
  let y1 = ((cy + 1u) * p.down + p.cells_down - 1u) / p.cells_down;
  for (var f = t * ${inWord}u; f < p.filters; f += ${inWord * 128}u) {
    var sum = vec${inWord}<u32>();
    for (var y = y0; y < y1; y++) {
      for (var x = x0; x < x1; x++) {
        let w = (image * p.down + y) * p.across + x;
        let largest = found[w * p.k].x;
        let kth = found[w * p.k + p.k - 1u].x;
        let distance = largest - kth;
        ${COMPONENTS.slice(0, inWord)
          .map(
            (part, j) => `{
          let response = products[w * p.stride + f + ${j}u];
          if (response > kth) { sum.${part} += (255u * (response - kth) + distance / 2u) / distance; }
        }`,
          )
          .join("\n        ")}
      }
    }
    pooled[((p.first + image) * cells + at % cells) * (p.filters / ${inWord}u) + f / ${inWord}u] = ${wordOf(inWord, (j) => `sum.${COMPONENTS[j]}`)};
  }
}`,
});

const POOL = { 2: poolKernel(2), 4: poolKernel(4) } as const;

/** Room for the windows of some images, their products and their strongest filters. */
interface Desk {
  readonly rows: Room;
  readonly products: Room;
  readonly found: Room;
}

export function deskOf(images: number, { planes, filters, windows }: Layer, borrow: (bytes: number) => Room): Desk {
  const total = images * windows.across * windows.down;
  return {
    rows: borrow(padded(total) * planes.stride),
    products: borrow(padded(total) * planes.padded * 4),
    found: borrow(8 * total * Math.min(windows.nBest, filters)),
  };
}

/** Adds to a job: pools some images of a room, as the images from `first` on. */
export async function addPooled(
  job: Job,
  house: House,
  { stride: rowBytes, room, image, count }: SomeImages,
  { planes, filters, windows }: Layer,
  { rows, products, found }: Desk,
  pooled: Room,
  first: number,
): Promise<void> {
  const { across, down, width, channels, patchWidth, stride: step, cellsAcross, cellsDown, shift, limit } = windows;
  const features = windowFeatures(windows);
  const { stride } = planes;
  const each = across * down;
  const total = count * each;
  const k = Math.min(windows.nBest, filters);
  const groups = Math.ceil((total * stride) / 1024);
  const cut = [
    image,
    rowBytes / 4,
    stride / 4,
    features,
    across,
    each,
    total,
    width,
    channels,
    patchWidth * channels,
    step,
  ];
  await job.run(CUT, [room, rows], cut, Math.min(groups, MOST_GROUPS), Math.ceil(groups / MOST_GROUPS));
  const { multiply: program } = await house.choice();
  const factors = {
    rows,
    first: 0,
    count: padded(total),
    stride,
    weights: planes.room,
    filters: planes.padded,
    planes: planes.planes,
  };
  await multiply(job, program, factors, products);
  await select(job, products, { filters, stride: planes.padded, k, rows: total, first: 0 }, found);
  const cells = count * cellsAcross * cellsDown;
  const params = [filters, planes.padded, k, across, down, cellsAcross, cellsDown, shift, cells, first];
  if (limit) params.push(limit, byteFactor(limit));
  const kernel = POOL[valuesInWord(windows)];
  await job.run(
    kernel,
    [products, found, pooled],
    params,
    Math.min(cells, MOST_GROUPS),
    Math.ceil(cells / MOST_GROUPS),
  );
}
