/**
 * What readers of stored models take from plain data: arrays, counts, class names and parameters, each checked where it is read. What is
 * wrong is said of the model, with the code "bad-file".
 */

import { RanksimError } from "../../errors.ts";
import type { Label } from "../../matrix/labels.ts";
import type { Json, Saved, SavedArray } from "../saved.ts";
import { COUNT, isPlain, oneOf, such } from "./record.ts";

/** The error for impossible stored data. */
export function bad(saved: Saved, what: string): RanksimError {
  return new RanksimError("bad-file", `${saved.kind} model: ${what}`);
}

interface ElementType<T> {
  readonly name: string;
  new (length: number): T;
}

/** A vector as it is stored. */
export const stored = (values: SavedArray["values"]): SavedArray => ({ shape: [values.length], values });

/** A stored array of one of some types. Extents that are not given may be any. */
export function array<T extends SavedArray["values"]>(
  saved: Saved,
  name: string,
  types: readonly ElementType<T>[],
  extents: readonly (number | undefined)[],
): { readonly shape: readonly number[]; readonly values: T } {
  const found = saved.arrays[name];
  if (!found) throw bad(saved, `array ${name} is missing`);
  const { shape, values } = found;
  const fits =
    shape.length === extents.length && shape.every((extent, e) => extents[e] === undefined || extent === extents[e]);
  if (fits && isOneOf(values, types)) return { shape, values };
  const wanted = `${extents.map((extent) => extent ?? "any number").join(" x ")} of ${types.map((type) => type.name).join(" or ")}`;
  throw bad(saved, `${name}: expected ${wanted}, found ${shape.join(" x ")} of ${values.constructor.name}`);
}

const isOneOf = <T>(values: unknown, types: readonly ElementType<T>[]): values is T =>
  types.some((type) => values instanceof type);

/** A stored vector of one element type. */
export function vector<T extends SavedArray["values"]>(
  saved: Saved,
  name: string,
  type: ElementType<T>,
  length?: number,
): T {
  return array(saved, name, [type], [length]).values;
}

/** Refuses offsets that do not run from 0 to `total` in `groups` steps, none of them back. */
export function checkOffsets(saved: Saved, name: string, offsets: Uint32Array, groups: number, total: number): void {
  if (offsets.length !== groups + 1 || offsets[0] !== 0 || offsets[groups] !== total) {
    throw bad(saved, `${name}: expected ${groups + 1} offsets from 0 to ${total}`);
  }
  for (let g = 0; g < groups; g++) if (offsets[g] > offsets[g + 1]) throw bad(saved, `${name}: offset ${g + 1} falls`);
}

/** Where the entries of each filter are, `NAME_offsets`, and their numbers, `NAME_indices`, which ascend below a bound. */
export function sparseEntries(
  saved: Saved,
  name: string,
  filters: number,
  below: number,
): { readonly offsets: Uint32Array; readonly indices: Uint32Array } {
  const offsets = vector(saved, `${name}_offsets`, Uint32Array);
  const indices = vector(saved, `${name}_indices`, Uint32Array);
  checkOffsets(saved, `${name}_offsets`, offsets, filters, indices.length);
  for (let f = 0; f < filters; f++) {
    for (let e = offsets[f]; e < offsets[f + 1]; e++) {
      if (indices[e] >= below || (e > offsets[f] && indices[e] <= indices[e - 1])) {
        throw bad(saved, `${name}_indices: filter ${f}: expected ascending numbers below ${below}`);
      }
    }
  }
  return { offsets, indices };
}

/** A stored count. */
export function count(saved: Saved, name: string): number {
  const wrong = COUNT(saved.meta[name], name);
  if (wrong !== undefined) throw bad(saved, wrong);
  return saved.meta[name] as number;
}

/** The stored parameters. */
export function readParams(saved: Saved): { readonly [name: string]: Json } {
  const { params } = saved.meta;
  if (!isPlain(params)) throw bad(saved, "params: expected an object");
  return params as { readonly [name: string]: Json };
}

const FROM_ONE = such("a whole number from 1", (value) => Number.isSafeInteger(value) && (value as number) >= 1);

/** Parameters that answers depend on. Models have other ones as well, those of earlier versions among them. */
const DECIDING = {
  nBest: FROM_ONE,
  voters: FROM_ONE,
  decision: oneOf("vote", "probability"),
  combine: oneOf("max", "mean"),
  calibrate: oneOf("none", "temperature", "isotonic"),
  thresholds: oneOf("none", "common", "perLabel"),
};

/** The stored parameters of filters; those that answers depend on are checked, where they are there. */
export function readFilterParams(saved: Saved): ReturnType<typeof readParams> {
  const params = readParams(saved);
  for (const [name, check] of Object.entries(DECIDING)) {
    if (params[name] === undefined && name !== "nBest") continue;
    const wrong = check(params[name], name);
    if (wrong !== undefined) throw bad(saved, wrong);
  }
  return params;
}

/** The stored class names: different, each a string or a number. */
export function readClasses(saved: Saved): readonly Label[] {
  const { classes } = saved.meta;
  if (!Array.isArray(classes) || classes.length === 0) throw bad(saved, "classes: expected a list of names");
  for (const name of classes) {
    if (typeof name !== "string" && typeof name !== "number") throw bad(saved, "classes: expected strings and numbers");
  }
  if (new Set(classes).size !== classes.length) throw bad(saved, "classes: a name occurs twice");
  return classes as Label[];
}
