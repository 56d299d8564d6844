/** A model for rows that lack some of its columns, such as genes that another lab did not measure. */

import type { Model } from "../models/estimator.ts";
import { narrowed, unsupported } from "../models/fewer-columns.ts";
import { schemaOf, withSchema } from "../models/schema.ts";
import { builtInReaders } from "./readers.ts";
import type { Saved } from "./saved.ts";

/**
 * The model for rows that have only the listed columns of those that it was trained on (ascending numbers). Refused (code "unsupported") for
 * kinds of models that need all their columns.
 */
export function withColumns<M extends Model>(model: M, columns: Uint32Array): M {
  const schema = schemaOf(model);
  const readers = new Map(builtInReaders.map((reader) => [reader.kind, reader]));
  const read = (saved: Saved): Model => {
    const reader = readers.get(saved.kind);
    if (!reader) throw unsupported(saved.kind);
    return reader.read(saved, read);
  };
  const made = read(narrowed(model.save(), columns)) as M;
  if (!schema) return made;
  const { training: _t, heldOut: _h, ...kept } = schema;
  return withSchema(made, {
    ...kept,
    width: columns.length,
    ...(schema.columns ? { columns: Array.from(columns, (c) => (schema.columns as typeof schema.columns)[c]) } : {}),
    ...(schema.fill ? { fill: Array.from(columns, (c) => (schema.fill as typeof schema.fill)[c]) } : {}),
  });
}
