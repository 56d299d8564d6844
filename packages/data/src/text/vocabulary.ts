/** The terms of a vectoriser, in the order of their features: looked up by name, stored as UTF-8 with offsets. */

import { RanksimError, type Saved, type SavedArray } from "@ranksim/core";

/** Terms and their feature numbers. */
export interface Vocabulary {
  readonly terms: readonly string[];
  readonly feature: ReadonlyMap<string, number>;
}

/** A vocabulary of terms that are all different. */
export function vocabularyOf(terms: readonly string[]): Vocabulary {
  return { terms, feature: new Map(terms.map((term, i) => [term, i])) };
}

/** Sorts strings in place by their characters' code points, as Python does. */
export function sortTerms(terms: string[]): string[] {
  // JavaScript's own order, by halves of UTF-16, is the same unless there are characters beyond 0xffff, and much faster.
  return terms.some((term) => /[\ud800-\udfff]/.test(term)) ? terms.sort(compareCodePoints) : terms.sort();
}

function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x === y) continue;
    // Halves of characters beyond 0xffff (0xd800..0xdfff) come after all others.
    const [xHalf, yHalf] = [x >= 0xd800 && x < 0xe000, y >= 0xd800 && y < 0xe000];
    return xHalf === yHalf ? x - y : xHalf ? 1 : -1;
  }
  return a.length - b.length;
}

/** The terms as arrays for a model file. */
export function vocabularyArrays(terms: readonly string[]): { [name: string]: SavedArray } {
  const encoder = new TextEncoder();
  const encoded = terms.map((term) => encoder.encode(term));
  const offsets = new Uint32Array(terms.length + 1);
  for (let i = 0; i < terms.length; i++) offsets[i + 1] = offsets[i] + encoded[i].length;
  const bytes = new Uint8Array(offsets[terms.length]);
  for (let i = 0; i < terms.length; i++) bytes.set(encoded[i], offsets[i]);
  return {
    term_bytes: { shape: [bytes.length], values: bytes },
    term_offsets: { shape: [offsets.length], values: offsets },
  };
}

/** Reads what `vocabularyArrays` wrote; refuses (code "bad-file") anything else, and terms that come twice unless they may. */
export function readVocabulary(saved: Saved, mayRepeat = false): Vocabulary {
  const bytes = saved.arrays.term_bytes?.values;
  const offsets = saved.arrays.term_offsets?.values;
  if (!(bytes instanceof Uint8Array) || !(offsets instanceof Uint32Array) || offsets.length < 2) {
    throw badSaved(saved, "expected terms as bytes with offsets");
  }
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const terms: string[] = [];
  for (let i = 0; i + 1 < offsets.length; i++) {
    if (offsets[i + 1] < offsets[i] || offsets[i + 1] > bytes.length || (i === 0 && offsets[0] !== 0)) {
      throw badSaved(saved, `term ${i}: expected offsets that do not fall, within ${bytes.length} bytes`);
    }
    try {
      // A copy, because decoders refuse shared memory.
      terms.push(decoder.decode(bytes.slice(offsets[i], offsets[i + 1])));
    } catch (cause) {
      throw badSaved(saved, `term ${i}: expected UTF-8`, cause);
    }
  }
  if (offsets[offsets.length - 1] !== bytes.length) throw badSaved(saved, "expected the terms to take all bytes");
  const vocabulary = vocabularyOf(terms);
  if (!mayRepeat && vocabulary.feature.size !== terms.length)
    throw badSaved(saved, "expected terms that are all different");
  return vocabulary;
}

/** The error for stored data that no such model can have. */
export function badSaved(saved: Saved, message: string, cause?: unknown): RanksimError {
  return new RanksimError("bad-file", `${saved.kind} model: ${message}`, cause === undefined ? undefined : { cause });
}
