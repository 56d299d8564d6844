/** Models without a method, so that the file is tested apart from what it carries; and files written by hand. */

import { createHash } from "node:crypto";
import fc from "fast-check";
import type { Json, Saved, SavedArray } from "../../src/model-file/saved.ts";
import type { Model, ModelReader } from "../../src/models/estimator.ts";

/** A model that is nothing but its data. */
export function plain(saved: Saved): Model {
  return { kind: saved.kind, save: () => saved };
}

/** Reads any data of kind "plain". */
export const plainReader: ModelReader = { kind: "plain", read: plain };

/** Reads a composed model: every step goes through its own reader and is saved by it. */
export const chainReader: ModelReader = {
  kind: "chain",
  read(saved, readStep) {
    const steps = (saved.steps ?? []).map(readStep);
    return { kind: "chain", save: () => ({ ...saved, steps: steps.map((step) => step.save()) }) };
  },
};

export const readers = [plainReader, chainReader];

/** A model with an array of every type and with awkward names and numbers. */
export const sample: Saved = {
  kind: "chain",
  meta: {
    name: 'Zürich \ud83d\udc1d "quoted" \ud800',
    seed: 7,
    tolerance: 0.01,
    none: null,
    deep: { b: [1, [2]], a: true },
  },
  arrays: { norm: { shape: [3], values: Float64Array.of(1.5, -0, 1e-300) } },
  steps: [
    {
      kind: "plain",
      meta: {},
      arrays: {
        bytes: { shape: [5], values: Uint8Array.of(0, 1, 2, 254, 255) },
        filters: { shape: [2, 3], values: Uint16Array.of(2, 4, 6, 6, 4, 65535) },
        scores: { shape: [2], values: Float32Array.of(0.5, -3) },
        signed: { shape: [1, 1], values: Int16Array.of(-32768) },
        empty: { shape: [0, 7], values: new Float64Array(0) },
        whole: { shape: [], values: Uint32Array.of(0xffff_ffff) },
      },
    },
    { kind: "chain", meta: { classes: ["1", 1] }, arrays: {}, steps: [{ kind: "plain", meta: {}, arrays: {} }] },
  ],
};

const finite = { noNaN: true, noDefaultInfinity: true };
const shape = fc.array(fc.nat(4), { maxLength: 3 });
const count = (extents: readonly number[]) => extents.reduce((product, extent) => product * extent, 1);
const array: fc.Arbitrary<SavedArray> = shape.chain((extents) => {
  const size = { minLength: count(extents), maxLength: count(extents) };
  return fc
    .oneof(
      fc.uint8Array(size),
      fc.uint16Array(size),
      fc.int16Array(size),
      fc.uint32Array(size),
      fc.float32Array({ ...finite, ...size }),
      fc.float64Array({ ...finite, ...size }),
    )
    .map((values) => ({ shape: extents, values }));
});
const key = fc.string({ unit: "binary" }).filter((text) => text !== "__proto__");
// JSON has no minus zero; the file writes 0.
const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(fc.string({ unit: "binary" }), fc.boolean(), fc.constant(null), fc.integer()),
    fc.double(finite).map((number) => (number === 0 ? 0 : number)),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;
const arrayName = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);

/** Any data that `plainReader` and `chainReader` can read. */
export const anySaved: fc.Arbitrary<Saved> = fc.letrec<{ saved: Saved }>((tie) => {
  const meta = fc.dictionary(key, json, { maxKeys: 4, noNullPrototype: true });
  const arrays = fc.dictionary(arrayName, array, { maxKeys: 4, noNullPrototype: true });
  return {
    saved: fc.oneof(
      { maxDepth: 3 },
      fc.record({ kind: fc.constant("plain"), meta, arrays }, { noNullPrototype: true }),
      fc.record(
        { kind: fc.constant("chain"), meta, arrays, steps: fc.array(tie("saved"), { maxLength: 3 }) },
        { noNullPrototype: true },
      ),
    ),
  };
}).saved;

/** Where the 64 characters of the digest stand in a file of version 1. */
export const digestAt = 8 + '{"__metadata__":{"format":"ranksim","version":"1","digest":"'.length;

/** The same bytes with the digest that belongs to them, computed by Node. */
export function sign(bytes: Uint8Array): Uint8Array {
  const signed = Uint8Array.from(bytes);
  signed.fill("0".charCodeAt(0), digestAt, digestAt + 64);
  signed.set(Buffer.from(createHash("sha256").update(signed).digest("hex")), digestAt);
  return signed;
}

/** The header of a file as a string. */
export function headerOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(8, dataStart(bytes))).toString("utf8");
}

/** Where the arrays begin. */
export function dataStart(bytes: Uint8Array): number {
  return 8 + Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
}

/** A signed file with a header written by hand: `entries` follow the metadata, `data` follows the header. */
export function forge(entries: string, data: Uint8Array = new Uint8Array(0), model?: string): Uint8Array {
  const tree = JSON.stringify(model ?? '{"kind":"plain","meta":{}}');
  const metadata = `"format":"ranksim","version":"1","digest":"${"0".repeat(64)}","model":${tree}`;
  return forgeHeader(`{"__metadata__":{${metadata}}${entries}}`, data);
}

/** A signed file with any header text, padded to a multiple of 8 bytes. */
export function forgeHeader(text: string, data: Uint8Array = new Uint8Array(0)): Uint8Array {
  const header = Buffer.from(text);
  const padded = Buffer.concat([header, Buffer.alloc((8 - (header.length % 8)) % 8, " ")]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  return sign(Buffer.concat([length, padded, data]));
}
