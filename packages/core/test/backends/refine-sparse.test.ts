/**
 * Updates of refinement on the kernels, bit for bit those of the plain loops: sparse rows and dense ones, by both rules, rows
 * that stay in memory and rows that are brought in for each batch.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Backend } from "../../src/backends/contract.ts";
import { OutOfMemory } from "../../src/backends/host/out-of-memory.ts";
import { openReference } from "../../src/backends/reference.ts";
import { openThreads } from "../../src/backends/threads/backend.ts";
import { backendOn, openWasm } from "../../src/backends/wasm/backend.ts";
import { type Engine, openEngine } from "../../src/backends/wasm/engine/engine.ts";
import { entriesOfRow } from "../../src/kernels/measure.ts";
import { sourceOf } from "../../src/kernels/rows.ts";
import type { Listed, Prototypes, RefineBatch, RefineRule, Rows } from "../../src/kernels/shapes.ts";
import { csr, csrRows, distribution, draws, expectSame, type ValueType } from "./csr-data.ts";
import { denseRows, someGroups } from "./dense-data.ts";

const TYPES: readonly ValueType[] = ["u8", "u16", "i16", "f32", "f64"];
const RULES: readonly RefineRule[] = ["add", "multiply"];
const CLASSES = 3;
/** Rows never stay, and a batch goes in parts of a few rows. */
const CRAMPED = { cut: { blockBytes: 2000, parts: 3 } };

let wasm: Backend;
let cramped: Backend;
let threads: Backend[];

beforeAll(async () => {
  wasm = await openWasm();
  cramped = await openWasm(CRAMPED);
  threads = await Promise.all([...[1, 2, 3, 4].map((count) => openThreads(count)), openThreads(3, CRAMPED)]);
});

afterAll(async () => {
  for (const backend of [wasm, cramped, ...threads]) await backend.close();
});

/** Prototypes that are sums of rows; for factors all positive, so that features of no row tie. */
function prototypes(x: Rows, filters: number, rule: RefineRule, from?: Float64Array): Prototypes {
  const n = x.features;
  const { offsets, rows } = someGroups(filters, x.rows, 3);
  const values = new Float64Array(filters * n);
  for (let f = 0; f < filters; f++) {
    for (const r of rows.subarray(offsets[f], offsets[f + 1])) {
      const [first, end] = entriesOfRow(x, r);
      for (let e = first; e < end; e++) {
        values[f * n + (x.form === "dense" ? e - first : x.indices[e])] += x.values[e];
      }
    }
  }
  if (rule === "multiply") for (let i = 0; i < values.length; i++) values[i] = Math.abs(values[i]) + 0.5;
  const filterClass = Uint32Array.from({ length: filters }, (_, f) => f % CLASSES);
  return { filters, features: n, values, filterClass, rule, distribution: from };
}

/** A batch and the filters that are listed before it. */
type ListedBatch = RefineBatch & { readonly listed: Listed };

function batch(x: Rows, filters: number, k: number, seed: number, changes: Partial<RefineBatch> = {}): ListedBatch {
  const draw = draws(seed);
  const rows = Uint32Array.from({ length: x.rows }, (_, r) => r).filter(() => draw() < 0.7);
  const codes = Uint32Array.from({ length: x.rows }, (_, r) => (r * 7) % CLASSES);
  const lists = Uint32Array.from({ length: x.rows * k }, () => Math.floor(draw() * filters));
  return { rows, listed: { codes, filters: lists, k }, step: 0.3, window: 0.5, patience: 1 + (seed % 3), ...changes };
}

/** Some batches: one whose steps are whole, one of all rows, one without rows, and one that every row learns from. */
function batches(x: Rows, filters: number, k: number): ListedBatch[] {
  const all = Uint32Array.from({ length: x.rows }, (_, r) => r);
  return [
    batch(x, filters, k, 1, { step: 3 }),
    batch(x, filters, k, 2, { rows: all, patience: 3 }),
    batch(x, filters, k, 2, { rows: new Uint32Array(0), patience: 1 }),
    batch(x, filters, k, 3, { window: 2 }),
  ];
}

async function expectSameUpdates(
  on: Backend,
  x: Rows,
  start: Prototypes,
  learned: readonly ListedBatch[],
): Promise<void> {
  expect(await compareUpdates(on, x, start, learned)).toEqual([]);
}

/** Expects the same updates; returns the notes of the back end. */
async function compareUpdates(
  on: Backend,
  x: Rows,
  start: Prototypes,
  learned: readonly ListedBatch[],
): Promise<readonly string[]> {
  const [held, plain] = [await on.hold(sourceOf(x)), await openReference().hold(sourceOf(x))];
  const [found, expected] = [await held.refine(start), await plain.refine(start)];
  for (const each of [undefined, ...learned]) {
    if (each) {
      for (const refining of [found, expected]) refining.list(each.listed);
      const [answer, right] = [await found.update(each), await expected.update(each)];
      expectSame(answer.margin, right.margin);
      expectSame(answer.own, right.own);
      expectSame(answer.rival, right.rival);
    }
    expectSame(await found.values(), await expected.values());
    const banks = [await found.bank(), await expected.bank()];
    const [bank, other] = await Promise.all(banks.map((one) => one.read()));
    for (const one of banks) one.release();
    expect(bank.form).toBe(other.form);
    expect(bank.weights.constructor).toBe(other.weights.constructor);
    expectSame(bank.weights, other.weights);
    expectSame(bank.norm, other.norm);
  }
  const { notes } = held.work();
  for (const handle of [found, held, expected, plain]) handle.release();
  return notes;
}

