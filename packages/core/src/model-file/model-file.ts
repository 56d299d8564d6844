/**
 * Models as files: `saveModel` and `loadModel`. A model gives plain data (`Saved`), which becomes bytes; bytes become plain
 * data, of which the reader of its kind makes a model. Reading from a disk or a network is the caller's part.
 */

import { describeGiven, RanksimError } from "../errors.ts";
import type { Model, ModelReader } from "../estimators/estimator.ts";
import { attachStored, schemaOf } from "../estimators/schema.ts";
import { firstDifference } from "./container/canonical-json.ts";
import { decodeSaved } from "./container/decode.ts";
import { encodeSaved, outlineOf } from "./container/encode.ts";
import type { LoadedModel } from "./loaded.ts";
import { builtInReaders } from "./readers.ts";
import type { Json, Saved } from "./saved.ts";

/** How a model is saved. */
export interface SaveOptions {
  /**
   * Whether the file says which training rows each filter stands for, and keeps hashes of rows (default true). Without them
   * it is smaller and names no row; its answers are the same.
   */
  readonly rows?: boolean;
}

/** The model as a file (FORMAT.md), with its schema if it has one. Equal models give equal bytes. */
export function saveModel(model: Model, { rows = true }: SaveOptions = {}): Bytes {
  if (typeof model?.save !== "function") {
    throw new RanksimError("unsupported", `expected a model to save, found ${describeGiven(model)}`);
  }
  return encodeSaved(rows ? savedWhole(model) : withoutRows(savedWhole(model)));
}

/** The data of a model without what it says of single training rows. */
function withoutRows(saved: Saved): Saved {
  const { member_offsets: offsets, member_rows: _, ...arrays } = saved.arrays;
  const none = offsets && {
    member_offsets: { shape: offsets.shape, values: new Uint32Array(offsets.values.length) },
    member_rows: { shape: [0], values: new Uint32Array(0) },
  };
  const { training, ...rest } = (saved.schema ?? {}) as { readonly training?: { readonly [key: string]: Json } };
  const { seen: _seen, ...kept } = training ?? {};
  return {
    ...saved,
    arrays: { ...arrays, ...none },
    ...(saved.steps ? { steps: saved.steps.map(withoutRows) } : {}),
    ...(saved.schema ? { schema: { ...rest, ...(training ? { training: kept } : {}) } } : {}),
  };
}

function savedWhole(model: Model): Saved {
  const schema = schemaOf(model);
  return schema ? { ...model.save(), schema: schema as unknown as Json } : model.save();
}

/** Bytes in memory of their own. Written so that compilers which know no type of buffer behind an array read it too. */
type Bytes = ReturnType<Uint8ArrayConstructor["of"]>;

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
  bytes: Uint8Array,
  options: LoadOptions<R> = {},
): LoadedModel | ReturnType<R["read"]> {
  if (!(bytes instanceof Uint8Array)) {
    throw new RanksimError("bad-file", `expected the file's bytes as a Uint8Array, found ${describeGiven(bytes)}`);
  }
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
    checkSameOutline(saved, savedWhole(model));
    return model as LoadedModel;
  } catch (cause) {
    if (cause instanceof RanksimError && cause.code === "bad-file") throw cause;
    // A forged file can make a reader stumble in ways it did not foresee; the caller still has one thing to catch.
    throw new RanksimError("bad-file", `not a model: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/** Whether a buffer keeps its size as long as it lives. */
function isFixed(buffer: ArrayBufferLike): boolean {
  const { resizable, growable } = buffer as { readonly resizable?: boolean; readonly growable?: boolean };
  return !resizable && !growable;
}

/** Refuses fields that the model's reader took no notice of: the file would not be what saving the model gives. */
function checkSameOutline(found: Saved, expected: Saved): void {
  const [a, b] = [outlineOf(found), outlineOf(expected)];
  if (a === b) return;
  const at = firstDifference(a, b);
  const part = (text: string) => JSON.stringify(text.slice(at, at + 40));
  throw new RanksimError("bad-file", `${found.kind} model: expected ${part(b)} in the header, found ${part(a)}`);
}
