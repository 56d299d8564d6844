/** Texts to counts of hashed terms: no vocabulary is learned or kept, so any amount of text fits. As scikit-learn hashes. */

import {
  Csr,
  type Estimator,
  type Json,
  type LabelSets,
  type Labels,
  type ModelReader,
  narrowest,
  type RowSource,
  type Run,
  type Saved,
  type TransformingModel,
} from "@ranksim/core";
import { GrowingIndices, GrowingValues } from "../growing-values.ts";
import { type Analyzer, analyzerOf } from "./analyze.ts";
import { advance, checkTexts } from "./counting.ts";
import { murmurHash } from "./murmur.ts";
import { normalizeRows } from "./normalize.ts";
import { HASHING_PARAMETERS, type HashingParams, textParamsAsJson } from "./params.ts";
import { readParams } from "./saved-text.ts";
import { isTextSource, type TextSource, type Texts, transformSource } from "./source.ts";
import { TextVectorizer } from "./vectorizer.ts";

/**
 * Scatters terms over a fixed number of features by their hash, as scikit-learn's class of this name does.
 *
 * ```ts
 * const counts = await new HashingVectorizer({ nFeatures: 2 ** 18 }).fitTransform(texts); // Csr
 * ```
 */
export class HashingVectorizer extends TextVectorizer<HashingParams> implements Estimator<Texts, HashingModel> {
  readonly kind = "hashing-vectorizer";

  constructor(params: Partial<HashingParams> = {}) {
    super(params, HASHING_PARAMETERS);
  }

  /** Learns nothing: the model follows from the parameters. */
  async fit(x: Texts, _y?: Labels | LabelSets, _run: Run = {}): Promise<HashingModel> {
    if (!isTextSource(x)) checkTexts(x);
    return new HashingModel(this.params);
  }

  /** Hashes the texts. */
  async fitTransform(x: readonly string[], y?: Labels | LabelSets, run: Run = {}): Promise<Csr> {
    return (await this.fit(x, y, run)).transform(x, run);
  }
}

/** Hashes texts. */
export class HashingModel implements TransformingModel<readonly string[]> {
  readonly kind = "hashing-vectorizer";
  readonly params: { readonly [name: string]: Json };
  readonly #analyze: Analyzer;
  readonly #settings: HashingParams;

  /** Use `HashingVectorizer.fit` or `loadModel`. */
  constructor(params: HashingParams) {
    this.params = textParamsAsJson(params);
    this.#analyze = analyzerOf(params);
    this.#settings = params;
  }

  get features(): number {
    return this.#settings.nFeatures;
  }

  /** Counts of hashed terms, texts x features; a source of rows for a source of texts. Counts that cancel out are left out. */
  transform(x: readonly string[], run?: Run): Promise<Csr>;
  transform(x: TextSource, run?: Run): Promise<RowSource>;
  async transform(x: Texts, run: Run = {}): Promise<Csr | RowSource> {
    if (isTextSource(x)) {
      const like = this.#settings.norm === "none" ? undefined : new Float64Array(0);
      return transformSource(x, this.features, (texts) => this.transform(texts), like, run);
    }
    const { nFeatures, alternateSign, binary, norm } = this.#settings;
    const offsets = new Uint32Array(checkTexts(x) + 1);
    const indices = new GrowingIndices();
    const values = new GrowingValues();
    for (let row = 0; row < x.length; row++) {
      if (row % 1024 === 0) await advance(run, "transform", row / x.length);
      const counts = new Map<number, number>();
      this.#analyze(x[row], (term) => {
        const hash = murmurHash(term);
        // The absolute value of the lowest number overflows where scikit-learn computes it; it has a rule of its own.
        const feature = (hash === -(2 ** 31) ? 2 ** 31 - 1 - (nFeatures - 1) : Math.abs(hash)) % nFeatures;
        counts.set(feature, (counts.get(feature) ?? 0) + (alternateSign && hash < 0 ? -1 : 1));
      });
      for (const feature of Uint32Array.from(counts.keys()).sort()) {
        const value = binary ? 1 : (counts.get(feature) as number);
        if (value === 0) continue;
        indices.push(feature);
        values.push(value);
      }
      offsets[row + 1] = indices.length;
    }
    await advance(run, "transform", 1);
    const weights = Float64Array.from(values.finish());
    normalizeRows(offsets, weights, norm);
    return Csr.of(offsets, indices.finish(), norm === "none" ? narrowest(weights) : weights, nFeatures);
  }

  save(): Saved {
    return { kind: this.kind, meta: { params: this.params }, arrays: {} };
  }
}

/** Reads a stored `HashingModel`. */
export const hashingReader: ModelReader<HashingModel> = {
  kind: "hashing-vectorizer",
  read: (saved) => new HashingModel(readParams<HashingParams>(saved, HASHING_PARAMETERS)),
};
