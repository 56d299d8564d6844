/**
 * Products by matrices that a subgroup multiplies at once: 16 x 32 and 32 x 16 bytes, 32 threads. Rows and filters come to
 * workgroup memory 64 bytes at a time, the next ones while these are multiplied.
 */

import { HEAD, type Multiply, PRODUCTS, WINNERS } from "./multiply.ts";

/** Rows and filters of a tile, and of a subgroup. Measured on an H200; see the README. */
const TILE = 128;
const OWN = 64;
const ACROSS = TILE / OWN;
const SUBGROUPS = ACROSS * ACROSS;
const THREADS = 32 * SUBGROUPS;
/** Matrices of a subgroup, down and across. */
const SIDE = OWN / 16;
/** Elements of 16 bytes of a row in workgroup memory: those of a step, and one more, so that rows lie in different banks. */
const QUADS = 4;
const STRIDE = QUADS + 1;
/** Elements that a thread brings of the rows, and of the filters, in a step. */
const BRING = (TILE * QUADS) / THREADS;
/** Elements of a row of products of a subgroup, 16 rows at a time: two more than they need, likewise. */
const STRIP = OWN / 4 + 2;

const each = (count: number, text: (j: number) => string): string =>
  Array.from({ length: count }, (_, j) => text(j)).join(" ");
const all = (text: (a: number, b: number) => string): string =>
  each(SIDE * SIDE, (q) => text(Math.floor(q / SIDE), q % SIDE));

/** Which row of the tile, and which element of the step, a thread's j-th is. */
const item = (j: number): string => `(t + ${j * THREADS}u) / ${QUADS}u`;
const part = (j: number): string => `(t + ${j * THREADS}u) % ${QUADS}u`;
const fetch = (into: string, from: string, base: string): string =>
  each(BRING, (j) => `${into}${j} = ${from}[${base} + (${item(j)}) * quads + at + ${part(j)}];`);
const put = (base: number, from: string): string =>
  each(BRING, (j) => `s[${base}u + (${item(j)}) * ${STRIDE}u + ${part(j)}] = ${from}${j};`);

const STORE = all(
  (a, b) =>
    `subgroupMatrixStore<row_major>(&products, (g.y * ${TILE}u + y0 + ${a * 16}u) * p.filters + g.x * ${TILE}u + f0 + ${b * 16}u, c${a}_${b}, p.filters);`,
);

/**
 * Sixteen rows at a time go to workgroup memory; two threads look through a row, each at every other four of its products, filters
 * ascending. Products count from 1 here (they are below 2^32 - 1, see `bank.ts`), so that 0 is none; `second` is as large as
 * `best` if two filters have the same.
 */
const BEST = each(
  SIDE,
  (a) => `{
    workgroupBarrier();
    ${each(SIDE, (b) => `subgroupMatrixStore<row_major>(&s, sg * ${16 * STRIP}u + ${b * 4}u, c${a}_${b}, ${STRIP}u);`)}
    workgroupBarrier();
    var best = 0u;
    var second = 0u;
    var id = NONE;
    for (var q = lane % 2u; q < ${OWN / 4}u; q += 2u) {
      let four = s[sg * ${16 * STRIP}u + (lane / 2u) * ${STRIP}u + q];
      let f = g.x * ${TILE}u + f0 + q * 4u;
      ${["x", "y", "z", "w"]
        .map(
          (c, i) => `{
        let v = select(0u, four.${c} + 1u, f + ${i}u < p.real);
        second = max(second, min(v, best));
        if (v > best) { best = v; id = f + ${i}u; }
      }`,
        )
        .join(" ")}
    }
    let own = vec2<u32>(best - 1u, select(id, id | TIED, second == best));
    let other = vec2<u32>(subgroupShuffleXor(own.x, 1u), subgroupShuffleXor(own.y, 1u));
    if (lane % 2u == 0u) {
      winners[(g.x * ${ACROSS}u + sg % ${ACROSS}u) * p.rows + g.y * ${TILE}u + y0 + ${a * 16}u + lane / 2u] = stronger(own, other);
    }
  }`,
);

// The masks change nothing; they tell the compiler how far an index goes, which saves it checks.
const code = (declared: string, end: string): string => `diagnostic(off, chromium.subgroup_matrix_uniformity);
diagnostic(off, subgroup_uniformity);
enable subgroups;
enable chromium_experimental_subgroup_matrix;${HEAD}${declared}
var<workgroup> s: array<vec4<u32>, ${2 * TILE * STRIDE}>;
@compute @workgroup_size(${THREADS}) fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) thread: u32, @builtin(subgroup_id) subgroup: u32, @builtin(subgroup_invocation_id) lane: u32) {
  let t = thread & ${THREADS - 1}u;
  let sg = subgroup & ${SUBGROUPS - 1}u;
  let quads = p.words / 4u;
  let steps = quads / ${QUADS}u;
  let total = steps * p.planes;
  let row = (p.first + g.y * ${TILE}u) * quads;
  let start = ((2u - p.planes) * p.filters + g.x * ${TILE}u) * quads;
  let y0 = (sg / ${ACROSS}u) * ${OWN}u;
  let f0 = (sg % ${ACROSS}u) * ${OWN}u;
  ${all((a, b) => `var c${a}_${b} = subgroup_matrix_result<u32, 16, 16>();`)}
  ${each(BRING, (j) => `var a${j}: vec4<u32>; var b${j}: vec4<u32>;`)}
  { let at = 0u; ${fetch("a", "x", "row")} ${fetch("b", "w", "start")} }
  for (var st = 0u; st < total; st++) {
    workgroupBarrier();
    ${put(0, "a")} ${put(TILE * STRIDE, "b")}
    workgroupBarrier();
    if (st + 1u < total) {
      let at = ((st + 1u) % steps) * ${QUADS}u;
      let filter_at = start + select(0u, p.filters * quads, st + 1u >= steps);
      ${fetch("a", "x", "row")} ${fetch("b", "w", "filter_at")}
    }
    if (st == steps) { ${all((a, b) => `c${a}_${b} = subgroupMatrixScalarMultiply(c${a}_${b}, 256u);`)} }
    ${each(
      QUADS / 2,
      (k) => `{
      ${each(SIDE, (a) => `let x${a} = subgroupMatrixLoad<subgroup_matrix_left<u8, 32, 16>, row_major>(&s, (y0 + ${a * 16}u) * ${STRIDE}u + ${k * 2}u, ${STRIDE}u);`)}
      ${each(SIDE, (b) => `{ let v = subgroupMatrixLoad<subgroup_matrix_right<u8, 16, 32>, col_major>(&s, ${TILE * STRIDE}u + (f0 + ${b * 16}u) * ${STRIDE}u + ${k * 2}u, ${STRIDE}u); ${each(SIDE, (a) => `c${a}_${b} = subgroupMatrixMultiplyAccumulate(x${a}, v, c${a}_${b});`)} }`)}
    }`,
    )}
  }
  ${end}
}`;

const writes = [false, false, true];

export const MATRICES: Multiply = {
  name: "matrices",
  products: { name: "multiply matrices", code: code(PRODUCTS, STORE), writes },
  winners: { name: "winners matrices", code: code(WINNERS, BEST), writes },
  tileRows: TILE,
  tileFilters: TILE,
  parts: ACROSS,
};
