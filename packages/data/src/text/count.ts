/** Texts to counts of terms: the vocabulary is learned, cut by document frequency, and ordered by code points. */

import {
  Csr,
  type Estimator,
  type Json,
  type LabelSets,
  type Labels,
  type ModelReader,
  RanksimError,
  type Run,
  type Saved,
  type TransformingModel,
} from "@ranksim/core";
import { type Analyzer, analyzerOf } from "./analyze.ts";
import { countTerms, type TermCounts, withFeatures } from "./counting.ts";
import { numpyArgsort } from "./numpy-order.ts";
import { COUNT_PARAMETERS, type CountParams, checkTextParams, textParamsAsJson } from "./params.ts";
import { readTextModel } from "./saved-text.ts";
import { sortTerms, type Vocabulary, vocabularyArrays, vocabularyOf } from "./vocabulary.ts";

/**
 * Counts terms, as scikit-learn's class of this name does.
 *
 * ```ts
 * const model = await new CountVectorizer({ minDf: 2 }).fit(texts);
 * const counts = await model.transform(texts); // Csr: texts x terms
 * ```
 */
export class CountVectorizer implements Estimator<readonly string[], CountModel> {
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
  async fit(x: readonly string[], _y?: Labels | LabelSets, run: Run = {}): Promise<CountModel> {
    return new CountModel((await learnVocabulary(x, this.params, run)).vocabulary, this.params);
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

  /** Counts of the known terms, texts x terms. */
  async transform(x: readonly string[], run: Run = {}): Promise<Csr> {
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

/** Counts terms and decides which are kept. The counts are those of the kept terms, in their order. */
export async function learnVocabulary(
  texts: readonly string[],
  params: CountParams,
  run: Run,
): Promise<{ readonly vocabulary: Vocabulary; readonly counts: TermCounts }> {
  const analyze = analyzerOf(params);
  if (params.vocabulary !== undefined) {
    const vocabulary = vocabularyOf(params.vocabulary);
    const find = (term: string) => vocabulary.feature.get(term);
    return { vocabulary, counts: await countTerms(texts, analyze, find, params.binary, run, "fit") };
  }
  const found = new Map<string, number>();
  const findOrAdd = (term: string): number => {
    const known = found.get(term);
    if (known !== undefined) return known;
    found.set(term, found.size);
    return found.size - 1;
  };
  const counts = await countTerms(texts, analyze, findOrAdd, params.binary, run, "fit");
  if (found.size === 0) {
    throw new RanksimError("empty-input", `expected at least one term in ${texts.length} texts, found none`);
  }
  const terms = keptTerms(counts, [...found.keys()], texts.length, params);
  const features = terms.map((term) => found.get(term) as number);
  return { vocabulary: vocabularyOf(terms), counts: withFeatures(counts, features, found.size) };
}

/** The terms that document frequency and `maxFeatures` leave, in order. `found` has the terms by their first features. */
function keptTerms(counts: TermCounts, found: readonly string[], texts: number, params: CountParams): string[] {
  const { minDf, maxDf, maxFeatures } = params;
  const least = minDf < 1 ? minDf * texts : minDf;
  const most = maxDf <= 1 ? maxDf * texts : maxDf;
  if (most < least) {
    throw new RanksimError("bad-params", `minDf asks for ${least} documents or more, maxDf for ${most} or fewer`);
  }
  const documents = new Uint32Array(found.length);
  const total = new Float64Array(found.length);
  for (let e = 0; e < counts.indices.length; e++) {
    documents[counts.indices[e]]++;
    total[counts.indices[e]] += counts.values[e];
  }
  const frequency = new Map<string, number>();
  for (let i = 0; i < found.length; i++) {
    if (documents[i] >= least && documents[i] <= most) frequency.set(found[i], total[i]);
  }
  if (frequency.size === 0) {
    throw new RanksimError(
      "empty-input",
      `no term is in ${least} to ${most} of the ${texts} texts; lower minDf or raise maxDf`,
    );
  }
  const kept = sortTerms([...frequency.keys()]);
  if (maxFeatures === undefined || kept.length <= maxFeatures) return kept;
  const order = numpyArgsort(Float64Array.from(kept, (term) => -(frequency.get(term) as number)));
  return Array.from(order.subarray(0, maxFeatures).sort(), (position) => kept[position]);
}

/** Reads a stored `CountModel`. */
export const countReader: ModelReader<CountModel> = {
  kind: "count-vectorizer",
  read(saved) {
    const { params, vocabulary } = readTextModel<CountParams>(saved, COUNT_PARAMETERS, []);
    return new CountModel(vocabulary, params);
  },
};
