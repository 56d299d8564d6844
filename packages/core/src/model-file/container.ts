/**
 * Plain data as bytes and back: the safetensors container (8-byte header length, JSON header, raw little-endian arrays),
 * with one file for each value of `Saved`. FORMAT.md describes every byte. The reader lays the arrays out again by the
 * writer's rule and accepts no other layout; nothing is viewed before all checks have passed. It knows nothing of kinds
 * of models.
 */

import { RanksimError } from "../errors.ts";
import type { Json, Saved, SavedArray } from "../estimators/estimator.ts";
import { canonicalJson, firstDifference, parseCanonicalJson, parseJson } from "./canonical-json.ts";
import { sha256 } from "./sha256.ts";

/** The version this library writes and the only one it reads. */
const VERSION = 1;

/** Longest header, in bytes; the limit of the safetensors library. */
const LONGEST_HEADER = 100_000_000;

/** Names of arrays within one model: no dot, so that `0.filters` can only be an array of step 0. */
const ARRAY_NAME = /^[a-z][a-z0-9_]*$/;

const OPENING = '{"__metadata__":{"format":"ranksim","version":"';
const BEFORE_DIGEST = `${OPENING}${VERSION}","digest":"`;
const NO_DIGEST = "0".repeat(64);
const DIGEST_AT = 8 + BEFORE_DIGEST.length;
const DIGEST_END = DIGEST_AT + NO_DIGEST.length;

type ElementType = "F64" | "U32" | "F32" | "U16" | "I16" | "U8";

interface TypedArrayConstructor {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): SavedArray["values"];
}

const ARRAY_OF: { readonly [type in ElementType]: TypedArrayConstructor } = {
  F64: Float64Array,
  U32: Uint32Array,
  F32: Float32Array,
  U16: Uint16Array,
  I16: Int16Array,
  U8: Uint8Array,
};

/** An array's place in the file; `begin` and `end` (not included) count from the first byte after the header. */
interface Placed {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/** The arrays of one part of a model, by name. */
type SavedArrays = { [name: string]: SavedArray };

/** The one file for `saved`. Refuses (code "unsupported") what a file cannot hold. */
export function encodeSaved(saved: Saved): Uint8Array<ArrayBuffer> {
  const { text, placed, arrays } = layOut(saved);
  const header = new TextEncoder().encode(text);
  if (header.length > LONGEST_HEADER) {
    throw new RanksimError("unsupported", `header of ${header.length} bytes, at most ${LONGEST_HEADER} are allowed`);
  }
  const start = 8 + header.length;
  const bytes = new Uint8Array(start + (placed.at(-1)?.end ?? 0));
  new DataView(bytes.buffer).setUint32(0, header.length, true);
  bytes.set(header, 8);
  for (const { name, begin } of placed) {
    const { buffer, byteOffset, byteLength } = arrays.get(name)!.values;
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), start + begin);
  }
  bytes.set(new TextEncoder().encode(sha256([bytes])), DIGEST_AT);
  return bytes;
}

/** The data of a file, its arrays as views of `bytes`. Refuses (code "bad-file") anything but what `encodeSaved` writes. */
export function decodeSaved(bytes: Uint8Array): Saved {
  const header = readHeader(bytes);
  const start = 8 + header.byteLength;
  const { model, placed } = readPlaces(header.text, bytes.length - start);
  checkDigest(bytes);

  const aligned = (bytes.byteOffset + start) % 8 === 0 ? bytes : new Uint8Array(bytes);
  const parts = new Map<string, SavedArrays>();
  for (const { name, type, shape, begin, end } of placed) {
    const Typed = ARRAY_OF[type];
    const length = (end - begin) / Typed.BYTES_PER_ELEMENT;
    const values = new Typed(aligned.buffer, aligned.byteOffset + start + begin, length);
    checkFinite(name, values, "bad-file");
    const prefix = name.slice(0, name.lastIndexOf(".") + 1);
    if (!parts.has(prefix)) parts.set(prefix, {});
    parts.get(prefix)![name.slice(prefix.length)] = { shape, values };
  }
  const saved = savedOf(parseCanonicalJson(model, "model"), "", parts);
  const [unknown] = parts.keys();
  if (unknown !== undefined) throw badFile(`arrays named ${JSON.stringify(unknown)}... belong to no part of the model`);
  return saved;
}

/** The header of the file for `saved`, without a digest: all of the file but the contents of its arrays. */
export function outlineOf(saved: Saved): string {
  return layOut(saved).text;
}

// Writing

interface Layout {
  readonly text: string;
  readonly placed: readonly Placed[];
  readonly arrays: ReadonlyMap<string, SavedArray>;
}

