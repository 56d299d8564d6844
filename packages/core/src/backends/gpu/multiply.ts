/**
 * Products of all rows and all filters of a block, the work that everything else here waits for: `products[r][f]` = x_r · w_f in
 * u32. Rows are bytes, weights two bytes, kept as a plane of high and a plane of low bytes, so that both are products of bytes.
 *
 * **Exact.** A product is at most 255 · Σw; `bank.ts` takes in no filter for which that reaches 2^32 (ranks: n <= 4,103). The high
 * plane is summed first and multiplied by 256, then the low plane is added; all of it is arithmetic modulo 2^32, so what the
 * parts do on the way does not matter.
 *
 * There are three programs for one answer; `variants.ts` takes the fastest.
 */

import type { Job, Kernel, Room } from "./device.ts";

/** A program for products. */
export interface Multiply {
  readonly name: string;
  readonly kernel: Kernel;
  readonly tileRows: number;
  readonly tileFilters: number;
}

/** What is multiplied. */
export interface Factors {
  readonly rows: Room;
  /** First row of the block, and rows in it; both multiples of a tile (`layout.ts`). */
  readonly first: number;
  readonly count: number;
  /** Bytes of a row. */
  readonly stride: number;
  readonly weights: Room;
  /** Filters with those that are padding. */
  readonly filters: number;
  /** Planes that are not all zero: 1 or 2. */
  readonly planes: number;
}

/** Adds the products of a block to a job. */
export function multiply(
  job: Job,
  { kernel, tileRows, tileFilters }: Multiply,
  on: Factors,
  products: Room,
): Promise<void> {
  const words = on.stride / 4;
  const params = [on.first, words, on.filters, on.planes];
  return job.run(kernel, [on.rows, on.weights, products], params, on.filters / tileFilters, on.count / tileRows);
}

const HEAD = `
struct Params { first: u32, words: u32, filters: u32, planes: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> w: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> products: array<u32>;`;

/** Threads of a workgroup of the programs without matrices, down and across. */
const GRID = 16;

/** By the product of four bytes that the device has, or by one that is written out. */
export function multiplyWords(packed: boolean): Multiply {
  const each = (count: number, text: (j: number) => string): string =>
    Array.from({ length: count }, (_, j) => text(j)).join(" ");
  // Products of a thread, down and across, and of a workgroup; words of a row at a time, so that each thread brings four.
  const side = packed ? 8 : 4;
  const tile = GRID * side;
  const step = (4 * GRID * GRID) / tile;
  const code = `${packed ? "requires packed_4x8_integer_dot_product;" : ""}${HEAD}
var<workgroup> xs: array<u32, ${tile * step}>;
var<workgroup> ws: array<u32, ${tile * step}>;
fn dot4(a: u32, b: u32) -> u32 {
  ${packed ? "return dot4U8Packed(a, b);" : "return (a & 255u) * (b & 255u) + ((a >> 8u) & 255u) * ((b >> 8u) & 255u) + ((a >> 16u) & 255u) * ((b >> 16u) & 255u) + (a >> 24u) * (b >> 24u);"}
}
@compute @workgroup_size(${GRID * GRID}) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let across = t % ${GRID}u;
  let down = t / ${GRID}u;
  let quads = p.words / 4u;
  let item = t / ${step / 4}u;
  let part = t % ${step / 4}u;
  let row = (p.first + g.y * ${tile}u + item) * quads + part;
  let filter_at = (g.x * ${tile}u + item) * quads + part;
  let place = part * ${4 * tile}u + item;
  var sums = array<u32, ${side * side}>();
  for (var plane = 2u - p.planes; plane < 2u; plane++) {
    if (plane == 1u) { ${each(side * side, (j) => `sums[${j}] <<= 8u;`)} }
    let skip = plane * p.filters * quads;
    for (var k = 0u; k < quads; k += ${step / 4}u) {
      let a = x[row + k];
      let b = w[skip + filter_at + k];
      workgroupBarrier();
      xs[place] = a.x; xs[place + ${tile}u] = a.y; xs[place + ${2 * tile}u] = a.z; xs[place + ${3 * tile}u] = a.w;
      ws[place] = b.x; ws[place + ${tile}u] = b.y; ws[place + ${2 * tile}u] = b.z; ws[place + ${3 * tile}u] = b.w;
      workgroupBarrier();
      for (var s = 0u; s < ${step}u; s++) {
        ${each(side, (a) => `let x${a} = xs[s * ${tile}u + down * ${side}u + ${a}u];`)}
        ${each(side, (b) => `{ let v = ws[s * ${tile}u + across + ${GRID * b}u]; ${each(side, (a) => `sums[${a * side + b}] += dot4(x${a}, v);`)} }`)}
      }
    }
  }
  ${each(side, (a) => `{ let at = (g.y * ${tile}u + down * ${side}u + ${a}u) * p.filters + g.x * ${tile}u + across; ${each(side, (b) => `products[at + ${GRID * b}u] = sums[${a * side + b}];`)} }`)}
}`;
  const name = packed ? "packed" : "plain";
  return {
    name,
    kernel: { name: `multiply ${name}`, code, writes: [false, false, true] },
    tileRows: tile,
    tileFilters: tile,
  };
}

