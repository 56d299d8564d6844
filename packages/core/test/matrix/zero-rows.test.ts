/** Rows that are all zero, wherever in a row a value may stand. */

import { expect, it } from "vitest";
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