function layOut(saved: Saved): Layout {
  const model = canonicalJson(treeOf(saved), "model");
  const arrays = new Map<string, SavedArray>();
  gatherArrays(saved, "", arrays);
  const placed = place([...arrays].map(([name, { shape, values }]) => ({ name, type: typeOf(name, values), shape })));
  return { text: headerText(model, placed, NO_DIGEST), placed, arrays };
}

/** The part of `saved` that goes into the header. */
function treeOf({ kind, meta, steps }: Saved): Json {
  return steps ? { kind, meta, steps: steps.map(treeOf) } : { kind, meta };
}

/** Collects the arrays of a model and its steps under their full names, and checks them. */
function gatherArrays(saved: Saved, prefix: string, into: Map<string, SavedArray>): void {
  for (const [key, array] of Object.entries(saved.arrays)) {
    const name = prefix + key;
    if (!ARRAY_NAME.test(key))
      throw new RanksimError("unsupported", `array name ${JSON.stringify(name)} is not allowed`);
    const expected = countOf(array.shape);
    if (expected !== array.values.length) {
      throw new RanksimError(
        "unsupported",
        `array ${name}: shape [${array.shape}] does not fit its ${array.values.length} values`,
      );
    }
    checkFinite(name, array.values, "unsupported");
    into.set(name, array);
  }
  saved.steps?.forEach((step, i) => {
    gatherArrays(step, `${prefix}${i}.`, into);
  });
}

/** Lays arrays out one after another: wide elements first, so that each is aligned, then by name. */
function place(arrays: readonly Pick<Placed, "name" | "type" | "shape">[]): Placed[] {
  const width = (type: ElementType) => ARRAY_OF[type].BYTES_PER_ELEMENT;
  const order = arrays.toSorted((a, b) => width(b.type) - width(a.type) || (a.name < b.name ? -1 : 1));
  let end = 0;
  return order.map(({ name, type, shape }) => {
    const begin = end;
    end += countOf(shape) * width(type);
    return { name, type, shape, begin, end };
  });
}

/** The header, with the spaces that put the first array at a multiple of 8 bytes. */
function headerText(model: string, placed: readonly Placed[], digest: string): string {
  const entries = placed.map(
    ({ name, type, shape, begin, end }) =>
      `,"${name}":{"dtype":"${type}","shape":[${shape}],"data_offsets":[${begin},${end}]}`,
  );
  const text = `${BEFORE_DIGEST}${digest}","model":${JSON.stringify(model)}}${entries.join("")}}`;
  const { length } = new TextEncoder().encode(text);
  return text + " ".repeat((8 - (length % 8)) % 8);
}

// Reading

/** Decodes the header after checking that this is a file of a version that can be read. */
function readHeader(bytes: Uint8Array): { readonly text: string; readonly byteLength: number } {
  if (bytes.length < DIGEST_END) throw badFile(`cut short: ${bytes.length} bytes are too few for a ranksim model`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const byteLength = view.getUint32(0, true) + view.getUint32(4, true) * 0x1_0000_0000;
  const opening = String.fromCharCode(...bytes.subarray(8, 8 + OPENING.length));
  if (opening !== OPENING) throw badFile(`not a ranksim model: the header does not begin with ${OPENING}`);
  const version = /^(\d{1,9})"/.exec(String.fromCharCode(...bytes.subarray(8 + OPENING.length, DIGEST_AT)))?.[1];
  if (version === undefined || Number(version) < VERSION) {
    throw badFile(`header, byte ${8 + OPENING.length}: the version is not a positive number`);
  }
  if (Number(version) > VERSION) {
    throw badFile(`made by a newer ranksim: version ${version}, this one reads ${VERSION}`);
  }
  if (byteLength > LONGEST_HEADER) {
    throw badFile(`the header is said to have ${byteLength} bytes, at most ${LONGEST_HEADER} are allowed`);
  }
  if (byteLength > bytes.length - 8) {
    throw badFile(`cut short: a header of ${byteLength} bytes was promised, ${bytes.length - 8} bytes follow`);
  }
  // A copy, because decoders refuse shared memory.
  const header = new Uint8Array(bytes.subarray(8, 8 + byteLength));
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(header);
    return { text, byteLength };
  } catch (cause) {
    throw new RanksimError("bad-file", "the header is not UTF-8", { cause });
  }
}