/** How the work of a workgroup is cut for matrices of subgroups. */
export interface MatrixTiles {
  readonly rows: number;
  readonly filters: number;
  /** Subgroups down and across. */
  readonly down: number;
  readonly across: number;
  /** Bytes of a row in workgroup memory at a time, and from one row to the next there: 16 more, so that rows lie in different banks. */
  readonly bytes: number;
  readonly stride: number;
}

/** Measured on an H200; see the README. */
const TILES: MatrixTiles = { rows: 128, filters: 128, down: 4, across: 1, bytes: 64, stride: 80 };

/** By products of 16 x 32 and 32 x 16 bytes, which 32 threads compute together. */
export function multiplyMatrices(tiles: MatrixTiles = TILES): Multiply {
  const { rows, filters, down, across, bytes, stride } = tiles;
  const threads = 32 * down * across;
  const [high, wide] = [rows / down / 16, filters / across / 16];
  const quads = bytes / 16;
  const bring = (items: number): number => (items * quads) / threads;
  const each = (count: number, text: (j: number) => string): string =>
    Array.from({ length: count }, (_, j) => text(j)).join(" ");
  const all = (text: (a: number, b: number) => string): string =>
    each(high * wide, (q) => text(Math.floor(q / wide), q % wide));
  const words = stride / 4;
  const fetch = (into: string, from: string, items: number, base: string): string =>
    each(
      bring(items),
      (j) =>
        `${into}${j} = ${from}[${base} + ((t + ${j * threads}u) / ${quads}u) * quads + at + (t + ${j * threads}u) % ${quads}u];`,
    );
  const store = (to: string, from: string, items: number): string =>
    each(bring(items), (j) => {
      const place = `((t + ${j * threads}u) / ${quads}u) * ${words}u + ((t + ${j * threads}u) % ${quads}u) * 4u`;
      return `{ let o = ${place}; ${["x", "y", "z", "w"].map((part, c) => `${to}[o + ${c}u] = ${from}${j}.${part};`).join(" ")} }`;
    });
  const code = `diagnostic(off, chromium.subgroup_matrix_uniformity);
enable subgroups;
enable chromium_experimental_subgroup_matrix;${HEAD}
var<workgroup> xs: array<u32, ${rows * words}>;
var<workgroup> ws: array<u32, ${filters * words}>;
@compute @workgroup_size(${threads}) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32, @builtin(subgroup_id) sg: u32) {
  let quads = p.words / 4u;
  let steps = quads / ${quads}u;
  let total = steps * p.planes;
  let row = (p.first + g.y * ${rows}u) * quads;
  let start = ((2u - p.planes) * p.filters + g.x * ${filters}u) * quads;
  let y0 = (sg / ${across}u) * ${high * 16}u;
  let f0 = (sg % ${across}u) * ${wide * 16}u;
  ${all((a, b) => `var c${a}_${b} = subgroup_matrix_result<u32, 16, 16>();`)}
  ${each(bring(rows), (j) => `var a${j}: vec4<u32>;`)} ${each(bring(filters), (j) => `var b${j}: vec4<u32>;`)}
  { let at = 0u; let filter_at = start; ${fetch("a", "x", rows, "row")} ${fetch("b", "w", filters, "filter_at")} }
  for (var s = 0u; s < total; s++) {
    workgroupBarrier();
    ${store("xs", "a", rows)} ${store("ws", "b", filters)}
    workgroupBarrier();
    if (s + 1u < total) {
      let at = ((s + 1u) % steps) * ${quads}u;
      let filter_at = start + select(0u, p.filters * quads, s + 1u >= steps);
      ${fetch("a", "x", rows, "row")} ${fetch("b", "w", filters, "filter_at")}
    }
    if (s == steps) { ${all((a, b) => `c${a}_${b} = subgroupMatrixScalarMultiply(c${a}_${b}, 256u);`)} }
    ${each(
      bytes / 32,
      (k) => `{
      ${each(high, (a) => `let x${a} = subgroupMatrixLoad<subgroup_matrix_left<u8, 32, 16>, row_major>(&xs, (y0 + ${a * 16}u) * ${words}u + ${k * 8}u, ${words}u);`)}
      ${each(wide, (b) => `{ let v = subgroupMatrixLoad<subgroup_matrix_right<u8, 16, 32>, col_major>(&ws, (f0 + ${b * 16}u) * ${words}u + ${k * 8}u, ${words}u); ${each(high, (a) => `c${a}_${b} = subgroupMatrixMultiplyAccumulate(x${a}, v, c${a}_${b});`)} }`)}
    }`,
    )}
  }
  let out = (g.y * ${rows}u + y0) * p.filters + g.x * ${filters}u + f0;
  ${all((a, b) => `subgroupMatrixStore<row_major>(&products, out + ${a * 16}u * p.filters + ${b * 16}u, c${a}_${b}, p.filters);`)}
}`;
  return {
    name: "matrices",
    kernel: { name: "multiply matrices", code, writes: [false, false, true] },
    tileRows: rows,
    tileFilters: filters,
  };
}
