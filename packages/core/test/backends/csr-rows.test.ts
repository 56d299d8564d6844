/** The strongest rows of filters of sparse data on the WebAssembly back end: every answer is the reference's, bit for bit. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Backend } from "../../src/backends/contract.ts";
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
import { hold, meanResponses, topRowsOn } from "./handles.ts";

let backend: Backend;
/** Everything goes in small blocks: rows, filters, answers. */
let cramped: Backend;

beforeAll(async () => {
  backend = await openWasm();
  cramped = await openWasm({ cut: { blockBytes: 700, parts: 3 }, answerBytes: 100 });
});

afterAll(async () => {
  await backend.close();
  await cramped.close();
});

const TYPES: readonly ValueType[] = ["u8", "u16", "i16", "f32", "f64"];
const FLAVOURS: readonly Flavour[] = ["small", "large", "signed", "fractions"];

const everywhere = (): Backend[] => [backend, cramped];

async function expectTopRows(x: CsrRows, bank: FilterBank, filters: Uint32Array, k: number) {
  const expected = topRows(x, bank, filters, k, meanResponses(x, bank));
  for (const each of everywhere()) {
    const held = await hold(each, x);
    const { row, value } = await topRowsOn(held, bank, filters, k);
    held.release();
    expectSame(row, expected.row);
    expectSame(value, expected.value);
  }
}

describe("the strongest rows of filters of sparse data", () => {
  for (const type of TYPES) {
    it(`${type}: forms of the bank, k`, async () => {
      for (const flavour of FLAVOURS) {
        const x = csrRows(70, 80, 0.2, type, flavour, 17);
        const bank = trainedBank(x, 15, 3);
        const drawn = trainedBank(x, 15, 3, distribution(80, 1));
        for (const asked of [[4], [1, 14], [0, 3, 4, 5, 9, 11, 14], [...Array(15).keys()]]) {
          for (const k of [1, 5, 40, 70]) {
            for (const each of [bank, drawn, denseBank(bank)]) {
              await expectTopRows(x, each, Uint32Array.from(asked), k);
            }
          }
        }
      }
    });
  }

  it("more rows than one piece, mean responses of any size and sign", async () => {
    for (const [type, flavour, powers] of [
      ["u8", "small", [0]],
      ["i16", "signed", [0]],
      ["f32", "fractions", [0, 30]],
      ["f64", "signed", [0, 40, 250, 300]],
    ] as const) {
      const plain = csrRows(1500, 60, 0.1, type, flavour, 2);
      const bank = trainedBank(plain, 6, 1);
      const draw = draws(11);
      for (const power of powers) {
        const values = plain.values.slice();
        for (let r = 0; r < plain.rows; r++) {
          const factor = 10 ** Math.round((draw() - 0.5) * 2 * power);
          for (let e = plain.offsets[r]; e < plain.offsets[r + 1]; e++) values[e] *= factor;
        }
        const x = { ...plain, values };
        const divisors = meanResponses(x, bank);
        expect(divisors.includes(0)).toBe(true);
        expect(Math.max(...divisors)).toBeGreaterThan(10 ** (power - 1));
        for (const k of [1, 5, 33]) await expectTopRows(x, bank, Uint32Array.of(0, 2, 3, 5), k);
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
    const held = await hold(backend, x);
    const { row } = await topRowsOn(held, bank, Uint32Array.of(0, 1, 2), 4);
    expect([...row]).toEqual([0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
    held.release();
  });
});