/** Checks the header against the number of bytes that follow it. */
function readPlaces(text: string, dataLength: number): { readonly model: string; readonly placed: readonly Placed[] } {
  const { __metadata__: metadata, ...entries } = parseJson(text, "header") as { readonly [key: string]: Json };
  const { model, digest } = (metadata ?? {}) as { readonly [key: string]: Json };
  if (typeof model !== "string") throw badFile("header: expected the model as a string");
  if (typeof digest !== "string" || !/^[0-9a-f]{64}$/.test(digest)) {
    throw badFile("header: expected the digest as 64 lower-case hexadecimal digits");
  }
  const arrays = Object.entries(entries).map(([name, entry]) => readEntry(name, entry));
  const placed = place(arrays);
  const end = placed.at(-1)?.end ?? 0;
  if (end !== dataLength) {
    throw badFile(
      `${end > dataLength ? "cut short" : "too long"}: expected ${end} bytes of arrays, found ${dataLength}`,
    );
  }
  const expected = headerText(model, placed, digest);
  if (expected !== text) {
    const at = firstDifference(text, expected);
    throw badFile(
      `header, character ${at}: expected ${JSON.stringify(expected.slice(at, at + 40))}, found ${JSON.stringify(text.slice(at, at + 40))}`,
    );
  }
  return { model, placed };
}

/** The type and shape of one array; its offsets are judged by laying all arrays out again. */
function readEntry(name: string, entry: Json): Pick<Placed, "name" | "type" | "shape"> {
  const where = `array ${JSON.stringify(name)}`;
  if (!ARRAY_NAME.test(name.slice(name.lastIndexOf(".") + 1))) throw badFile(`${where}: the name is not allowed`);
  const { dtype, shape } = (entry ?? {}) as { readonly [key: string]: Json };
  if (typeof dtype !== "string" || !Object.hasOwn(ARRAY_OF, dtype)) {
    throw badFile(`${where}: expected a type among ${Object.keys(ARRAY_OF)}, found ${JSON.stringify(dtype)}`);
  }
  if (!Array.isArray(shape) || Number.isNaN(countOf(shape))) {
    throw badFile(
      `${where}: expected a shape of whole numbers below 2^32, found ${JSON.stringify(shape)?.slice(0, 80)}`,
    );
  }
  return { name, type: dtype as ElementType, shape };
}

/** Compares the digest with that of the whole file, in which the digest's own 64 characters are read as "0". */
function checkDigest(bytes: Uint8Array): void {
  const stated = String.fromCharCode(...bytes.subarray(DIGEST_AT, DIGEST_END));
  const zeros = new Uint8Array(NO_DIGEST.length).fill(NO_DIGEST.charCodeAt(0));
  const found = sha256([bytes.subarray(0, DIGEST_AT), zeros, bytes.subarray(DIGEST_END)]);
  if (stated !== found) {
    throw badFile(
      `damaged: the digest in the header is ${stated.slice(0, 8)}..., the bytes give ${found.slice(0, 8)}...`,
    );
  }
}

/** Puts the tree and its arrays together again; parts that were found leave the map. */
function savedOf(tree: Json, prefix: string, parts: Map<string, SavedArrays>): Saved {
  const where = prefix === "" ? "model" : `step ${prefix.slice(0, -1)}`;
  const { kind, meta, steps, ...others } = (tree ?? {}) as { readonly [key: string]: Json };
  if (typeof kind !== "string") throw badFile(`${where}: expected a kind, found ${JSON.stringify(kind)}`);
  if (typeof meta !== "object" || meta === null || Array.isArray(meta))
    throw badFile(`${where}: expected meta as an object`);
  if (steps !== undefined && !Array.isArray(steps)) throw badFile(`${where}: expected steps as a list`);
  for (const key of Object.keys(others)) throw badFile(`${where}: unknown field ${JSON.stringify(key)}`);
  const arrays = parts.get(prefix) ?? {};
  parts.delete(prefix);
  const saved = { kind, meta: meta as Saved["meta"], arrays };
  return steps ? { ...saved, steps: steps.map((step, i) => savedOf(step, `${prefix}${i}.`, parts)) } : saved;
}

// Both

function typeOf(name: string, values: SavedArray["values"]): ElementType {
  const found = Object.entries(ARRAY_OF).find(([, Typed]) => values instanceof Typed);
  if (!found) throw new RanksimError("unsupported", `array ${name}: no such element type in a file`);
  return found[0] as ElementType;
}

/** Number of elements, or NaN where an extent is not a whole number below 2^32. */
function countOf(shape: readonly unknown[]): number {
  let count = 1;
  for (const extent of shape) {
    if (!Number.isInteger(extent) || (extent as number) < 0 || (extent as number) > 0xffff_ffff) return Number.NaN;
    count *= extent as number;
  }
  return count;
}

function checkFinite(name: string, values: SavedArray["values"], code: "bad-file" | "unsupported"): void {
  if (!(values instanceof Float64Array || values instanceof Float32Array)) return;
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) {
      throw new RanksimError(code, `array ${name}, position ${i}: expected a finite number, found ${values[i]}`);
    }
  }
}

function badFile(message: string): RanksimError {
  return new RanksimError("bad-file", message);
}
