/** The update step on sparse rows: the same filters as the reference, exception by exception. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Backend } from "../../src/backends/contract.ts";
import { openWasm } from "../../src/backends/wasm/backend.ts";
import { rankSums } from "../../src/kernels/rank-sums.ts";
import type { CsrRows, Groups, SparseBank } from "../../src/kernels/shapes.ts";
import { csr, csrRows, distribution, expectSame, someGroups } from "./csr-data.ts";
import { hold, rankSumsOn } from "./handles.ts";

let backends: Backend[];

beforeAll(async () => {
  backends = [
    await openWasm(),
    // Rows come in as needed, a few at a time; one group alone may be too large even for that.
    await openWasm({ cut: { blockBytes: 4000, parts: 2 } }),
    await openWasm({ cut: { blockBytes: 60, parts: 5 } }),
  ];
});

afterAll(async () => {
  for (const backend of backends) await backend.close();
});

async function expectFilters(
  x: CsrRows,
  groups: Groups,
  from?: Float64Array,
  on: readonly Backend[] = backends,
): Promise<SparseBank> {
  const expected = rankSums(x, groups, from) as SparseBank;
  for (const backend of on) {
    const held = await hold(backend, x);
    const found = (await rankSumsOn(held, groups, from)) as SparseBank;
    held.release();
    expect(found).toMatchObject({ form: "sparse", filters: expected.filters, features: expected.features });
    expect(found.weights.constructor).toBe(expected.weights.constructor);
    for (const part of ["base", "offsets", "indices", "weights", "norm"] as const) {
      expectSame(found[part], expected[part]);
    }
  }
  return expected;
}

describe("filters of groups of sparse rows", () => {
  for (const type of ["u8", "u16", "i16", "f32", "f64"] as const) {
    it(`${type}: sizes, ranks and distributions, with and without weights`, async () => {
      for (const [j, features] of [2, 3, 7, 8, 63, 64, 65, 300, 5000].entries()) {
        for (const flavour of ["small", "large", "signed", "fractions"] as const) {
          const x = csrRows(40, features, features > 1000 ? 0.01 : 0.2, type, flavour, j);
          for (const groups of [someGroups(40, 9, j), someGroups(40, 5, j, true), someGroups(40, 40, j)]) {
            await expectFilters(x, groups);
            await expectFilters(x, groups, distribution(features, j));
            await expectFilters(x, groups, distribution(features, j, -0.5));
          }
        }
      }
    });
  }

  it("32-bit ranks beyond 32,767 features", async () => {
    const x = csrRows(12, 40_000, 0.004, "u16", "small", 3);
    expect((await expectFilters(x, someGroups(12, 4, 1))).weights).toBeInstanceOf(Uint32Array);
  });

  it("lists a feature whose sum is zero, with the base weight", async () => {
    const x = csr(5, [0, 2, 4], [1, 3, 1, 4], Float64Array.of(2, 1, -2, 7));
    const bank = await expectFilters(x, { offsets: Uint32Array.of(0, 2), rows: Uint32Array.of(0, 1) });
    // Sums 0 0 0 1 7: three zeros share ranks 1 to 3, doubled 4.
    expect([...bank.indices]).toEqual([1, 3, 4]);
    expect([...bank.weights]).toEqual([4, 8, 10]);
    expect([...bank.base]).toEqual([4]);
  });

  it("knows the weight of zero where every feature is touched, and 0 where none is zero", async () => {
    const x = csr(3, [0, 3, 6], [0, 1, 2, 0, 1, 2], Int16Array.of(1, 0, 2, 1, 1, 2));
    const groups = { offsets: Uint32Array.of(0, 1, 2), rows: Uint32Array.of(0, 1) };
    const bank = await expectFilters(x, groups);
    expect([...bank.base]).toEqual([2, 0]);
  });

  it("a group without rows is all zeros", async () => {
    const x = csr(4, [0, 1], [2], Uint8Array.of(3));
    const groups = { offsets: Uint32Array.of(0, 0, 1, 1), rows: Uint32Array.of(0) };
    const bank = await expectFilters(x, groups);
    expect([...bank.base]).toEqual([5, 4, 5]);
    await expectFilters(x, groups, Float64Array.of(0.1, 0.2, 0.4, 0.8));
  });

  it("adds in the listed order, which decides how floats round", async () => {
    const values = Float64Array.of(1e16, 1, -1e16, 1);
    const x = csr(3, [0, 1, 2, 3, 4], [1, 1, 1, 1], values);
    for (const rows of [
      [0, 1, 2, 3],
      [0, 2, 1, 3],
      [3, 2, 1, 0],
    ]) {
      const groups = { offsets: Uint32Array.of(0, 4), rows: Uint32Array.from(rows) };
      const isAscending = rows.every((r, j) => r === j);
      // Blocks come in the order of the rows, and so do the rows of groups wherever the method makes them.
      await expectFilters(x, groups, undefined, isAscending ? backends : [backends[0]]);
    }
    const falling = { offsets: Uint32Array.of(0, 4), rows: Uint32Array.of(3, 2, 1, 0) };
    await expect(expectFilters(x, falling, undefined, [backends[2]])).rejects.toThrow(/ascending/);
  });
});
