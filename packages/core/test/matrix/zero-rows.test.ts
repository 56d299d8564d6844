/** Rows that are all zero, wherever in a row a value may stand. */

import { expect, it } from "vitest";
import type { CsrRows, RowSource } from "../../src/kernels/shapes.ts";
import { Csr } from "../../src/matrix/csr.ts";
import { Dense } from "../../src/matrix/dense.ts";
import { zeroRows } from "../../src/matrix/source.ts";

it.each([1, 2, 5, 8])("finds a value at any of %d places", async (features) => {
  // Row r has its one value at place r; the last row has none.
  const values = new Uint8Array((features + 1) * features);
  for (let r = 0; r < features; r++) values[r * features + r] = 3;
  const expected = Uint8Array.from({ length: features + 1 }, (_, r) => (r === features ? 1 : 0));
  expect(await zeroRows(Dense.of(values, features + 1, features))).toEqual(expected);
  const sets = Array.from({ length: features + 1 }, (_, r) => (r === features ? [] : [[r, 1] as const]));
  expect(await zeroRows(Csr.fromRows(sets, features))).toEqual(expected);
});

it("finds rows of zeros beyond 2^31 entries", async () => {
  // As many entries as a test cannot hold: all but those of row 1 are 1.
  const from = 2 ** 31 + 10;
  const values = new Proxy({}, { get: (_, at) => (Number(at) >= from + 3 && Number(at) < from + 5 ? 0 : 1) });
  const offsets = Uint32Array.of(from, from + 3, from + 5, from + 5, from + 6);
  const block = { form: "csr", rows: 4, features: 9, offsets, indices: new Uint32Array(0), values } as CsrRows;
  const source = {
    rows: 4,
    blocks: async function* () {
      yield block;
    },
  } as unknown as RowSource;
  expect(await zeroRows(source)).toEqual(Uint8Array.of(0, 1, 1, 0));
});
