/** The index of a sparse bank is made slice by slice, and is the same however it is cut. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { type Engine, openEngine } from "../../src/backends/wasm/engine/engine.ts";
import { borrowed } from "../../src/backends/wasm/engine/memory.ts";
import { loadCsrBank } from "../../src/backends/wasm/sparse/bank.ts";
import { makeIndex } from "../../src/backends/wasm/sparse/inverted-index.ts";
import * as slot from "../../src/backends/wasm/sparse/slots.ts";
import { numbersBelow } from "../../src/kernels/rows.ts";
import type { SparseBank } from "../../src/kernels/shapes.ts";
import { csrRows, distribution, trainedBank } from "./csr-data.ts";

let engine: Engine;

beforeAll(async () => {
  engine = await openEngine();
});

afterAll(() => engine.close());

/** Everything that searches read of an index, as bytes. */
function indexOf(on: Engine, bank: SparseBank, kind: { whole: boolean; byNorm: boolean }): Promise<number[][]> {
  return borrowed(engine.memory, async (lease) => {
    const loaded = await loadCsrBank(on, lease, bank);
    const slots = new Map((await makeIndex(on, lease, loaded, numbersBelow(loaded.filters), kind)).slots);
    const at = (slot: number): number => slots.get(slot) ?? 0;
    const read = (slot: number, bytes: number): number[] =>
      at(slot) === 0 ? [] : [...engine.memory.u8(at(slot), bytes)];
    const starts = engine.memory.u32(at(slot.TABLE), bank.features * 2);
    let postings = 0;
    for (let i = 1; i < starts.length; i += 2) if (starts[i] < 2 ** 31) postings += starts[i];
    const column = at(slot.ROOM) * 4;
    return [
      read(slot.TABLE, bank.features * 8),
      read(slot.COLUMNS, at(slot.COLUMN_COUNT) * column),
      read(slot.COLUMN_EXCEPTIONS, at(slot.COLUMN_COUNT) * column),
      read(slot.COLUMN_BOUNDS, at(slot.COLUMN_COUNT) * 8),
      read(slot.POSTINGS, postings * 8),
      read(slot.POSTING_EXCEPTIONS, postings * 4),
    ];
  });
}

it("is the same however it is cut", async () => {
  const x = csrRows(400, 300, 0.03, "u8", "small", 1);
  const whole: Engine = {
    ...engine,
    inOrder: (kernel, items, _, bytes, context) => engine.once(kernel, items, bytes, context),
  };
  for (const from of [undefined, distribution(300, 2)]) {
    const bank = trainedBank(x, 60, 3, from);
    for (const kind of [
      { whole: from === undefined, byNorm: true },
      { whole: false, byNorm: false },
    ]) {
      const expected = await indexOf(whole, bank, kind);
      expect(expected[1].length).toBeGreaterThan(0); // columns
      expect(expected[4].length).toBeGreaterThan(0); // postings
      for (const piece of [1, 7, 32]) {
        const cut: Engine = {
          ...engine,
          run: (kernel, items, _, bytes, context) => engine.run(kernel, items, piece, bytes, context),
          inOrder: (kernel, items, _, bytes, context) => engine.inOrder(kernel, items, piece, bytes, context),
        };
        expect(await indexOf(cut, bank, kind)).toEqual(expected);
      }
    }
  }
});

it("is made in many calls of a kernel where there are many exceptions", async () => {
  const [filters, each] = [100, 20_000];
  const bank: SparseBank = {
    form: "sparse",
    filters,
    features: each,
    base: new Float64Array(filters),
    offsets: Uint32Array.from({ length: filters + 1 }, (_, f) => f * each),
    indices: Uint32Array.from({ length: filters * each }, (_, e) => e % each),
    weights: new Uint16Array(filters * each).fill(2),
    norm: new Float64Array(filters).fill(1),
  };
  const pieces: number[] = [];
  const watched: Engine = {
    ...engine,
    inOrder: (kernel, items, piece, bytes, context) => {
      pieces.push(piece);
      return engine.inOrder(kernel, items, piece, bytes, context);
    },
  };
  await borrowed(engine.memory, async (lease) => {
    const loaded = await loadCsrBank(watched, lease, bank);
    await makeIndex(watched, lease, loaded, numbersBelow(loaded.filters), { whole: true, byNorm: true });
  });
  // About a million exceptions at a time, so that a call takes some milliseconds.
  expect(pieces).toEqual([52, 52]);
});
