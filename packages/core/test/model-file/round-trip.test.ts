import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadModel } from "../../src/model-file/load.ts";
import { saveModel } from "../../src/model-file/save.ts";
import type { Saved } from "../../src/model-file/saved.ts";
import { anySaved, dataStart, headerOf, plain, readers, sample, sign } from "./fake-models.ts";

const save = (saved: Saved) => saveModel(plain(saved));
const load = (bytes: Uint8Array) => loadModel(bytes, { readers }).save();

describe("saveModel and loadModel", () => {
  it("give back what was saved, with the same types and shapes", () => {
    expect(load(save(sample))).toStrictEqual({ ...sample });
  });

  it("give the same bytes again for what was loaded", () => {
    const bytes = save(sample);
    expect(saveModel(loadModel(bytes, { readers }))).toEqual(bytes);
  });

  it("hold for any data", () => {
    fc.assert(
      fc.property(anySaved, (saved) => {
        const bytes = save(saved);
        expect(load(bytes)).toStrictEqual(saved);
        expect(saveModel(loadModel(bytes, { readers }))).toEqual(bytes);
      }),
      { numRuns: 500 },
    );
  });

  it("write equal bytes whatever the order of keys", () => {
    const values = Uint8Array.of(1);
    const one = {
      kind: "plain",
      meta: { a: 1, b: { x: 1, y: 2 }, 10: 0, 9: 0 },
      arrays: { a: { shape: [1], values }, b: { shape: [1], values } },
    };
    const other = {
      arrays: { b: { shape: [1], values }, a: { shape: [1], values } },
      meta: { 9: 0, b: { y: 2, x: 1 }, 10: 0, a: 1 },
      kind: "plain",
    };
    expect(save(other)).toEqual(save(one));
  });

  it("start the arrays at a multiple of 8 and lay each at a multiple of its element size", () => {
    fc.assert(
      fc.property(anySaved, (saved) => {
        const bytes = save(saved);
        expect(dataStart(bytes) % 8).toBe(0);
        const { __metadata__: _, ...entries } = JSON.parse(headerOf(bytes));
        const size = { F64: 8, F32: 4, U32: 4, U16: 2, I16: 2, U8: 1 };
        let end = 0;
        for (const entry of Object.values(entries) as { dtype: keyof typeof size; data_offsets: number[] }[]) {
          expect(entry.data_offsets[0]).toBe(end);
          expect(end % size[entry.dtype]).toBe(0);
          end = entry.data_offsets[1];
        }
        expect(dataStart(bytes) + end).toBe(bytes.length);
      }),
    );
  });

  it("name the arrays of steps by their path", () => {
    const names = Object.keys(JSON.parse(headerOf(save(sample))));
    expect(new Set(names)).toEqual(
      new Set(["__metadata__", "norm", "0.bytes", "0.filters", "0.scores", "0.signed", "0.empty", "0.whole"]),
    );
  });

  it("write metadata of strings alone and a digest that any SHA-256 confirms", () => {
    const bytes = save(sample);
    const { __metadata__: metadata } = JSON.parse(headerOf(bytes));
    expect(Object.keys(metadata)).toEqual(["format", "version", "digest", "model"]);
    for (const value of Object.values(metadata)) expect(typeof value).toBe("string");
    expect(JSON.parse(metadata.model).kind).toBe("chain");
    expect(sign(bytes)).toEqual(bytes);
  });

  it("read bytes from any place in memory, without a copy where they are aligned", () => {
    const bytes = save(sample);
    for (let offset = 0; offset <= 16; offset++) {
      const wide = new Uint8Array(bytes.length + 32);
      wide.set(bytes, offset);
      const saved = load(wide.subarray(offset, offset + bytes.length));
      expect(saved).toStrictEqual({ ...sample });
      expect(saved.arrays.norm.values.buffer === wide.buffer).toBe(offset % 8 === 0);
    }
  });

  it("read a Buffer and shared memory", () => {
    const bytes = save(sample);
    expect(load(Buffer.from(bytes))).toStrictEqual({ ...sample });
    const wide = Buffer.alloc(bytes.length + 1);
    wide.set(bytes, 1);
    expect(load(wide.subarray(1))).toStrictEqual({ ...sample });
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
    shared.set(bytes);
    expect(load(shared)).toStrictEqual({ ...sample });
  });

  it("leave the bytes as they were", () => {
    const bytes = save(sample);
    const before = Uint8Array.from(bytes);
    load(bytes);
    expect(bytes).toEqual(before);
  });

  it("save a view of a larger array as the view alone", () => {
    const values = Uint16Array.of(9, 1, 2, 9).subarray(1, 3);
    const saved = load(save({ kind: "plain", meta: {}, arrays: { a: { shape: [2], values } } }));
    expect(saved.arrays.a.values).toEqual(Uint16Array.of(1, 2));
  });

  it.each<[string, Partial<Saved>, RegExp]>([
    [
      "NaN in an array",
      { arrays: { norm: { shape: [2], values: Float64Array.of(1, Number.NaN) } } },
      /norm, position 1.*NaN/,
    ],
    [
      "a shape that does not fit",
      { arrays: { norm: { shape: [3], values: Float64Array.of(1) } } },
      /norm.*\[3\].*1 values/,
    ],
    ["a name with a dot", { arrays: { "0.a": { shape: [], values: Uint8Array.of(1) } } }, /"0\.a"/],
    ["NaN in meta", { meta: { params: { tolerance: Number.NaN } } }, /model\.meta\.params\.tolerance.*NaN/],
    ["undefined in meta", { meta: { list: [1, undefined as never] } }, /model\.meta\.list\[1\].*undefined/],
    ["a typed array in meta", { meta: { list: Uint8Array.of(1) as never } }, /model\.meta\.list.*Uint8Array/],
  ])("refuse to save %s", (_, part, message) => {
    expect(() => save({ kind: "plain", meta: {}, arrays: {}, ...part })).toThrow(
      expect.objectContaining({ name: "RanksimError", code: "unsupported", message: expect.stringMatching(message) }),
    );
  });
});
