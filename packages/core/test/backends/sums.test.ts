/** Sums of groups of rows, on top of earlier ones, are those of the plain loops, bit by bit. */

import { afterAll, describe, expect, it } from "vitest";
import { openReference } from "../../src/backends/reference.ts";
import { openWasm } from "../../src/backends/wasm/backend.ts";
import { sourceOf } from "../../src/kernels/rows.ts";
import type { Groups, Sum, Values } from "../../src/kernels/shapes.ts";
import { drawBelow, drawUnit, generatorOf } from "../../src/random.ts";

const reference = openReference();
const wasm = openWasm();
afterAll(async () => (await wasm).close());

const types = [Uint8Array, Uint16Array, Int16Array, Float32Array, Float64Array] as const;

/** The largest numbers of each type among others: sums come close to what 16 and 32 bits hold. */
function rowsOf(Type: (typeof types)[number], rows: number, features: number) {
  const generator = generatorOf(5);
  const most = Type === Uint8Array ? 256 : 65_536;
  const shift = Type === Int16Array ? 32_768 : 0;
  const values = new Type(rows * features) as Values;
  for (let e = 0; e < values.length; e++) {
    const isMost = e % 3 === 0;
    if (Type === Float32Array || Type === Float64Array) values[e] = (drawUnit(generator) - 0.5) * 10 ** (e % 9);
    else values[e] = (isMost ? most - 1 : drawBelow(generator, most)) - shift;
  }
  return sourceOf({ form: "dense", rows, features, values });
}

/** Groups of very different sizes, one of none, rows in no order. */
function groupsOf(rows: number, sizes: readonly number[]): Groups {
  const generator = generatorOf(6);
  const offsets = new Uint32Array(sizes.length + 1);
  for (let g = 0; g < sizes.length; g++) offsets[g + 1] = offsets[g] + sizes[g];
  return { offsets, rows: Uint32Array.from({ length: offsets[sizes.length] }, () => drawBelow(generator, rows)) };
}

function ontoOf(count: number, features: number): { [name: string]: Sum[] } {
  const sums = (value: (i: number) => number): Sum[] =>
    Array.from({ length: count }, () => ({ values: Float64Array.from({ length: features }, (_, i) => value(i)) }));
  const sparse = { indices: Uint32Array.of(1, features - 1), values: Float64Array.of(3.5, -2) };
  return {
    whole: sums((i) => i * 1e9),
    fractions: sums((i) => i / 3),
    "beyond exact": sums(() => 2 ** 53 + 2),
    "one not whole": sums((i) => (i === features - 1 ? 0.1 : i)),
    "negative zeros": sums(() => -0),
    sparse: Array.from({ length: count }, () => sparse),
  };
}

async function both(x: ReturnType<typeof rowsOf>, groups: Groups, onto?: readonly Sum[]): Promise<[Sum[], Sum[]]> {
  const found: Sum[][] = [];
  for (const backend of [await wasm, reference]) {
    const held = await backend.hold(x);
    found.push(await held.sum(groups, onto));
    held.release();
  }
  return [found[0], found[1]];
}

describe.each(types.map((Type) => [Type.name, Type] as const))("%s", (_, Type) => {
  it.each([5, 8, 33])("%i features", async (features) => {
    const x = rowsOf(Type, 700, features);
    const groups = groupsOf(700, [1, 0, 256, 257, 258, 514, 3, 2000]);
    const [found, expected] = await both(x, groups);
    expect(found).toEqual(expected);
    const weight = Float64Array.from(groups.rows, (r) => 1 / (1 + (r % 7)));
    for (const onto of Object.values(ontoOf(8, features))) {
      for (const own of [groups, { ...groups, weight }]) {
        const [a, b] = await both(x, own, onto);
        expect(a).toEqual(b); // tells zeros by their signs
      }
    }
  });
});

it.each([32_767, 32_768, 32_769, 70_000])("adds up a group of %i rows of the largest numbers", async (size) => {
  const features = 3;
  for (const value of [65_535, 40_000]) {
    const values = new Uint16Array(10 * features).fill(value);
    const [found, expected] = await both(
      sourceOf({ form: "dense", rows: 10, features, values }),
      groupsOf(10, [4, size, 5]),
    );
    expect(found).toEqual(expected);
  }
});
