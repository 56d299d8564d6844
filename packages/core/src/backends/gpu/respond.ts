/**
 * Exact responses of candidates on the device: the bits of `kernels/dot.ts`, by float64 arithmetic written in whole numbers, which WGSL
 * computes exactly.
 *
 * A number is (hi·2^32 + lo)·2^e with 53 bits, or zero; `add` rounds to the nearest of them, ties to even, as float64 does: it
 * keeps three bits more, of which the last is 1 if anything was lost. Exponents need no care: values are float32 below 2^60 and weights
 * whole numbers below 2^18, so no sum comes near the ends of float64. A product of 24 and 18 bits is exact there as here. The eight
 * lanes are eight threads, joined in the order of the definition. A sum of zero is +0 on both sides.
 */

import { type Kernel, MOST_GROUPS, type Room } from "./device.ts";
import type { Job } from "./job.ts";
import type { SparseRooms } from "./multiply-floats.ts";

/** Weights below this can be multiplied here. */
export const MOST_WEIGHT = 2 ** 18;

/** Candidates of a row at a time, eight threads each. */
const PAIRS = 4;
const THREADS = 8 * PAIRS;

const ARITHMETIC = `
struct Number { hi: u32, lo: u32, e: i32, negative: u32 }
fn left(hi: u32, lo: u32, by: u32) -> vec2<u32> {
  if (by >= 32u) { return vec2<u32>(lo << (by - 32u), 0u); }
  if (by == 0u) { return vec2<u32>(hi, lo); }
  return vec2<u32>((hi << by) | (lo >> (32u - by)), lo << by);
}
fn product(bits: u32, weight: u32) -> Number {
  let power = i32((bits >> 23u) & 255u);
  let fraction = bits & 0x7fffffu;
  let m = select(fraction | 0x800000u, fraction, power == 0);
  let high = (m >> 12u) * weight;
  let low = (m & 4095u) * weight;
  let lo = (high << 12u) + low;
  let hi = (high >> 20u) + select(0u, 1u, lo < low);
  if ((hi | lo) == 0u) { return Number(0u, 0u, 0, 0u); }
  let by = select(21u + countLeadingZeros(lo), countLeadingZeros(hi) - 11u, hi != 0u);
  let both = left(hi, lo, by);
  return Number(both.x, both.y, max(power, 1) - 150 - i32(by), bits >> 31u);
}
fn add(first: Number, second: Number) -> Number {
  if ((second.hi | second.lo) == 0u) { return first; }
  if ((first.hi | first.lo) == 0u) { return second; }
  var a = first;
  var b = second;
  if (b.e > a.e || (b.e == a.e && (b.hi > a.hi || (b.hi == a.hi && b.lo > a.lo)))) { a = second; b = first; }
  let ah = (a.hi << 3u) | (a.lo >> 29u);
  let al = a.lo << 3u;
  var bh = (b.hi << 3u) | (b.lo >> 29u);
  var bl = b.lo << 3u;
  let apart = u32(a.e - b.e);
  if (apart >= 56u) { bh = 0u; bl = 1u; }
  else if (apart >= 32u) {
    let by = apart - 32u;
    let lost = bl | (bh & ((1u << by) - 1u));
    bl = (bh >> by) | select(0u, 1u, lost != 0u);
    bh = 0u;
  } else if (apart > 0u) {
    let lost = bl & ((1u << apart) - 1u);
    bl = (bl >> apart) | (bh << (32u - apart)) | select(0u, 1u, lost != 0u);
    bh >>= apart;
  }
  var hi: u32;
  var lo: u32;
  var e = a.e;
  if (a.negative == b.negative) {
    lo = al + bl;
    hi = ah + bh + select(0u, 1u, lo < al);
    if (hi >= 0x1000000u) { lo = (lo >> 1u) | (hi << 31u) | (lo & 1u); hi >>= 1u; e++; }
  } else {
    lo = al - bl;
    hi = ah - bh - select(0u, 1u, al < bl);
    if ((hi | lo) == 0u) { return Number(0u, 0u, 0, 0u); }
    let by = select(24u + countLeadingZeros(lo), countLeadingZeros(hi) - 8u, hi != 0u);
    let both = left(hi, lo, by);
    hi = both.x;
    lo = both.y;
    e -= i32(by);
  }
  let rest = lo & 7u;
  lo = (lo >> 3u) | (hi << 29u);
  hi >>= 3u;
  if (rest > 4u || (rest == 4u && (lo & 1u) == 1u)) {
    lo++;
    if (lo == 0u) { hi++; }
    if (hi >= 0x200000u) { lo = (lo >> 1u) | (hi << 31u); hi >>= 1u; e++; }
  }
  return Number(hi, lo, e, a.negative);
}
fn bits_of(a: Number) -> vec2<u32> {
  if ((a.hi | a.lo) == 0u) { return vec2<u32>(); }
  return vec2<u32>(a.lo, (a.negative << 31u) | (u32(a.e + 1075) << 20u) | (a.hi & 0xfffffu));
}`;

