/** Counting terms text by text into sparse rows, features ascending. The same for known and for growing vocabularies. */

import { RanksimError, type Run, type Values } from "@ranksim/core";
import { type Account, Budget } from "../budget.ts";
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
/** Bytes of a count where it is a weight, and as it is packed for training. */
const WEIGHT_BYTES = 16;

/** Counts the terms that `find` gives a feature. */
export async function countTerms(
  texts: readonly string[],
  analyze: Analyzer,
  find: (term: string) => number | undefined,
  binary: boolean,
  run: Run,
  stage: "fit" | "transform",
): Promise<TermCounts> {
  const account = run.memory === undefined ? undefined : new Budget(run.memory).of("counts of terms");
  const rows = new RowsOfCounts(checkTexts(texts), account);
  for (let row = 0; row < texts.length; row++) {
    if (row % STEP === 0) await advance(run, stage, row / texts.length);
    analyze(texts[row], (term) => {
      const feature = find(term);
      if (feature !== undefined) rows.add(feature, 1);
    });
    rows.end(row, binary);
  }
  await advance(run, stage, 1);
  return rows.finish();
}

/** Sparse rows from counts that come in any order. */
class RowsOfCounts {
  readonly #offsets: Uint32Array;
  readonly #account: Account | undefined;
  readonly #indices: GrowingIndices;
  readonly #values: GrowingValues;
  /** The counts of the row that is made now, at the places of its features; 0 elsewhere. */
  #counts = new Float64Array(1024);
  readonly #features: number[] = [];

  /** The account pays for the counts. */
  constructor(rows: number, account?: Account) {
    this.#account = account;
    this.#indices = new GrowingIndices(account);
    this.#values = new GrowingValues(account);
    this.#offsets = new Uint32Array(rows + 1);
  }

  /** Adds a count, which is above 0, to the row. */
  add(feature: number, count: number): void {
    if (feature >= this.#counts.length) {
      const larger = new Float64Array(Math.max(feature + 1, this.#counts.length * 2));
      larger.set(this.#counts);
      this.#counts = larger;
    }
    if (this.#counts[feature] === 0) this.#features.push(feature);
    this.#counts[feature] += count;
  }

  end(row: number, binary: boolean): void {
    this.#account?.take(WEIGHT_BYTES * this.#features.length);
    for (const feature of Uint32Array.from(this.#features).sort()) {
      this.#indices.push(feature);
      this.#values.push(binary ? 1 : this.#counts[feature]);
      this.#counts[feature] = 0;
    }
    this.#features.length = 0;
    this.#offsets[row + 1] = this.#indices.length;
  }

  finish(): TermCounts {
    return { offsets: this.#offsets, indices: this.#indices.finish(), values: this.#values.finish() };
  }
}

/** Stops if the caller wishes, and tells where the work stands. */
export async function advance(run: Run, stage: "fit" | "transform", share: number): Promise<void> {
  run.signal?.throwIfAborted();
  await run.onProgress?.({ stage, share });
}

/** Number of texts. Refuses (code "bad-matrix") what is no list of strings. */
export function checkTexts(texts: readonly string[]): number {
  if (!Array.isArray(texts)) {
    throw new RanksimError("bad-matrix", `expected an array of texts, found ${kindOf(texts)}; ${CURE}`);
  }
  const other = texts.findIndex((text) => typeof text !== "string");
  if (other >= 0) {
    throw new RanksimError("bad-matrix", `row ${other}: expected a text, found ${kindOf(texts[other])}; ${CURE}`);
  }
  return texts.length;
}

const CURE = 'texts are passed as ["one text", "another text"]';

/** What was passed in place of a text or of texts. */
function kindOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return value === null ? "null" : `a value of type ${typeof value}`;
  const name = value.constructor?.name ?? "Object";
  return `${/^[AEIO]/.test(name) ? "an" : "a"} ${name}`;
}

/** The columns `features` of `width`, in that order, renumbered from 0. */
export function withFeatures(counts: TermCounts, features: readonly number[], width: number): TermCounts {
  const renumbered = new Int32Array(width).fill(-1);
  features.forEach((feature, i) => {
    renumbered[feature] = i;
  });
  const rows = new RowsOfCounts(counts.offsets.length - 1);
  for (let row = 0; row + 1 < counts.offsets.length; row++) {
    for (let e = counts.offsets[row]; e < counts.offsets[row + 1]; e++) {
      const feature = renumbered[counts.indices[e]];
      if (feature >= 0) rows.add(feature, counts.values[e]);
    }
    rows.end(row, false);
  }
  return rows.finish();
}
