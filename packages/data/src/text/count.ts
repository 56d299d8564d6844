/** Texts to counts of the terms of a vocabulary that is learned. */

import {
  Csr,
  type Estimator,
  type Json,
  type LabelSets,
  type Labels,
  type ModelReader,
  type RowSource,
  type Run,
  type Saved,
  type TransformingModel,
} from "@ranksim/core";
import { type Analyzer, analyzerOf } from "./analyze.ts";
import { countTerms, type TermCounts } from "./counting.ts";
import { learnFromSource, learnVocabulary } from "./learn.ts";
import { COUNT_PARAMETERS, type CountParams, checkTextParams, textParamsAsJson } from "./params.ts";
import { readTextModel } from "./saved-text.ts";
import { isTextSource, type TextSource, type Texts, transformSource } from "./source.ts";
import { type Vocabulary, vocabularyArrays } from "./vocabulary.ts";

/**
 * Counts terms, as scikit-learn's class of this name does.
 *
 * ```ts
 * const model = await new CountVectorizer({ minDf: 2 }).fit(texts);
 * const counts = await model.transform(texts); // Csr: texts x terms
 * ```
 */
export class CountVectorizer implements Estimator<Texts, CountModel> {
  readonly kind = "count-vectorizer";
  readonly params: Readonly<CountParams> & { readonly [name: string]: unknown };

  constructor(params: Partial<CountParams> = {}) {
    this.params = checkTextParams<CountParams & { readonly [name: string]: unknown }>(params, COUNT_PARAMETERS);
    analyzerOf(this.params);
  }

  /** A copy with some parameters changed. */
  with(changes: Partial<CountParams>): CountVectorizer {
    return new CountVectorizer({ ...this.params, ...changes });
  }

  /** Learns the vocabulary; labels are not used. */
  async fit(x: Texts, _y?: Labels | LabelSets, run: Run = {}): Promise<CountModel> {
    const learned = isTextSource(x)
      ? await learnFromSource(x, this.params, run)
      : await learnVocabulary(x, this.params, run);
    return new CountModel(learned.vocabulary, this.params);
  }

  /** Learns the vocabulary and counts the same texts. */
  async fitTransform(x: readonly string[], _y?: Labels | LabelSets, run: Run = {}): Promise<Csr> {
    const { vocabulary, counts } = await learnVocabulary(x, this.params, run);
    return toCsr(counts, vocabulary.terms.length);
  }
}

/** A vocabulary that counts texts. */
export class CountModel implements TransformingModel<readonly string[]> {
  readonly kind = "count-vectorizer";
  readonly params: { readonly [name: string]: Json };
  readonly #vocabulary: Vocabulary;
  readonly #analyze: Analyzer;
  readonly #binary: boolean;

  /** Use `CountVectorizer.fit` or `loadModel`. */
  constructor(vocabulary: Vocabulary, params: CountParams) {
    this.params = textParamsAsJson(params);
    this.#vocabulary = vocabulary;
    this.#analyze = analyzerOf(params);
    this.#binary = params.binary;
  }

  /** Number of terms. */
  get features(): number {
    return this.#vocabulary.terms.length;
  }

  /** The terms, in the order of the features. */
  get featureNames(): readonly string[] {
    return this.#vocabulary.terms;
  }

  /** Counts of the known terms, texts x terms; a source of rows for a source of texts. */
  transform(x: readonly string[], run?: Run): Promise<Csr>;
  transform(x: TextSource, run?: Run): Promise<RowSource>;
  async transform(x: Texts, run: Run = {}): Promise<Csr | RowSource> {
    if (isTextSource(x)) return transformSource(x, this.features, (texts) => this.transform(texts), undefined, run);
    const { feature } = this.#vocabulary;
    const counts = await countTerms(x, this.#analyze, (term) => feature.get(term), this.#binary, run, "transform");
    return toCsr(counts, this.features);
  }

  save(): Saved {
    return { kind: this.kind, meta: { params: this.params }, arrays: vocabularyArrays(this.featureNames) };
  }
}

function toCsr({ offsets, indices, values }: TermCounts, features: number): Csr {
  return Csr.of(offsets, indices, values, features);
}

/** Reads a stored `CountModel`. */
export const countReader: ModelReader<CountModel> = {
  kind: "count-vectorizer",
  read(saved) {
    const { params, vocabulary } = readTextModel<CountParams>(saved, COUNT_PARAMETERS, []);
    return new CountModel(vocabulary, params);
  },
};