/** Every rule, with and without a distribution. */
async function expectSameByAllRules(on: readonly Backend[], x: Rows, filters: number, k: number): Promise<void> {
  for (const rule of RULES) {
    for (const from of [undefined, distribution(x.features, 7, -0.2)]) {
      const start = prototypes(x, filters, rule, from);
      for (const backend of on) await expectSameUpdates(backend, x, start, batches(x, filters, k));
    }
  }
}

describe.each(TYPES)("%s", (type) => {
  it("sparse rows of 1 to 40 features", async () => {
    for (let features = 1; features <= 40; features++) {
      const flavour = (["small", "signed", "fractions"] as const)[features % 3];
      const x = csrRows(12, features, 0.3, type, flavour, features);
      await expectSameByAllRules([wasm, cramped], x, 2 + (features % 5), 1 + (features % 7));
    }
  });

  it("dense rows of 1 to 40 features", async () => {
    for (let features = 1; features <= 40; features++) {
      const look = (["noise", "few", "zeros"] as const)[features % 3];
      const x = denseRows(type, 10, features, look, features);
      await expectSameByAllRules([wasm, cramped], x, 2 + (features % 5), 1 + (features % 7));
    }
  });

  it("wider rows, where weights of 16 bits or bounds begin and end", async () => {
    for (const features of [191, 192, 193, 1000]) {
      await expectSameByAllRules([wasm, cramped], csrRows(40, features, 0.05, type, "signed", 5), 9, 6);
      await expectSameByAllRules([wasm, cramped], denseRows(type, 30, features, "factors", 6), 9, 6);
    }
  });

  it("any number of threads", async () => {
    const sparse = csrRows(500, 193, 0.05, type, "fractions", 8);
    const dense = denseRows(type, 300, 61, "factors", 9);
    for (const x of [sparse, dense]) {
      for (const rule of RULES) {
        const start = prototypes(x, 70, rule);
        for (const on of threads) await expectSameUpdates(on, x, start, batches(x, 70, 8));
      }
    }
  });

  it("values at the ends of their type", async () => {
    const sparse = csrRows(30, 70, 0.2, type, "large", 11);
    const dense = denseRows(type, 30, 70, "noise", 12);
    const [low, high] = { u8: [0, 255], u16: [0, 65_535], i16: [-32_768, 32_767], f32: [0, 1e30], f64: [0, 1e250] }[
      type
    ];
    for (let j = 0; j < dense.values.length; j++) dense.values[j] = j % 3 === 0 ? low : high;
    for (const x of [sparse, dense]) {
      for (const on of [wasm, cramped]) {
        await expectSameUpdates(on, x, prototypes(x, 9, "multiply"), batches(x, 9, 6));
        if (type !== "f64") await expectSameUpdates(on, x, prototypes(x, 9, "add"), batches(x, 9, 6));
      }
    }
  });
});

describe("rows", () => {
  it("without entries, or with zeros alone", async () => {
    const empty = csr(9, [0, 0, 0, 0], [], new Float32Array(0));
    const zeros = csr(9, [0, 1, 3, 4], [0, 2, 5, 8], new Float64Array(4));
    const dense: Rows = { form: "dense", rows: 3, features: 9, values: new Uint8Array(27) };
    for (const x of [empty, zeros, dense]) await expectSameByAllRules([wasm, cramped], x, 4, 3);
  });

  it("with ranks beyond 16 bits, most of them tied", async () => {
    const x = csrRows(20, 40_000, 0.001, "f32", "fractions", 14);
    await expectSameByAllRules([wasm], x, 4, 3);
    const dense = denseRows("f32", 5, 33_000, "zeros", 15);
    for (const on of [wasm, cramped]) {
      await expectSameUpdates(on, dense, prototypes(dense, 3, "multiply"), batches(dense, 3, 3).slice(0, 1));
    }
  });

  it("of so many features that most are left out when they are searched", async () => {
    const features = 2 ** 20 + 3;
    const x = csr(features, [0, 2, 4, 6], [1, features - 1, 8, 9, 1, 8], Uint8Array.of(3, 1, 2, 2, 1, 4));
    const start = prototypes(x, 3, "multiply");
    await expectSameUpdates(wasm, x, start, batches(x, 3, 3).slice(3));
    const [held, plain] = [await wasm.hold(sourceOf(x)), await openReference().hold(sourceOf(x))];
    const [found, expected] = [await held.refine(start), await plain.refine(start)];
    // The filters can be searched by the rows that refined them.
    const [answer, right] = [
      await held.topFilters(await found.bank(), 3),
      await plain.topFilters(await expected.bank(), 3),
    ];
    expectSame(answer.filter, right.filter);
    expectSame(answer.response, right.response);
    for (const handle of [found, expected, held, plain]) handle.release();
  });

  it("prototypes outside the bounds of factors are left alone where a row is zero", async () => {
    const x: Rows = { form: "dense", rows: 2, features: 3, values: Uint8Array.of(0, 1, 1, 1, 0, 1) };
    const values = Float64Array.of(1e-60, 1e60, 1, 1e60, 1e-60, 2);
    const start: Prototypes = { ...prototypes(x, 2, "multiply"), values };
    for (const on of [wasm, cramped]) await expectSameUpdates(on, x, start, batches(x, 2, 4));
    const sparse = csr(3, [0, 3, 6], [0, 1, 2, 0, 1, 2], Uint8Array.of(0, 1, 1, 1, 0, 1));
    for (const on of [wasm, cramped]) await expectSameUpdates(on, sparse, start, batches(sparse, 2, 4));
  });
});

