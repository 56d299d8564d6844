/** Texts to weighted counts: each count times how rare its term is (idf), rows scaled to length 1. As scikit-learn defines them unless asked otherwise. */

import {
  Csr,
  type Estimator,
  type LabelSets,
  type Labels,
  type ModelReader,
  type Run,
  type Saved,
  type TransformingModel,
} from "@ranksim/core";
import { naturalLog } from "@ranksim/core/internal";
import type { TermCounts } from "./counting.ts";
import { type Learned, learnVocabulary } from "./learn.ts";
import { normalizeRows } from "./normalize.ts";
import { TFIDF_PARAMETERS, type TfidfParams } from "./params.ts";
import { readTextModel } from "./saved-text.ts";
import type { Texts } from "./source.ts";
import { learn, TextVectorizer, VocabularyModel } from "./vectorizer.ts";
import { badSaved, type Vocabulary } from "./vocabulary.ts";

/**
 * Weighs terms by frequency and rarity, as scikit-learn's class of this name does.
 *
 * ```ts
 * const model = await new TfidfVectorizer({ maxFeatures: 10000 }).fit(texts);
 * const weights = await model.transform(texts); // Csr: texts x terms, rows of length 1
 * ```
 */
export class TfidfVectorizer extends TextVectorizer<TfidfParams> implements Estimator<Texts, TfidfModel> {
  readonly kind = "tfidf-vectorizer";

  constructor(params: Partial<TfidfParams> = {}) {
    super(params, TFIDF_PARAMETERS);
  }

  /** Learns the vocabulary and the rarities; labels are not used. */
  async fit(x: Texts, _y?: Labels | LabelSets, run: Run = {}): Promise<TfidfModel> {
    return this.#model(await learn(x, this.params, run));
  }

  /** Learns the vocabulary and weighs the same texts. */
  async fitTransform(x: readonly string[], _y?: Labels | LabelSets, run: Run = {}): Promise<Csr> {
    const learned = await learnVocabulary(x, this.params, run);
    return this.#model(learned).weigh(learned.counts);
  }

  #model(learned: Learned): TfidfModel {
    const idf = this.params.useIdf ? raritiesOf(learned, this.params.smoothIdf) : undefined;
    return new TfidfModel(learned.vocabulary, idf, this.params);
  }
}

/** idf = ln(texts / texts with the term) + 1; smoothed, as if one more text held every term. */
function raritiesOf({ documents, texts }: Learned, smooth: boolean): Float64Array {
  const more = smooth ? 1 : 0;
  return documents.map((count) => naturalLog((texts + more) / (count + more)) + 1);
}

/** A vocabulary with rarities that weighs texts. */
export class TfidfModel extends VocabularyModel<TfidfParams> implements TransformingModel<readonly string[]> {
  readonly kind = "tfidf-vectorizer";
  /** The rarity of each term; absent when `useIdf` is false. */
  readonly idf: Float64Array | undefined;
  /** Rarities to their power. */
  readonly #factors: Float64Array | undefined;

  /** Use `TfidfVectorizer.fit` or `loadModel`. */
  constructor(vocabulary: Vocabulary, idf: Float64Array | undefined, params: TfidfParams) {
    super(vocabulary, params);
    this.idf = idf;
    this.#factors = idf?.map((rarity) => {
      let factor = rarity;
      for (let j = 1; j < params.idfPower; j++) factor *= rarity;
      return factor;
    });
  }

  override weigh({ offsets, indices, values }: TermCounts): Csr {
    const { sublinearTf, logTf, norm } = this.settings;
    const weights = Float64Array.from(values);
    if (sublinearTf) for (let e = 0; e < weights.length; e++) weights[e] = naturalLog(weights[e]) + 1;
    if (logTf) for (let e = 0; e < weights.length; e++) weights[e] = naturalLog(1 + weights[e]);
    const factors = this.#factors;
    if (factors) for (let e = 0; e < weights.length; e++) weights[e] *= factors[indices[e]];
    normalizeRows(offsets, weights, norm);
    return Csr.of(offsets, indices, weights, this.features);
  }

  override save(): Saved {
    const { arrays, ...saved } = super.save();
    const { idf } = this;
    return { ...saved, arrays: idf ? { ...arrays, idf: { shape: [idf.length], values: idf } } : arrays };
  }

  protected override get like(): Float64Array {
    return new Float64Array(0);
  }
}

/** Reads a stored `TfidfModel`. */
export const tfidfReader: ModelReader<TfidfModel> = {
  kind: "tfidf-vectorizer",
  read(saved) {
    const { params, vocabulary } = readTextModel<TfidfParams>(saved, TFIDF_PARAMETERS);
    const idf = saved.arrays.idf?.values;
    if (params.useIdf !== (idf !== undefined)) throw badSaved(saved, "expected rarities if and only if useIdf is set");
    if (idf !== undefined && (!(idf instanceof Float64Array) || idf.length !== vocabulary.terms.length)) {
      throw badSaved(saved, `idf: expected ${vocabulary.terms.length} float64 values, found ${idf.length}`);
    }
    // Rarity of a term that is in one of 2^53 texts is 38; one in more than all texts would fall below 0.
    if (idf?.some((value) => !(value > 0 && value < 100))) throw badSaved(saved, "idf: expected numbers from 0 to 100");
    return new TfidfModel(vocabulary, idf as Float64Array | undefined, params);
  },
};
