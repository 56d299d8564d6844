/** A model as a file: it gives plain data (`Saved`), which becomes bytes. Writing to a disk or a network is the caller's part. */

import { describeGiven, RanksimError } from "../errors.ts";
import type { Model } from "../models/estimator.ts";
import { schemaOf } from "../models/schema.ts";
import { encodeSaved } from "./container/encode.ts";
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
