/**
 * The model in a file: bytes become plain data, of which the reader of its kind makes a model. Reading from a disk or a network is the
 * caller's part.
 */

import { describeGiven, RanksimError } from "../errors.ts";
import { ownArray } from "../matrix/values.ts";
import type { Model, ModelReader } from "../models/estimator.ts";
import type { LoadedModel } from "../models/loaded.ts";
import { attachStored } from "../models/schema.ts";
import { canonicalJson, firstDifference } from "./container/canonical-json.ts";
import { decodeSaved } from "./container/decode.ts";
import { builtInReaders } from "./readers.ts";
import type { Json, Saved } from "./saved.ts";

/** Options of `loadModel`. */
export interface LoadOptions<R extends ModelReader = ModelReader> {
  /** Readers for kinds of models that are not built in; one for a built-in kind takes its place. */
  readonly readers?: readonly R[];
}

/**
 * The model in a file. It is of the same type as when it was trained, and `kind` says which that is; `schemaOf` gives its
 * schema. The bytes are checked in full first, and every
 * refusal has the code "bad-file". The model keeps views of `bytes`, which must not change afterwards; memory that can be
 * resized is copied.
 */
export function loadModel<R extends ModelReader = never>(
  file: Uint8Array | ArrayBuffer,
  options: LoadOptions<R> = {},
): LoadedModel | ReturnType<R["read"]> {
  const bytes = bytesOf(file);
  const readers = new Map<string, ModelReader>(
    [...builtInReaders, ...(options.readers ?? [])].map((reader) => [reader.kind, reader]),
  );
  const read = (saved: Saved): Model => {
    const reader = readers.get(saved.kind);
    if (reader) return reader.read(saved, read);
    const known = [...readers.keys()].join(", ");
    throw new RanksimError("bad-file", `no reader for models of kind ${JSON.stringify(saved.kind)}, only for ${known}`);
  };
  try {
    const saved = decodeSaved(isFixed(bytes.buffer) ? bytes : new Uint8Array(bytes));
    const model = read(saved);
    if (saved.schema !== undefined) attachStored(model, saved.schema);
    checkOutline(saved, model.save());
    return model as LoadedModel;
  } catch (cause) {
    if (cause instanceof RanksimError && cause.code === "bad-file") throw cause;
    // A forged file can make a reader stumble in ways it did not foresee; the caller still has one thing to catch.
    throw new RanksimError("bad-file", `not a model: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/** The bytes of a file, which may come of another realm. */
function bytesOf(file: Uint8Array | ArrayBuffer): Uint8Array {
  const own = ownArray(file, Uint8Array);
  if (own) return own;
  if (Object.prototype.toString.call(file) === "[object ArrayBuffer]") return new Uint8Array(file as ArrayBuffer);
  throw new RanksimError("bad-file", `expected the file's bytes as a Uint8Array, found ${describeGiven(file)}`);
}

/** Whether a buffer keeps its size as long as it lives. */
function isFixed(buffer: ArrayBufferLike): boolean {
  const { resizable, growable } = buffer as { readonly resizable?: boolean; readonly growable?: boolean };
  return !resizable && !growable;
}

/** Refuses fields and arrays that the model's reader took no notice of: saving the model has to give what the file holds. */
function checkOutline(found: Saved, expected: Saved): void {
  refuseUnknownArrays(found, expected);
  const [a, b] = [found, expected].map((saved) => canonicalJson(outlineOf(saved), "model"));
  if (a === b) return;
  const at = firstDifference(a, b);
  const part = (text: string) => JSON.stringify(text.slice(at, at + 40));
  throw new RanksimError("bad-file", `${found.kind} model: expected ${part(b)} in the header, found ${part(a)}`);
}

function refuseUnknownArrays(found: Saved, expected: Saved): void {
  for (const name of Object.keys(found.arrays)) {
    if (Object.hasOwn(expected.arrays, name)) continue;
    throw new RanksimError("bad-file", `${found.kind} model: unknown array ${name}`);
  }
  found.steps?.forEach((step, j) => {
    if (expected.steps?.[j]) refuseUnknownArrays(step, expected.steps[j]);
  });
}

/** A model but for the contents of its arrays and its schema, which is checked by itself. */
function outlineOf({ kind, meta, arrays, steps }: Saved): Json {
  const shapes = Object.entries(arrays).map(([name, { shape, values }]) => [name, [values.constructor.name, ...shape]]);
  return { kind, meta, arrays: Object.fromEntries(shapes), ...(steps && { steps: steps.map(outlineOf) }) };
}
