/** The strongest rows of filters of sparse data on the WebAssembly back end: every answer is the reference's, bit for bit. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Backend } from "../../src/backends/backend.ts";
import { openWasm } from "../../src/backends/wasm/backend.ts";
import type { CsrRows, FilterBank } from "../../src/kernels/shapes.ts";
import { topRows } from "../../src/kernels/top.ts";
import {
  csr,
  csrRows,
  denseBank,
  distribution,
  draws,
  expectSame,
  type Flavour,
  sparseBank,
  trainedBank,
  type ValueType,
} from "./csr-data.ts";

let backend: Backend;
/** Everything goes in small blocks: rows, filters, answers. */
let cramped: Backend;

beforeAll(async () => {
  backend = await openWasm();
  cramped = await openWasm({ residentBytes: 0, blockBytes: 700, bankBytes: 3000 });
});

afterAll(async () => {
  await backend.close();
  await cramped.close();
});

const TYPES: readonly ValueType[] = ["u8", "u16", "i16", "f32", "f64"];
const FLAVOURS: readonly Flavour[] = ["small", "large", "signed", "fractions"];

const everywhere = (): Backend[] => [backend, cramped];

async function expectTopRows(x: CsrRows, bank: FilterBank, filters: Uint32Array, k: number, divisor: Float64Array) {
  const expected = topRows(x, bank, filters, k, divisor);
  for (const each of everywhere()) {
    const held = await each.hold(x);
    const { row, value } = await held.topRows(bank, filters, k, divisor);
    held.release();
    expectSame(row, expected.row);
    expectSame(value, expected.value);
  }
}

describe("the strongest rows of filters of sparse data", () => {
  for (const type of TYPES) {
    it(`${type}: forms of the bank, divisors, k`, async () => {
      for (const flavour of FLAVOURS) {
        const x = csrRows(70, 80, 0.2, type, flavour, 17);
        const draw = draws(4);
        const divisor = Float64Array.from({ length: x.rows }, () =>
          draw() < 0.1 ? 0 : draw() - (draw() < 0.2 ? 1 : 0),
        );
        const bank = trainedBank(x, 15, 3);
        const drawn = trainedBank(x, 15, 3, distribution(80, 1));
        for (const asked of [[4], [1, 14], [0, 3, 4, 5, 9, 11, 14], [...Array(15).keys()]]) {
          for (const k of [1, 5, 40, 70]) {
            for (const each of [bank, drawn, denseBank(bank)]) {
              await expectTopRows(x, each, Uint32Array.from(asked), k, divisor);
            }
          }
        }
      }
    });
  }

  it("more rows than one piece, divisors of any size", async () => {
    for (const [type, flavour] of [
      ["u8", "small"],
      ["f32", "fractions"],
    ] as const) {
      const x = csrRows(1500, 60, 0.1, type, flavour, 2);
      const bank = trainedBank(x, 6, 1);
      const draw = draws(11);
      for (const power of [0, 40, 250, 305]) {
        const divisor = Float64Array.from({ length: x.rows }, () => 10 ** Math.round((draw() - 0.5) * 2 * power));
        for (const k of [1, 5, 33]) await expectTopRows(x, bank, Uint32Array.of(0, 2, 3, 5), k, divisor);
      }
    }
  });

  it("equal values go to the lower row", async () => {
    const x = csr(8, [0, 1, 2, 3, 4, 5, 6], [3, 3, 3, 3, 3, 3], new Uint8Array(6).fill(2));
    const bank = sparseBank(8, [
      { base: 1, exceptions: [[3, 7]] },
      { base: 2, exceptions: [] },
      { base: 2, exceptions: [[3, 1]] },
    ]);
    const held = await backend.hold(x);
    const { row } = await held.topRows(bank, Uint32Array.of(0, 1, 2), 4, new Float64Array(6).fill(2));
    expect([...row]).toEqual([0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
    held.release();
  });
});
