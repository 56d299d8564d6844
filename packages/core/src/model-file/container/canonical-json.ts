/**
 * JSON with one text for each value: no white space, the keys of every object in ascending order of their UTF-16 code
 * units, numbers and strings as `JSON.stringify` writes them. Equal values give equal bytes, and a text that is not in
 * this form is refused, so a repeated key, a hidden second reading or an odd spelling of a number cannot pass.
 */

import { RanksimError } from "../../errors.ts";
import type { Json } from "../saved.ts";

/** Lists and objects within one another; a model has about ten levels. */
export const DEEPEST = 64;

/** The canonical text of `value`. Refuses (code "unsupported") what JSON cannot carry, by its place. */
export function canonicalJson(value: unknown, place = "value", depth = 1): string {
  if (isLeaf(value)) return JSON.stringify(value);
  if (typeof value !== "object" || value === null) {
    throw new RanksimError("unsupported", `${place}: expected JSON, found ${describe(value)}`);
  }
  if (depth > DEEPEST) throw new RanksimError("unsupported", `${place}: nested deeper than ${DEEPEST} levels`);
  if (Array.isArray(value)) {
    // A vocabulary can have a million words: one call for all of them saves a third of the time to load it.
    if (Array.from(value).every(isLeaf)) return JSON.stringify(value);
    return `[${Array.from(value, (item, i) => canonicalJson(item, `${place}[${i}]`, depth + 1)).join(",")}]`;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new RanksimError("unsupported", `${place}: expected a plain object, found ${describe(value)}`);
  }
  const fields: string[] = [];
  for (const key of Object.keys(value).sort()) {
    // A reader that copies fields one by one would set the prototype instead.
    if (key === "__proto__") throw new RanksimError("unsupported", `${place}: the key "__proto__" is not allowed`);
    const field = (value as { [key: string]: unknown })[key];
    fields.push(`${JSON.stringify(key)}:${canonicalJson(field, `${place}.${key}`, depth + 1)}`);
  }
  return `{${fields.join(",")}}`;
}

/** The value of a canonical text. Refuses (code "bad-file") any other text, by its place. */
export function parseCanonicalJson(text: string, place: string): Json {
  const value = parseJson(text, place);
  const again = canonicalJson(value, place);
  if (again !== text) {
    throw new RanksimError("bad-file", `${place}: not canonical JSON from character ${firstDifference(text, again)}`);
  }
  return value;
}

/** The value of any JSON text of bounded depth. The depth is checked first: it bounds what the parser may allocate. */
export function parseJson(text: string, place: string): Json {
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (quoted) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) quoted = false;
    } else if (code === QUOTE) quoted = true;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (++depth > DEEPEST) {
        throw new RanksimError("bad-file", `${place}: nested deeper than ${DEEPEST} levels at character ${i}`);
      }
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth--;
  }
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new RanksimError("bad-file", `${place}: not JSON (${(cause as Error).message})`, { cause });
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Position of the first character in which two texts differ. */
export function firstDifference(a: string, b: string): number {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  return i;
}

function isLeaf(value: unknown): boolean {
  return typeof value === "string" || typeof value === "boolean" || value === null || Number.isFinite(value);
}

function describe(value: unknown): string {
  if (typeof value === "object") return (value as object).constructor?.name ?? "an object";
  return typeof value === "number" ? String(value) : typeof value;
}
