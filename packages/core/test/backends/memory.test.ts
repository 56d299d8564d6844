/** Memory has one owner: what was taken is given back once, on success, error and abort, and what does not fit is done with less. */

import { afterEach, describe, expect, it, vi } from "vitest";
import type { Backend } from "../../src/backends/contract.ts";
import { OutOfMemory } from "../../src/backends/host/out-of-memory.ts";
import { openReference } from "../../src/backends/reference.ts";
import { openThreads } from "../../src/backends/threads/backend.ts";
import { Turn } from "../../src/backends/turn.ts";
import { backendOn, openWasm } from "../../src/backends/wasm/backend.ts";
import { type Engine, openEngine } from "../../src/backends/wasm/engine/engine.ts";
import { Memory, sharing } from "../../src/backends/wasm/engine/memory.ts";
import { sourceOf } from "../../src/kernels/rows.ts";
import type { Prototypes, Rows } from "../../src/kernels/shapes.ts";
import { csrRows, draws } from "./csr-data.ts";
import { denseRows } from "./dense-data.ts";
import { round, unread } from "./round.ts";

const newMemory = (most?: number): Memory => new Memory(new WebAssembly.Memory({ initial: 1, maximum: 100 }), most);

describe("a lease", () => {
  it("gives all it took back once, whatever happens afterwards", () => {
    const memory = newMemory();
    const lease = memory.lease();
    lease.take(100);
    lease.put(new Float64Array(50));
    const other = memory.lease();
    const at = other.take(10);
    lease.release();
    lease.release();
    expect(memory.used).toBeGreaterThan(0);
    expect(() => lease.take(1)).toThrow(/ended/);
    other.release();
    expect(memory.used).toBe(0);
    expect(() => memory.give(at)).toThrow(/not in use/);
  });

  it("never gives the same bytes to two owners", () => {
    const memory = newMemory();
    const draw = draws(7);
    const open: { lease: ReturnType<Memory["lease"]>; blocks: [number, number][] }[] = [];
    for (let step = 0; step < 2000; step++) {
      if (open.length > 0 && draw() < 0.45) open.splice(Math.floor(draw() * open.length), 1)[0].lease.release();
      else {
        const lease = memory.lease();
        const blocks = Array.from({ length: 1 + Math.floor(draw() * 3) }, () => {
          const bytes = Math.floor(draw() * 3000);
          return [lease.take(bytes), bytes] as [number, number];
        });
        open.push({ lease, blocks });
      }
      const all = open.flatMap(({ blocks }) => blocks).sort(([a], [b]) => a - b);
      expect(all.findIndex(([at], j) => j > 0 && at < all[j - 1][0] + all[j - 1][1])).toBe(-1);
    }
    for (const { lease } of open) lease.release();
    expect(memory.used).toBe(0);
  });

  it("is refused what is not there, and asks first for what lies idle", () => {
    const memory = newMemory(65_536);
    const kept = memory.lease();
    kept.take(60_000);
    const lease = memory.lease();
    expect(() => lease.take(10_000)).toThrow(OutOfMemory);
    let idle = 1;
    memory.onShort = () => {
      kept.release();
      return idle-- > 0;
    };
    lease.take(10_000);
    expect(() => lease.take(60_000)).toThrow(/expected room for/);
  });
});

it("memory grows a few times, however many blocks are taken, and by no more than there may be", () => {
  const grown = (most: number): number => {
    const memory = new Memory(new WebAssembly.Memory({ initial: 1, maximum: 65_535 }), most);
    const lease = memory.lease();
    const buffers = new Set<ArrayBuffer>();
    for (let block = 0; block < 150; block++) {
      lease.take(2 ** 20);
      buffers.add(memory.raw.buffer);
    }
    expect(memory.raw.buffer.byteLength).toBeLessThanOrEqual(most);
    return buffers.size;
  };
  expect(grown(2 ** 32 - 65_536)).toBe(3); // to 64, 128 and 256 MiB
  expect(grown(160 * 2 ** 20)).toBe(3);
  expect(grown(151 * 2 ** 20)).toBe(3);
});

it("something shared goes when its last user is done, and cannot be given back twice", async () => {
  const memory = newMemory();
  const shared = await sharing(memory, async (lease) => lease.take(10));
  shared.keep();
  shared.release();
  expect(memory.used).toBeGreaterThan(0);
  shared.release();
  expect(memory.used).toBe(0);
  expect(() => shared.release()).toThrow(/twice/);
  expect(() => shared.keep()).toThrow(/given back/);
});

const DENSE = denseRows("u8", 300, 200, "factors", 3);
const SPARSE = csrRows(200, 120, 0.1, "f32", "fractions", 5);
const FILTERS = 70;

afterEach(() => vi.restoreAllMocks());

/** Makes the n-th block that is taken fail; n = 0: none does. Returns how many were taken. */
function failAt(n: number): () => number {
  let taken = 0;
  const take = Memory.prototype.take;
  vi.spyOn(Memory.prototype, "take").mockImplementation(function (this: Memory, bytes: number) {
    if (++taken === n) throw new OutOfMemory(bytes, this.used, this.most);
    return take.call(this, bytes);
  });
  return () => taken;
}

