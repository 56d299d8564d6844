/** Texts to counts of the terms of a vocabulary that is learned. */

import type { Csr, Estimator, LabelSets, Labels, ModelReader, Run, TransformingModel } from "@ranksim/core";
import { learnVocabulary } from "./learn.ts";
import { COUNT_PARAMETERS, type CountParams } from "./params.ts";
import { readTextModel } from "./saved-text.ts";
import type { Texts } from "./source.ts";
import { learn, TextVectorizer, VocabularyModel } from "./vectorizer.ts";

/**
 * Counts terms, as scikit-learn's class of this name does.
 *
 * ```ts
 * const model = await new CountVectorizer({ minDf: 2 }).fit(texts);
 * const counts = await model.transform(texts); // Csr: texts x terms
 * ```
 */
export class CountVectorizer extends TextVectorizer<CountParams> implements Estimator<Texts, CountModel> {
  readonly kind = "count-vectorizer";

  constructor(params: Partial<CountParams> = {}) {
    super(params, COUNT_PARAMETERS);
  }

  /** Learns the vocabulary; labels are not used. */
  async fit(x: Texts, _y?: Labels | LabelSets, run: Run = {}): Promise<CountModel> {
    return new CountModel((await learn(x, this.params, run)).vocabulary, this.params);
  }

  /** Learns the vocabulary and counts the same texts. */
  async fitTransform(x: readonly string[], _y?: Labels | LabelSets, run: Run = {}): Promise<Csr> {
    const { vocabulary, counts } = await learnVocabulary(x, this.params, run);
    return new CountModel(vocabulary, this.params).weigh(counts);
  }
}

/** A vocabulary that counts texts. Use `CountVectorizer.fit` or `loadModel`. */
export class CountModel extends VocabularyModel<CountParams> implements TransformingModel<readonly string[]> {
  readonly kind = "count-vectorizer";
}

/** Reads a stored `CountModel`. */
export const countReader: ModelReader<CountModel> = {
  kind: "count-vectorizer",
  read(saved) {
    const { params, vocabulary } = readTextModel<CountParams>(saved, COUNT_PARAMETERS);
    return new CountModel(vocabulary, params);
  },
};
