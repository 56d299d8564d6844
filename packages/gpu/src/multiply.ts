/**
 * Products of all rows and all filters of a block, the work that everything else here waits for: `products[r][f]` = x_r · w_f in
 * u32. Rows are bytes, weights two bytes, kept as a plane of high and a plane of low bytes, so that both are products of bytes.
 *
 * **Exact.** A product is at most 255 · Σw; `bank.ts` takes in no filter for which that reaches 2^32 - 1 (ranks: n <= 4,103). The high
 * plane is summed first and multiplied by 256, then the low plane is added; all of it is arithmetic modulo 2^32, so what the
 * parts do on the way does not matter.
 *
 * There are three programs for one answer; `variants.ts` takes the fastest.
 */

import type { DeviceBuffer, Kernel } from "./device.ts";
import type { Job } from "./job.ts";

/** A program for products. */
export interface Multiply {
  readonly name: string;
  /** Writes all products. */
  readonly products: Kernel;
  /** Writes the winner of each row and part of a tile (`winners.ts`). */
  readonly winners: Kernel;
  readonly tileRows: number;
  readonly tileFilters: number;
  /** Parts of a tile that have winners of their own. */
  readonly parts: number;
}

/** What is multiplied. */
export interface Factors {
  readonly rows: DeviceBuffer;
  /** First row of the block, and rows in it; both multiples of a tile (`layout.ts`). */
  readonly first: number;
  readonly count: number;
  /** Bytes of a row. */
  readonly stride: number;
  readonly weights: DeviceBuffer;
  /** Filters with those that are padding. */
  readonly filters: number;
  /** Planes that are not all zero: 1 or 2. */
  readonly planes: number;
}

/** Adds the products of a block to a job. */
export function multiply(
  job: Job,
  { products: kernel, tileRows, tileFilters }: Multiply,
  on: Factors,
  products: DeviceBuffer,
): Promise<void> {
  const params = paramsOf(on, on.filters);
  return job.run(kernel, [on.rows, on.weights, products], params, on.filters / tileFilters, on.count / tileRows);
}

/** The bit of a winner's filter that says that it is not alone. */
export const TIED = 2 ** 31;
/** The other bits. */
export const FILTER = 2 ** 31 - 1;

/** WGSL: no filter, and the stronger of two winners. */
export const STRONGER = `
const NONE = 0xffffffffu;
const TIED = ${TIED}u;
fn stronger(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  if (b.y == NONE) { return a; }
  if (a.y == NONE) { return b; }
  if (a.x == b.x) { return vec2<u32>(a.x, min(a.y & ~TIED, b.y & ~TIED) | TIED); }
  return select(b, a, a.x > b.x);
}`;

/** Parameters of a program, of which so many filters are no padding. */
export function paramsOf(on: Factors, real: number): number[] {
  return [on.first, on.stride / 4, on.filters, on.planes, on.count, real];
}

/** What all programs begin with. `rows` are those of the block, `real` the filters that are no padding. */
export const HEAD = `
struct Params { first: u32, words: u32, filters: u32, planes: u32, rows: u32, real: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> w: array<vec4<u32>>;`;
export const PRODUCTS = `
@group(0) @binding(3) var<storage, read_write> products: array<u32>;`;
export const WINNERS = `${STRONGER}
@group(0) @binding(3) var<storage, read_write> winners: array<vec2<u32>>;`;

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
  const store = each(
    side,
    (a) =>
      `{ let at = (g.y * ${tile}u + down * ${side}u + ${a}u) * p.filters + g.x * ${tile}u + across; ${each(side, (b) => `products[at + ${GRID * b}u] = sums[${a * side + b}];`)} }`,
  );
  // Rows of one a: each thread brings the best of its own filters, one of each row takes the best of those.
  const best = each(
    side,
    (a) => `{
    var own = vec2<u32>(0u, NONE);
    ${each(side, (b) => `{ let f = g.x * ${tile}u + across + ${GRID * b}u; if (f < p.real) { own = stronger(own, vec2<u32>(sums[${a * side + b}], f)); } }`)}
    workgroupBarrier();
    xs[t] = own.x; ws[t] = own.y;
    workgroupBarrier();
    if (across == 0u) {
      for (var j = 1u; j < ${GRID}u; j++) { own = stronger(own, vec2<u32>(xs[t + j], ws[t + j])); }
      winners[g.x * p.rows + g.y * ${tile}u + down * ${side}u + ${a}u] = own;
    }
  }`,
  );
  const code = (
    declared: string,
    end: string,
  ): string => `${packed ? "requires packed_4x8_integer_dot_product;" : ""}${HEAD}${declared}
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
${end}
}`;
  const name = packed ? "packed" : "plain";
  const writes = [false, false, true];
  return {
    name,
    products: { name: `multiply ${name}`, code: code(PRODUCTS, store), writes },
    winners: { name: `winners ${name}`, code: code(WINNERS, best), writes },
    tileRows: tile,
    tileFilters: tile,
    parts: 1,
  };
}
