/** Updates of refinement: the plain loops against a statement by hand, and every back end against the plain loops, bit for bit. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Backend, Refining } from "../../src/backends/contract.ts";
import { openBackend } from "../../src/backends/open.ts";
import { openReference } from "../../src/backends/reference.ts";
import { backendOn, openWasm } from "../../src/backends/wasm/backend.ts";
import { openEngine } from "../../src/backends/wasm/engine/engine.ts";
import type { DenseBank, Listed, Prototypes, RefineBatch, Rows } from "../../src/kernels/shapes.ts";
import { Adder } from "../../src/kernels/sums.ts";
import { csrRows, draws, expectSame, type ValueType } from "./csr-data.ts";
import { denseRows, someGroups } from "./dense-data.ts";
import { hold, readAndRelease } from "./handles.ts";

const TYPES: readonly ValueType[] = ["u8", "u16", "i16", "f32", "f64"];
const AWKWARD = [2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64];
const CLASSES = 3;

let backends: Backend[];

beforeAll(async () => {
  const threads = [1, 2, 3, 4].map((count) => openBackend("threads", { threads: count }));
  const cramped = openWasm({ cut: { blockBytes: 3000, parts: 3 } });
  backends = await Promise.all([openWasm(), cramped, ...threads]);
});

afterAll(async () => {
  for (const backend of backends) await backend.close();
});

function prototypes(x: Rows, filters: number, seed: number, changes: Partial<Prototypes> = {}): Prototypes {
  const n = x.features;
  const groups = someGroups(filters, x.rows, seed);
  const values = new Float64Array(filters * n);
  const adder = new Adder(n);
  for (let f = 0; f < filters; f++) {
    for (let e = groups.offsets[f]; e < groups.offsets[f + 1]; e++) adder.addRow(x, groups.rows[e]);
    const { indices, values: sum } = adder.take();
    sum.forEach((value, e) => {
      values[f * n + (indices ? indices[e] : e)] = value;
    });
  }
  const filterClass = Uint32Array.from({ length: filters }, (_, f) => f % CLASSES);
  return { filters, features: n, values, filterClass, rule: "add", distribution: undefined, ...changes };
}

/** A batch and the filters that are listed before it. */
type ListedBatch = RefineBatch & { readonly listed: Listed };

function batch(x: Rows, filters: number, k: number, seed: number, changes: Partial<RefineBatch> = {}): ListedBatch {
  const draw = draws(seed);
  const rows = Uint32Array.from({ length: x.rows }, (_, r) => r).filter(() => draw() < 0.7);
  const codes = Uint32Array.from({ length: x.rows }, (_, r) => (r * 7) % CLASSES);
  const lists = Uint32Array.from({ length: x.rows * k }, () => Math.floor(draw() * filters));
  const listed = { codes, filters: lists, k };
  return { rows, listed, step: 3, window: 0.2, patience: 1 + (seed % 3), ...changes };
}

/** A copy of the filters as they now are. */
async function bankOf(refining: Refining): Promise<DenseBank> {
  return (await readAndRelease(await refining.bank())) as DenseBank;
}

async function expectSameUpdates(
  on: Backend,
  x: Rows,
  start: Prototypes,
  batches: readonly ListedBatch[],
): Promise<void> {
  const [held, plain] = [await hold(on, x), await hold(openReference(), x)];
  const [found, expected] = [await held.refine(start), await plain.refine(start)];
  for (const each of [undefined, ...batches]) {
    if (each) {
      for (const refining of [found, expected]) refining.list(each.listed);
      const [answer, right] = [await found.update(each), await expected.update(each)];
      expectSame(answer.margin, right.margin);
      expectSame(answer.own, right.own);
      expectSame(answer.rival, right.rival);
    }
    expectSame(await found.values(), await expected.values());
    const [bank, other] = [await bankOf(found), await bankOf(expected)];
    expect(bank.weights.constructor).toBe(other.weights.constructor);
    expectSame(bank.weights, other.weights);
    expectSame(bank.norm, other.norm);
  }
  found.release();
  found.release();
  held.release();
}

const curve = (features: number): Float64Array => Float64Array.from({ length: features }, (_, i) => 0.5 + 0.37 * i * i);

describe.each(TYPES)("%s", (type) => {
  it("same updates on every back end, awkward sizes", async () => {
    for (const features of AWKWARD) {
      for (const [rows, filters, k] of [
        [1, 2, 1],
        [9, 5, 4],
        [40, 17, 6],
      ]) {
        const x = denseRows(type, rows, features, features % 2 === 0 ? "few" : "noise", features * rows);
        for (const distribution of [undefined, curve(features)]) {
          const start = prototypes(x, filters, features, { distribution });
          const batches = [1, 2, 3].map((seed) => batch(x, filters, k, seed));
          for (const on of backends.slice(0, 3)) await expectSameUpdates(on, x, start, batches);
        }
      }
    }
  });

  it("same updates on 1 to 4 threads", async () => {
    const x = denseRows(type, 700, 61, "factors", 5);
    const start = prototypes(x, 90, 6);
    const batches = [1, 2, 3].map((seed) => batch(x, 90, 5, seed, { window: 0.01, step: 0.25 }));
    for (const on of backends) await expectSameUpdates(on, x, start, batches);
  });

  it("values at the ends of their type, where narrow sums would overflow", async () => {
    const x = denseRows(type, 60, 260, "noise", 41);
    const [low, high] = { u8: [0, 255], u16: [0, 65_535], i16: [-32_768, 32_767], f32: [-1e30, 1e30], f64: [0, 1e60] }[
      type
    ];
    for (let j = 0; j < x.values.length; j++) x.values[j] = j % 3 === 0 ? low : high;
    await expectSameUpdates(backends[0], x, prototypes(x, 20, 42), [batch(x, 20, 5, 43, { window: 2 })]);
  });

  it("sparse rows, by both rules", async () => {
    const x = csrRows(50, 40, 0.2, type, "small", 9);
    for (const rule of ["add", "multiply"] as const) {
      const sums = prototypes(x, 12, 4);
      const start = { ...sums, rule, values: sums.values.map((value) => value + 0.5) };
      for (const on of backends.slice(0, 3)) {
        await expectSameUpdates(on, x, start, [batch(x, 12, 4, 5), batch(x, 12, 4, 6)]);
      }
    }
  });
});

