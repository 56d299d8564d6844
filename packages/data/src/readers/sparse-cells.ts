/** Sparse rows on their way to a matrix: how many features they have, and whether these count from 0 or 1. */

import { RanksimError } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import type { BuiltRows, CellsBuilder } from "./cells-builder.ts";
import { CsrBuilder } from "./csr-builder.ts";
import type { Reading, ReadOptions } from "./options.ts";
import type { Ending } from "./reader.ts";

/** Entries of sparse rows; the first rows that are handed on say whether features count from 0 or 1, where nothing else does. */
export class SparseCells implements CellsBuilder {
  readonly builder: CsrBuilder;
  readonly #name: string;
  readonly #options: Reading;
  /** Features that the rows have at least, as they say themselves. */
  features = 0;
  /** The number of the first feature, once it is known. */
  #first: 0 | 1 | undefined;
  /** Whether features may count from 1. */
  readonly #isCounted: boolean;

  constructor(name: string, options: Reading, account: Account, isCounted = false) {
    this.#name = name;
    this.#options = options;
    this.#isCounted = isCounted;
    this.builder = new CsrBuilder(name, account);
  }

  async take(
    _rows: number,
    _features: number,
    _names: readonly string[] | undefined,
    isOpen: boolean,
  ): Promise<BuiltRows> {
    const { builder } = this;
    if (isOpen && !this.#isKnown) return { form: "matrix", x: await builder.take(builder.largest + 1) };
    const { features, firstFeature = 0 } = this.#facts();
    const notes: string[] = [];
    if (builder.largest - firstFeature >= features && this.#options.schema !== undefined) {
      const cut = builder.cut(features + firstFeature);
      const what = `${cut.features} ${cut.features === 1 ? "feature" : "features"} beyond the ${features} of training`;
      if (cut.entries > 0) notes.push(`${this.#name}: ${what} left out, ${cut.entries} values in all`);
    }
    const x = await builder.take(features, firstFeature);
    return { form: "matrix", x, notes, ...(this.#isCounted ? { firstFeature } : {}) };
  }

  /** Whether nothing about the features depends on all rows. */
  get #isKnown(): boolean {
    const { features, firstFeature } = this.#options;
    return features !== undefined && (firstFeature !== undefined || !this.#isCounted);
  }

  ending(): Ending {
    return this.#isKnown ? {} : this.#facts();
  }

  #facts(): { readonly features: number; readonly firstFeature?: 0 | 1 } {
    const [name, { builder }, options] = [this.#name, this, this.#options];
    if (!this.#isCounted) return { features: options.features ?? Math.max(this.features, builder.largest + 1) };
    this.#first ??= firstFeature(builder, options);
    const first = this.#first;
    if (first > builder.smallest) throw badFile(name, "", "expected features from 1, found feature 0");
    const features = options.features ?? Math.max(builder.largest + 1 - first, 0);
    if (builder.largest - first >= features && options.schema === undefined) {
      throw badFile(name, "", `expected features up to ${features - 1 + first}, found ${builder.largest}`);
    }
    return { features, firstFeature: first };
  }

  add(): void {}
  addMissing(): void {}
  addText(): void {}
}

function firstFeature(builder: CsrBuilder, { firstFeature: given }: ReadOptions): 0 | 1 {
  if (given !== undefined && given !== 0 && given !== 1) {
    throw new RanksimError("bad-params", { parameter: "firstFeature", expected: "0 or 1", found: String(given) });
  }
  return given ?? (builder.smallest > 0 && builder.largest >= 0 ? 1 : 0);
}
