/** Counting terms text by text into sparse rows, features ascending. The same for known and for growing vocabularies. */

import { RanksimError, type Run, type Values } from "@ranksim/core";
import { GrowingIndices, GrowingValues } from "../growing-values.ts";
import type { Analyzer } from "./analyze.ts";

/** Counts as the three arrays of sparse rows. */
export interface TermCounts {
  readonly offsets: Uint32Array;
  readonly indices: Uint32Array;
  readonly values: Values;
}

/** Texts between two looks at the signal and two words of progress. */
const STEP = 1024;

/** Counts the terms that `find` gives a feature. */
export async function countTerms(
  texts: readonly string[],
  analyze: Analyzer,
  find: (term: string) => number | undefined,
  binary: boolean,
  run: Run,
  stage: "fit" | "transform",
): Promise<TermCounts> {
  const offsets = new Uint32Array(checkTexts(texts) + 1);
  const indices = new GrowingIndices();
  const values = new GrowingValues();
  for (let row = 0; row < texts.length; row++) {
    if (row % STEP === 0) await advance(run, stage, row / texts.length);
    const counts = new Map<number, number>();
    for (const term of analyze(texts[row])) {
      const feature = find(term);
      if (feature !== undefined) counts.set(feature, (counts.get(feature) ?? 0) + 1);
    }
    for (const feature of Uint32Array.from(counts.keys()).sort()) {
      indices.push(feature);
      values.push(binary ? 1 : (counts.get(feature) as number));
    }
    offsets[row + 1] = indices.length;
  }
  await advance(run, stage, 1);
  return { offsets, indices: indices.finish(), values: values.finish() };
}

/** Stops if the caller wishes, and tells where the work stands. */
export async function advance(run: Run, stage: "fit" | "transform", share: number): Promise<void> {
  run.signal?.throwIfAborted();
  await run.onProgress?.({ stage, share });
}

/** Number of texts. Refuses (code "bad-matrix") what is no list of strings. */
export function checkTexts(texts: readonly string[]): number {
  if (!Array.isArray(texts)) {
    throw new RanksimError("bad-matrix", `expected an array of texts, found ${texts === null ? "null" : typeof texts}`);
  }
  const other = texts.findIndex((text) => typeof text !== "string");
  if (other >= 0) throw new RanksimError("bad-matrix", `row ${other}: expected a text, found ${typeof texts[other]}`);
  return texts.length;
}

/** The columns `features` of `width`, in that order, renumbered from 0. */
export function withFeatures(counts: TermCounts, features: readonly number[], width: number): TermCounts {
  const renumbered = new Int32Array(width).fill(-1);
  features.forEach((feature, i) => {
    renumbered[feature] = i;
  });
  const rows = counts.offsets.length - 1;
  const offsets = new Uint32Array(rows + 1);
  const indices = new GrowingIndices();
  const values = new GrowingValues();
  for (let row = 0; row < rows; row++) {
    const [from, to] = [counts.offsets[row], counts.offsets[row + 1]];
    const entries = Array.from({ length: to - from }, (_, j) => from + j).filter(
      (e) => renumbered[counts.indices[e]] >= 0,
    );
    entries.sort((a, b) => renumbered[counts.indices[a]] - renumbered[counts.indices[b]]);
    for (const e of entries) {
      indices.push(renumbered[counts.indices[e]]);
      values.push(counts.values[e]);
    }
    offsets[row + 1] = indices.length;
  }
  return { offsets, indices: indices.finish(), values: values.finish() };
}
