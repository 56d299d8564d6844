/**
 * The bytes of a file as plain data, trusting nothing: length, header, layout and digest are checked before an array is
 * viewed. Time and memory grow with the length of the bytes, not with what they promise. Knows nothing of kinds of models.
 */

import { RanksimError } from "../../errors.ts";
import type { Json, Saved, SavedArray } from "../saved.ts";
import { firstDifference, parseCanonicalJson, parseJson } from "./canonical-json.ts";
import {
  ARRAY_NAME,
  ARRAY_OF,
  checkFinite,
  countOf,
  DIGEST_AT,
  DIGEST_END,
  type ElementType,
  headerText,
  LONGEST_HEADER,
  NO_DIGEST,
  OPENING,
  type Placed,
  place,
  VERSION,
} from "./layout.ts";
import { sha256 } from "./sha256.ts";

/** The arrays of one part of a model, by name. */
type SavedArrays = { [name: string]: SavedArray };

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
  const { kind, meta, steps, schema, ...others } = (tree ?? {}) as { readonly [key: string]: Json };
  if (typeof kind !== "string") throw badFile(`${where}: expected a kind, found ${JSON.stringify(kind)}`);
  if (typeof meta !== "object" || meta === null || Array.isArray(meta))
    throw badFile(`${where}: expected meta as an object`);
  if (steps !== undefined && !Array.isArray(steps)) throw badFile(`${where}: expected steps as a list`);
  if (schema !== undefined && prefix !== "") throw badFile(`${where}: expected no schema but that of the whole model`);
  for (const key of Object.keys(others)) throw badFile(`${where}: unknown field ${JSON.stringify(key)}`);
  const arrays = parts.get(prefix) ?? {};
  parts.delete(prefix);
  const saved = { kind, meta: meta as Saved["meta"], arrays, ...(schema === undefined ? {} : { schema }) };
  return steps ? { ...saved, steps: steps.map((step, i) => savedOf(step, `${prefix}${i}.`, parts)) } : saved;
}

function badFile(message: string): RanksimError {
  return new RanksimError("bad-file", message);
}