describe("kernels", () => {
  /** The engine, and the kernels it ran. */
  function watched(engine: Engine): { engine: Engine; ran: Set<string> } {
    const ran = new Set<string>();
    const watch = (one: Engine): Engine => ({
      ...one,
      under: (turn) => watch(one.under(turn)),
      run: (kernel, ...rest) => {
        ran.add(kernel);
        return one.run(kernel, ...rest);
      },
    });
    return { engine: watch(engine), ran };
  }

  it("update by rows of either form, resident or not, by either rule", async () => {
    for (const options of [{}, CRAMPED]) {
      for (const x of [csrRows(30, 40, 0.2, "f32", "small", 1), denseRows("f32", 30, 40, "noise", 1)]) {
        for (const rule of RULES) {
          const { engine, ran } = watched(await openEngine());
          const on = backendOn(engine, "wasm", options);
          await expectSameUpdates(on, x, prototypes(x, 5, rule), batches(x, 5, 3));
          const end = x.form === "csr" ? "_csr" : "";
          expect([...ran]).toContain(`compare_listed${end}`);
          expect([...ran]).toContain(`move_prototypes${end}`);
        }
      }
    }
  });

  it("give all memory back", async () => {
    for (const options of [{}, CRAMPED]) {
      for (const x of [csrRows(100, 30, 0.2, "u8", "small", 1), denseRows("u16", 100, 30, "noise", 1)]) {
        const engine = await openEngine();
        const held = await backendOn(engine, "wasm", options).hold(sourceOf(x));
        const before = engine.memory.used;
        const refining = await held.refine(prototypes(x, 10, "add"));
        for (const each of batches(x, 10, 5)) {
          refining.list(each.listed);
          await refining.update(each);
        }
        refining.release();
        refining.release();
        expect(engine.memory.used).toBe(before);
        held.release();
        expect(engine.memory.used).toBe(0);
      }
    }
  });

  it("do with less memory, bit for bit", async () => {
    const x = csrRows(300, 200, 0.1, "f64", "fractions", 2);
    const start = prototypes(x, 10, "multiply");
    const learned = batches(x, 10, 6);
    const outcomes = new Set<string>();
    for (let most = 8192; most < 800_000; most += 8192) {
      const engine = await openEngine(most);
      const notes = await compareUpdates(backendOn(engine, "wasm"), x, start, learned);
      for (const note of notes.length === 0 ? ["nothing to note"] : notes) outcomes.add(note);
      expect(engine.memory.used).toBe(0);
    }
    expect([...outcomes].sort()).toEqual([
      "nothing to note",
      "prototypes did not fit in memory and were refined by plain loops",
      "rows did not fit in memory and were searched in blocks",
    ]);
  });

  it("cut a batch that finds no room", async () => {
    const x = csrRows(2000, 50, 0.3, "f64", "fractions", 4);
    const start = prototypes(x, 10, "multiply");
    const [each] = batches(x, 10, 20);
    const engine = await openEngine();
    const held = await backendOn(engine, "wasm").hold(sourceOf(x));
    const plain = await (await openReference().hold(sourceOf(x))).refine(start);
    const refining = await held.refine(start);
    // Room for the scratch of the kernels, but not for the lists of more than some hundred rows.
    const { take } = engine.memory;
    let refused = 0;
    engine.memory.take = function (bytes) {
      if (bytes < 20_000 || bytes > 200_000) return take.call(this, bytes);
      refused++;
      throw new OutOfMemory(bytes, this.used, this.most);
    };
    for (const one of [refining, plain]) one.list(each.listed);
    const [answer, right] = [await refining.update(each), await plain.update(each)];
    expectSame(answer.margin, right.margin);
    expectSame(await refining.values(), await plain.values());
    expect(refused).toBeGreaterThan(1);
    refining.release();
    held.release();
  });
});