/** One workgroup a row. `terms` adds those of lane `lane` of row r and filter f to `sum`; `inputs` are its buffers. */
function respondKernel(name: string, inputs: readonly string[], terms: string): Kernel {
  const bindings = [...inputs, "found: array<u32>"].map(
    (input, j) => `@group(0) @binding(${j + 1}) var<storage, read> ${input};`,
  );
  return {
    name,
    writes: [...bindings.map(() => false), true],
    code: `${ARITHMETIC}
struct Params { first: u32, rows: u32, stride: u32, features: u32, words: u32, least: u32, scale: f32 }
@group(0) @binding(0) var<uniform> p: Params;
${bindings.join("\n")}
@group(0) @binding(${bindings.length + 1}) var<storage, read_write> exact: array<vec2<u32>>;
var<workgroup> lanes: array<Number, ${THREADS}>;
@compute @workgroup_size(${THREADS}) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) t: u32) {
  let r = g.y * ${MOST_GROUPS}u + g.x;
  if (r >= p.rows) { return; }
  let count = found[r * p.words];
  if (count < p.least || count >= p.words) { return; }
  let lane = t % 8u;
  for (var begin = 0u; begin < count; begin += ${PAIRS}u) {
    let j = begin + t / 8u;
    var sum = Number(0u, 0u, 0, 0u);
    if (j < count) {
      let f = found[r * p.words + 1u + j];
      ${terms}
    }
    lanes[t] = sum;
    workgroupBarrier();
    if (lane == 0u && j < count) {
      let even = add(add(lanes[t], lanes[t + 4u]), add(lanes[t + 2u], lanes[t + 6u]));
      let odd = add(add(lanes[t + 1u], lanes[t + 5u]), add(lanes[t + 3u], lanes[t + 7u]));
      exact[r * (p.words - 1u) + j] = bits_of(add(even, odd));
    }
    workgroupBarrier();
  }
}`,
  };
}

/** Dense rows and filters, both `stride` words apart. */
const DENSE = respondKernel(
  "respond",
  ["x: array<u32>", "w: array<f32>"],
  `for (var i = lane; i < p.features; i += 8u) {
        sum = add(sum, product(x[(p.first + r) * p.stride + i], u32(w[f * p.stride + i] * p.scale)));
      }`,
);

/** Sparse rows; the filters of a feature lie side by side, `stride` of them. */
const SPARSE = respondKernel(
  "respond sparse",
  ["spans: array<vec2<u32>>", "features: array<u32>", "values: array<u32>", "w: array<f32>"],
  `let span = spans[p.first + r];
      for (var e = span.x; e < span.y; e++) {
        let i = features[e];
        if (i % 8u == lane) { sum = add(sum, product(values[e], u32(w[i * p.stride + f] * p.scale))); }
      }`,
);

/** Candidates of rows, `words` a row, and where their responses (before the division by the norm) go: one float64 for each that there is room for. */
export interface Asked {
  readonly rows: number;
  readonly found: Room;
  readonly words: number;
  readonly exact: Room;
  /** Rows with fewer candidates are left out. */
  readonly least: number;
  /** A weight is what the device has times two to this power. */
  readonly power: number;
}

/** Adds to a job: responses of dense rows from `first` on; `stride`: bytes of a row and of a filter. */
export function respondDense(
  job: Job,
  x: { readonly room: Room; readonly first: number; readonly stride: number; readonly features: number },
  weights: Room,
  asked: Asked,
): Promise<void> {
  return run(job, DENSE, [x.room, weights], [x.first, x.stride / 4, x.features], asked);
}

/** Adds to a job: responses of sparse rows from `first` on; `filters`: those of a feature, with padding. */
export function respondSparse(
  job: Job,
  { spans, indices, values }: SparseRooms,
  first: number,
  weights: { readonly room: Room; readonly filters: number },
  asked: Asked,
): Promise<void> {
  return run(job, SPARSE, [spans, indices, values, weights.room], [first, weights.filters, 0], asked);
}

function run(
  job: Job,
  kernel: Kernel,
  rooms: readonly Room[],
  [first, stride, features]: readonly number[],
  { rows, found, words, exact, least, power }: Asked,
): Promise<void> {
  const scale = (power + 127) * 2 ** 23; // the bits of two to that power, as float32
  const params = [first, rows, stride, features, words, least, scale];
  return job.run(kernel, [...rooms, found, exact], params, Math.min(rows, MOST_GROUPS), Math.ceil(rows / MOST_GROUPS));
}