describe("an update", () => {
  // Three features, one filter for each of two classes: P = (1, 2, 3) and (3, 2, 1), so doubled ranks (2, 4, 6) and (6, 4, 2).
  const x: Rows = { form: "dense", rows: 2, features: 3, values: Uint8Array.of(5, 0, 1, 1, 0, 9) };
  const start: Prototypes = {
    filters: 2,
    features: 3,
    values: Float64Array.of(1, 2, 3, 3, 2, 1),
    filterClass: Uint32Array.of(0, 1),
    rule: "add",
    distribution: undefined,
  };
  const listed: Listed = { codes: Uint32Array.of(0, 0), filters: Uint32Array.of(0, 1, 1, 0), k: 2 };
  const both: RefineBatch = { rows: Uint32Array.of(0, 1), step: 2, window: 0, patience: 1 };

  it("moves a row's own filter to it and the stronger rival away", async () => {
    const refining = await (await hold(openReference(), x)).refine(start);
    refining.list(listed);
    // Row 0 answers 16 and 32 (over 12): it is lost by 16/48. Row 1 answers 56 and 24: it is won by 32/80.
    const { own, rival, margin } = await refining.update(both);
    expect([...margin]).toEqual([-1 / 3, 0.4]);
    expect([[...own], [...rival]]).toEqual([
      [0, 0],
      [1, 1],
    ]);
    expect([...(await refining.values())]).toEqual([11, 2, 5, -7, 2, -1]);
    expect([...(await bankOf(refining)).weights]).toEqual([6, 2, 4, 2, 6, 4]);
    expect([...(await bankOf(refining)).norm]).toEqual([12, 12]);
  });

  it("ranks a prototype when it has moved often enough, and one that waits in a batch without rows", async () => {
    for (const on of [openReference(), backends[0]]) {
      const refining = await (await hold(on, x)).refine(start);
      refining.list(listed);
      await refining.update({ ...both, patience: 2 });
      expect([...(await refining.values())]).toEqual([11, 2, 5, -7, 2, -1]);
      expect([...(await bankOf(refining)).weights]).toEqual([2, 4, 6, 6, 4, 2]);
      await refining.update({ ...both, rows: new Uint32Array(0) });
      expect([...(await bankOf(refining)).weights]).toEqual([6, 2, 4, 2, 6, 4]);
      refining.release();
    }
  });

  it("by factors leaves features of no row tied", async () => {
    const tied: Prototypes = { ...start, rule: "multiply", values: Float64Array.of(1, 1, 3, 3, 1, 1) };
    const refining = await (await hold(openReference(), x)).refine(tied);
    refining.list(listed);
    await refining.update(both);
    // Row 0 is (5, 0, 1): factors 11, 1 and 3.
    expect([...(await refining.values())]).toEqual([11, 1, 9, 3 / 11, 1, 1 / 3]);
  });

  it("passes over a row without a filter of its own class, or without a rival, or without values", async () => {
    const zero: Rows = { ...x, values: new Uint8Array(6) };
    const alone = { codes: Uint32Array.of(7, 0), filters: Uint32Array.of(0, 1, 0, 0), k: 2 };
    for (const [rows, lists] of [
      [x, alone],
      [zero, listed],
    ] as const) {
      for (const on of [openReference(), backends[0]]) {
        const refining = await (await hold(on, rows)).refine(start);
        refining.list(lists);
        expect([...(await refining.update({ ...both, window: 0.5 })).margin]).toEqual([1, 1]);
        expect([...(await refining.values())]).toEqual([...start.values]);
        refining.release();
      }
    }
  });

  it("gives all memory back", async () => {
    const engine = await openEngine();
    const rows = denseRows("u8", 100, 30, "noise", 1);
    const used: number[] = [];
    for (let round = 0; round < 3; round++) {
      const own = backendOn(engine, "wasm");
      const held = await hold(own, rows);
      const refining = await held.refine(prototypes(rows, 10, 2));
      for (const k of [3, 9]) {
        const each = batch(rows, 10, k, 4);
        refining.list(each.listed);
        await refining.update(each);
      }
      refining.release();
      held.release();
      await own.close();
      used.push(engine.memory.used);
    }
    expect(used[2]).toBe(used[0]);
  });
});
