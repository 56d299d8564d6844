/** The strongest filters of sparse rows on the WebAssembly back end: every answer is the reference's, bit for bit. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Backend } from "../../src/backends/backend.ts";
import { openWasm } from "../../src/backends/wasm/backend.ts";
import type { CsrRows, DenseRows, FilterBank, SparseBank, TopFilters } from "../../src/kernels/shapes.ts";
import { topFilters } from "../../src/kernels/top.ts";
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
  withNorms,
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

const everywhere = (): Backend[] => [backend, cramped];

async function expectTopFilters(x: CsrRows | DenseRows, bank: FilterBank, k: number, on: Backend[]): Promise<void> {
  const expected = topFilters(x, bank, k);
  for (const each of on) {
    const held = await each.hold(x);
    const { filter, response } = await held.topFilters(bank, k);
    const leaders = await held.leaders(bank);
    held.release();
    expectSame(filter, expected.filter);
    expectSame(response, expected.response);
    expectSame(
      leaders.filter,
      expected.filter.filter((_, j) => j % k === 0),
    );
  }
}

const TYPES: readonly ValueType[] = ["u8", "u16", "i16", "f32", "f64"];
const FLAVOURS: readonly Flavour[] = ["small", "large", "signed", "fractions"];
const SIZES = [2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 200];

describe("the strongest filters of sparse rows", () => {
  for (const type of TYPES) {
    for (const flavour of FLAVOURS) {
      it(`${type}, ${flavour}: sizes, forms of the bank, ranks and distributions`, async () => {
        for (const [j, features] of SIZES.entries()) {
          const x = csrRows(23, features, 0.3, type, flavour, j);
          for (const filters of [1, 2, 3, 5, 12]) {
            const k = 1 + ((j + filters) % filters);
            const ranks = trainedBank(x, filters, j + filters);
            const drawn = trainedBank(
              x,
              filters,
              j + filters,
              distribution(features, j, flavour === "signed" ? -1 : 0),
            );
            for (const bank of [ranks, drawn]) {
              await expectTopFilters(x, bank, k, everywhere());
              await expectTopFilters(x, denseBank(bank), k, everywhere());
            }
          }
        }
      });
    }
  }

  it("every k up to the number of filters", async () => {
    const filters = 70;
    for (const [type, flavour] of [
      ["u8", "small"],
      ["f64", "fractions"],
    ] as const) {
      const x = csrRows(60, 300, 0.1, type, flavour, 5);
      const bank = trainedBank(x, filters, 6);
      for (let k = 1; k <= filters; k += k < 5 || k > 30 ? 1 : 5) await expectTopFilters(x, bank, k, [backend]);
      await expectTopFilters(x, bank, filters, [cramped]);
      await expectTopFilters(x, denseBank(bank), 40, [cramped]);
    }
  });

  it("many filters, of which bounds leave few", async () => {
    for (const type of TYPES) {
      for (const flavour of FLAVOURS) {
        const x = csrRows(330, 400, 0.04, type, flavour, 14);
        // Most filters are of one row, so that some rows have a filter far stronger than all others.
        for (const bank of [trainedBank(x, 300, 2), trainedBank(x, 300, 2, distribution(400, 5, -0.2))]) {
          for (const k of [1, 2, 8, 9]) await expectTopFilters(x, bank, k, [backend]);
          await expectTopFilters(
            x,
            withNorms(bank, (f) => 1 + (f % 3)),
            2,
            [backend],
          );
        }
      }
    }
  });

  it("bounds leave most filters alone, and that is reported", async () => {
    for (const type of ["u8", "f32"] as const) {
      const x = csrRows(330, 400, 0.04, type, "small", 14);
      const held = await backend.hold(
        type === "u8" ? x : { ...x, values: x.values.map((value) => value / 3) as Float32Array },
      );
      await held.topFilters(trainedBank(x, 300, 2), 1);
      const { pairs, exact } = held.work();
      held.release();
      expect(pairs).toBe(330 * 300);
      expect(exact).toBeLessThan(pairs / 4);
    }
  });

  it("many filters that are all alike", async () => {
    const features = 40;
    for (const float of [false, true]) {
      const draw = draws(6);
      const filters = Array.from({ length: 300 }, () => ({
        base: 40,
        exceptions: [1, 5, 9, 20, 33].map(
          (i) => [i, 70 + (draw() < 0.02 ? 1 : 0) + (float ? draw() * 1e-13 : 0)] as const,
        ),
      }));
      const norms = filters.map(() => 1640);
      const bank = sparseBank(features, filters, float, norms);
      for (const type of ["u8", "i16", "f32"] as const) {
        const x = csrRows(40, features, 0.4, type, "signed", 22);
        for (const k of [1, 3]) await expectTopFilters(x, bank, k, [backend]);
      }
    }
  });

  it("norms that differ, and norms no index can work with", async () => {
    const norms: ((f: number) => number)[] = [
      (f) => 1 + f,
      (f) => 1 / (1 + ((f * 7) % 5)),
      (f) => (f % 2 ? 1e-60 : 1e60),
      (f) => (f % 3 ? 1 : 1e250),
      (f) => (f % 3 ? 1 : -2),
      (f) => (f === 2 ? Number.MIN_VALUE : 3),
    ];
    for (const type of ["u8", "f32"] as const) {
      const x = csrRows(40, 90, 0.2, type, "fractions", 9);
      const bank = trainedBank(x, 12, 4);
      for (const norm of norms) await expectTopFilters(x, withNorms(bank, norm), 3, everywhere());
    }
  });

  it("equal filters and equal rows: the lower number first", async () => {
    const features = 40;
    const one = [...Array(9).keys()].map((j) => [j * 4, 60 + j] as const);
    const bank = sparseBank(features, Array(30).fill({ base: 20, exceptions: one }));
    for (const type of ["u8", "i16", "f32", "f64"] as const) {
      const x = csrRows(20, features, 0.3, type, "fractions", 3);
      for (const k of [1, 2, 29, 30]) {
        await expectTopFilters(x, bank, k, everywhere());
        const { filter } = await (await backend.hold(x)).topFilters(bank, k);
        expect([...filter.subarray(0, k)]).toEqual([...Array(k).keys()]);
      }
    }
  });

  it("empty rows, rows of stored zeros, no rows, filters without exceptions", async () => {
    const x = csr(10, [0, 0, 3, 3, 5, 5], [0, 4, 9, 2, 3], Float64Array.of(0, 0, 0, 1.5, -2));
    const bank = sparseBank(10, [
      { base: 3, exceptions: [] },
      { base: 2, exceptions: [[3, 9]] },
      { base: 0, exceptions: [] },
      { base: 4, exceptions: [[0, 4]] },
    ]);
    for (const k of [1, 2, 3, 4]) await expectTopFilters(x, bank, k, everywhere());
    const none = csr(10, [0], [], new Uint8Array(0));
    for (const each of everywhere()) {
      const held = await each.hold(none);
      expect((await held.topFilters(bank, 2)).filter).toHaveLength(0);
      held.release();
    }
  });

  it("a slice whose offsets do not begin at 0", async () => {
    const all = csrRows(50, 64, 0.2, "u16", "small", 12);
    const bank = trainedBank(all, 9, 1);
    const slice = { ...all, rows: 20, offsets: all.offsets.subarray(13, 34) };
    await expectTopFilters(slice, bank, 2, everywhere());
  });

  it("floats that hold whole numbers, at and beyond what 32 and 53 bits hold", async () => {
    for (const size of [1, 2 ** 20, 2 ** 26, 2 ** 31, 2 ** 40, 2 ** 47, 2 ** 50, 2 ** 60]) {
      const draw = draws(size % 97);
      const values = Float64Array.from({ length: 120 }, () => Math.ceil(draw() * size) * (draw() < 0.5 ? 1 : -1));
      const x = csr(
        60,
        [...Array(11).keys()].map((r) => r * 12),
        [...Array(120).keys()].map((e) => (e % 12) * 5),
        values,
      );
      await expectTopFilters(x, trainedBank(x, 8, 2), 3, everywhere());
    }
  });

  it("differences at the rounding limit are decided in the defined order", async () => {
    const features = 64;
    const draw = draws(77);
    const centre = Array.from({ length: features }, () => 1 + draw());
    // Filters that differ by a few units in the last place, so that float32 scores cannot tell them apart.
    const filters = Array.from({ length: 40 }, () => ({
      base: 1,
      exceptions: centre.map((weight, i) => [i, weight * (1 + Math.floor(draw() * 5 - 2) * 2 ** -52)] as const),
    }));
    const bank = sparseBank(
      features,
      filters,
      true,
      filters.map(() => 100),
    );
    for (const type of ["f32", "f64", "u8"] as const) {
      const x = csrRows(50, features, 0.5, type, "fractions", 8);
      for (const k of [1, 2, 7, 40]) await expectTopFilters(x, bank, k, everywhere());
    }
  });

  it("values and weights near the ends of what float64 holds", async () => {
    const features = 24;
    for (const [value, weight] of [
      [1e-200, 1e-150],
      [5e-324, 1],
      [1e200, 1e90],
      [1e-300, 1e-3],
      [1e150, 1e-150],
      [1, 5e-324],
    ]) {
      const draw = draws(31);
      const values = Float64Array.from({ length: 60 }, () => value * draw());
      const x = csr(
        features,
        [0, 12, 24, 36, 48, 60],
        [...Array(60).keys()].map((e) => (e % 12) * 2),
        values,
      );
      const filters = Array.from({ length: 9 }, () => ({
        base: weight * draw(),
        exceptions: [0, 2, 4, 10, 22].map((i) => [i, weight * draw()] as const),
      }));
      const norms = filters.map(() => features);
      await expectTopFilters(x, sparseBank(features, filters, true, norms), 4, everywhere());
      await expectTopFilters(x, denseBank(sparseBank(features, filters, true, norms)), 4, everywhere());
    }
  });
});

describe("dense rows against a sparse bank", () => {
  it("answers as the reference does", async () => {
    for (const type of TYPES) {
      const sparse = csrRows(30, 50, 0.4, type, "fractions", 21);
      const values = sparse.values.slice(0, 0).constructor as new (length: number) => DenseRows["values"];
      const dense: DenseRows = { form: "dense", rows: 30, features: 50, values: new values(30 * 50) };
      for (let r = 0; r < 30; r++) {
        for (let e = sparse.offsets[r]; e < sparse.offsets[r + 1]; e++) {
          dense.values[r * 50 + sparse.indices[e]] = sparse.values[e];
        }
      }
      await expectTopFilters(dense, trainedBank(sparse, 7, 1), 3, everywhere());
      await expectTopFilters(dense, trainedBank(sparse, 7, 1, distribution(50, 2)), 3, everywhere());
    }
  });
});

describe("what is known of an earlier bank", () => {
  /** Some filters of `bank` replaced by those of another. */
  function changeSome(bank: SparseBank, other: SparseBank, changed: Uint8Array): SparseBank {
    const parts = Array.from(changed, (mark, f) => {
      const from = mark ? other : bank;
      const span = [from.offsets[f], from.offsets[f + 1]] as const;
      return { base: from.base[f], indices: from.indices.subarray(...span), weights: from.weights.subarray(...span) };
    });
    const offsets = new Uint32Array(bank.filters + 1);
    parts.forEach(({ indices }, f) => {
      offsets[f + 1] = offsets[f] + indices.length;
    });
    const weights = bank.weights.slice(0, 0).constructor as new (from: number[]) => SparseBank["weights"];
    return {
      ...bank,
      base: Float64Array.from(parts, ({ base }) => base),
      offsets,
      indices: Uint32Array.from(parts.flatMap(({ indices }) => [...indices])),
      weights: new weights(parts.flatMap((part) => [...part.weights])),
    };
  }

  it("never alters an answer", async () => {
    for (const [type, flavour] of [
      ["u8", "small"],
      ["i16", "signed"],
      ["f32", "fractions"],
      ["f64", "signed"],
    ] as const) {
      for (const [filters, share] of [
        [20, 0],
        [20, 0.05],
        [20, 0.3],
        [20, 0.5],
        [20, 0.8],
        [20, 1],
        [600, 0.01],
        [600, 0.2],
        [600, 0.47],
      ]) {
        const x = csrRows(filters > 100 ? 300 : 80, 120, 0.1, type, flavour, 40);
        const draw = draws(Math.round(share * 100) + 1);
        const first = trainedBank(x, filters, 1);
        const changed = Uint8Array.from({ length: filters }, () => (draw() < share ? 1 : 0));
        const second = changeSome(first, trainedBank(x, filters, 2), changed);
        const expected = topFilters(x, second, 1);
        for (const each of filters > 100 ? [backend] : everywhere()) {
          const held = await each.hold(x);
          const winners = (await held.topFilters(first, 1)) as TopFilters;
          const { filter, response } = await held.topFilters(second, 1, { winners, changed });
          held.release();
          expectSame(filter, expected.filter);
          expectSame(response, expected.response);
        }
      }
    }
  });

  it("decides ties between an unchanged winner and changed filters by the lower number", async () => {
    const x = csr(6, [0, 2, 4], [0, 1, 2, 3], Uint8Array.of(1, 1, 1, 1));
    const strong = { base: 1, exceptions: [[0, 5] as const, [1, 5] as const] };
    const weak = { base: 1, exceptions: [] };
    const first = sparseBank(6, [weak, weak, strong, weak, weak, weak]);
    const second = sparseBank(6, [strong, weak, strong, weak, weak, strong]);
    const held = await backend.hold(x);
    const winners = await held.topFilters(first, 1);
    expect([...winners.filter]).toEqual([2, 0]);
    const changed = Uint8Array.of(1, 0, 0, 0, 0, 1);
    const now = await held.topFilters(second, 1, { winners, changed });
    expect([...now.filter]).toEqual([0, 0]);
    held.release();
  });
});
