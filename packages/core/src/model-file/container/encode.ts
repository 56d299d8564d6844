/** Plain data as the bytes of a file. Knows nothing of kinds of models. */

import { RanksimError } from "../../errors.ts";
import type { Json, Saved, SavedArray } from "../saved.ts";
import { canonicalJson } from "./canonical-json.ts";
import {
  ARRAY_NAME,
  ARRAY_OF,
  checkFinite,
  countOf,
  DIGEST_AT,
  type ElementType,
  headerText,
  LONGEST_HEADER,
  NO_DIGEST,
  place,
} from "./layout.ts";
import { sha256 } from "./sha256.ts";

/** The one file for `saved`. Refuses (code "unsupported") what a file cannot hold. */
export function encodeSaved(saved: Saved): Uint8Array<ArrayBuffer> {
  const model = canonicalJson(treeOf(saved), "model");
  const arrays = new Map<string, SavedArray>();
  gatherArrays(saved, "", arrays);
  const placed = place([...arrays].map(([name, { shape, values }]) => ({ name, type: typeOf(name, values), shape })));
  const header = new TextEncoder().encode(headerText(model, placed, NO_DIGEST));
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

/** The part of `saved` that goes into the header. */
function treeOf({ kind, meta, steps, schema }: Saved): Json {
  return { kind, meta, ...(steps ? { steps: steps.map(treeOf) } : {}), ...(schema ? { schema } : {}) };
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

function typeOf(name: string, values: SavedArray["values"]): ElementType {
  const found = Object.entries(ARRAY_OF).find(([, Typed]) => values instanceof Typed);
  if (!found) throw new RanksimError("unsupported", `array ${name}: no such element type in a file`);
  return found[0] as ElementType;
}