describe.each([
  ["dense", DENSE],
  ["sparse", SPARSE],
] as const)("%s rows", (_, x) => {
  it("get the same answers whichever take of memory fails, and nothing stays taken", async () => {
    const expected = await round(openReference(), sourceOf(x), FILTERS);
    const engine = await openEngine();
    const backend = backendOn(engine, "wasm");
    const taken = failAt(0);
    expect(await round(backend, sourceOf(x), FILTERS)).toEqual(expected);
    const all = taken();
    vi.restoreAllMocks();
    await backend.close();
    expect(engine.memory.used).toBe(0);
    expect(all).toBeGreaterThan(50);
    for (let n = 1; n <= all; n++) {
      failAt(n);
      expect(await round(backend, sourceOf(x), FILTERS)).toEqual(expected);
      vi.restoreAllMocks();
      await backend.close();
      expect(engine.memory.used).toBe(0);
    }
  });

  it.each([4, 2, 1, 0.5, 0.25, 0.15])(
    "get the same answers in %f MB of memory, or a clear error",
    async (megabytes) => {
      const expected = await round(openReference(), sourceOf(x), FILTERS);
      const memoryBytes = Math.ceil((megabytes * 2 ** 20) / 65_536) * 65_536;
      const engine = await openEngine(memoryBytes);
      const backend = backendOn(engine, "wasm", { memoryBytes });
      const found = await round(backend, sourceOf(x), FILTERS).catch((error) => error);
      if (found instanceof Error) {
        expect(megabytes).toBeLessThan(0.5);
        expect(found).toBeInstanceOf(OutOfMemory);
        expect(found).toMatchObject({ code: "no-backend" });
      } else expect(found).toEqual(expected);
      await backend.close();
      expect(engine.memory.used).toBe(0);
    },
  );

  it("get the same answers read from a source, in blocks of any size, on every back end", async () => {
    const expected = await round(openReference(), sourceOf(x), FILTERS);
    const small = { cut: { blockBytes: 5000, parts: 3 }, answerBytes: 3000 };
    const backends: Backend[] = [openReference(), await openWasm(), await openWasm(small)];
    backends.push(await openThreads(2), await openThreads(3, small));
    for (const backend of backends) {
      expect(await round(backend, unread(x), FILTERS)).toEqual(expected);
      await backend.close();
    }
  });

  it("leave nothing behind when a call is aborted at any look at the clock", async () => {
    const engine = await openEngine();
    const backend = backendOn(engine, "wasm");
    for (let looks = 0; looks < 40; looks++) {
      const controller = new AbortController();
      const turn = new Turn(controller.signal);
      let left = looks;
      vi.spyOn(turn.signal as AbortSignal, "aborted", "get").mockImplementation(() => left-- <= 0);
      vi.spyOn(turn.signal as AbortSignal, "throwIfAborted").mockImplementation(() => {
        if (left <= 0) throw new Error("aborted");
      });
      const inTurn: Backend = { ...backend, hold: (rows, plan) => backend.hold(rows, { ...plan, turn }) };
      await round(inTurn, sourceOf(x), FILTERS).catch((error) => expect(error.message).toBe("aborted"));
      vi.restoreAllMocks();
      await backend.close();
      expect(engine.memory.used).toBe(0);
    }
  });
});

it("rows are searched without bounds where these do not fit, and the report says so", async () => {
  const x = denseRows("u8", 2000, 256, "factors", 9);
  const memoryBytes = 25 * 65_536; // room for the rows and the filters, not for 2,000 bounds of 544 bytes
  const backend = await openWasm({ memoryBytes });
  const held = await backend.hold(sourceOf(x));
  const bank = await held.rank({
    offsets: Uint32Array.from({ length: 401 }, (_, f) => f),
    rows: Uint32Array.from({ length: 400 }, (_, f) => 5 * f),
  });
  const expectedRows = await openReference().hold(sourceOf(x));
  const expected = await expectedRows.topFilters(expectedRows.load(await bank.read()), 1);
  expect(await held.topFilters(bank, 1)).toEqual(expected);
  expect(held.work().notes.join()).toMatch(/bounds/);
  held.release();
});

describe("refinement", () => {
  const start = (x: Rows): Prototypes => ({
    filters: 6,
    features: x.features,
    values: Float64Array.from({ length: 6 * x.features }, (_, i) => (i * 37) % 101),
    filterClass: Uint32Array.of(0, 1, 0, 1, 0, 1),
    rule: "add",
    distribution: undefined,
  });
  const batch = { rows: Uint32Array.from({ length: 60 }, (_, j) => 3 * j), step: 2, window: 0.5, patience: 1 };
  const listed = (x: Rows) => ({
    codes: Uint32Array.from({ length: x.rows }, (_, r) => r % 2),
    filters: Uint32Array.from({ length: x.rows * 4 }, (_, j) => j % 6),
    k: 4,
  });

  async function refined(backend: Backend, x: Rows): Promise<Float64Array> {
    const held = await backend.hold(sourceOf(x));
    try {
      const refining = await held.refine(start(x));
      try {
        refining.list(listed(x));
        await refining.update(batch);
        return await refining.values();
      } finally {
        refining.release();
      }
    } finally {
      held.release();
    }
  }

  it("gives back what it took, whichever take of memory fails", async () => {
    const engine: Engine = await openEngine();
    const backend = backendOn(engine, "wasm");
    const taken = failAt(0);
    const expected = await refined(backend, DENSE);
    const all = taken();
    vi.restoreAllMocks();
    expect(expected).toEqual(await refined(openReference(), DENSE));
    for (let n = 1; n <= all; n++) {
      failAt(n);
      const found = await refined(backend, DENSE).catch((error) => error);
      vi.restoreAllMocks();
      if (found instanceof Error) expect(found).toBeInstanceOf(OutOfMemory);
      else expect(found).toEqual(expected);
      expect(engine.memory.used).toBe(0);
    }
  });
});
