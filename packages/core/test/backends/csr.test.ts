/** The strongest filters of sparse rows on the WebAssembly back end: every answer is the reference's, bit for bit. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Backend } from "../../src/backends/contract.ts";
import { openWasm } from "../../src/backends/wasm/backend.ts";
import { pickFilters } from "../../src/kernels/pick-filters.ts";
import type { CsrRows, DenseRows, FilterBank } from "../../src/kernels/shapes.ts";
import { topFilters } from "../../src/kernels/top.ts";
import { isFull } from "../tier.ts";
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
import { expectAssigned, hold, leadersOn, topFiltersOn } from "./handles.ts";

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

const everywhere = (): Backend[] => [backend, cramped];

async function expectTopFilters(x: CsrRows | DenseRows, bank: FilterBank, k: number, on: Backend[]): Promise<void> {
  const expected = topFilters(x, bank, k);
  for (const each of on) {
    const held = await hold(each, x);
    const { filter, response } = await topFiltersOn(held, bank, k);
    const leaders = await leadersOn(held, bank);
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
const SIZES = isFull ? [2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 200] : [2, 7, 8, 9, 33, 200];

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
      const held = await hold(
        backend,
        type === "u8" ? x : { ...x, values: x.values.map((value) => value / 3) as Float32Array },
      );
      await topFiltersOn(held, trainedBank(x, 300, 2), 1);
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
        const held = await hold(backend, x);
        const { filter } = await topFiltersOn(held, bank, k);
        held.release();
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
      const held = await hold(each, none);
      expect((await topFiltersOn(held, bank, 2)).filter).toHaveLength(0);
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
  const marked = (changed: Uint8Array): Uint32Array => Uint32Array.from(changed.keys()).filter((f) => changed[f] === 1);

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
        const fresh = pickFilters(trainedBank(x, filters, 2), marked(changed));
        for (const each of filters > 100 ? [backend] : everywhere()) {
          const held = await hold(each, x);
          const [start, by] = [held.load(first), held.load(fresh)];
          const second = await start.replace(marked(changed), by);
          const before = await held.assign(start);
          expectSame(before.winners, topFilters(x, first, 1).filter);
          await expectAssigned(held, x, second, before);
          for (const handle of [held, start, by, second]) handle.release();
        }
      }
    }
  });

  it("decides ties between an unchanged winner and changed filters by the lower number", async () => {
    const x = csr(6, [0, 2, 4], [0, 1, 2, 3], Uint8Array.of(1, 1, 1, 1));
    const strong = { base: 1, exceptions: [[0, 5] as const, [1, 5] as const] };
    const weak = { base: 1, exceptions: [] };
    const held = await hold(backend, x);
    const first = held.load(sparseBank(6, [weak, weak, strong, weak, weak, weak]));
    const before = await held.assign(first);
    expect([...before.winners]).toEqual([2, 0]);
    const second = await first.replace(Uint32Array.of(0, 5), held.load(sparseBank(6, [strong, strong])));
    const now = await held.assign(second, before);
    expect([...now.winners]).toEqual([0, 0]);
    held.release();
  });
});
