/** What the text vectorisers have in common: checked parameters, a vocabulary that is learned, and the model that has it. */

import type { Json, ParameterInfo, RowSource, Run, Saved } from "@ranksim/core";
import { Csr } from "@ranksim/core";
import { type Analyzer, analyzerOf } from "./analyze.ts";
import { countTerms, type TermCounts } from "./counting.ts";
import { type Learned, learnFromSource, learnVocabulary } from "./learn.ts";
import { type AnalyzerParams, type CountParams, checkTextParams, textParamsAsJson } from "./params.ts";
import { isTextSource, type TextSource, type Texts, transformSource } from "./source.ts";
import { type Vocabulary, vocabularyArrays } from "./vocabulary.ts";

/** Parameters that are known to be right. */
export abstract class TextVectorizer<P extends AnalyzerParams> {
  readonly params: Readonly<P> & { readonly [name: string]: unknown };

  constructor(params: Partial<P>, known: readonly ParameterInfo[]) {
    this.params = checkTextParams<P>(params, known) as typeof this.params;
    analyzerOf(this.params);
  }

  /** A copy with some parameters changed. */
  with(changes: Partial<P>): this {
    return new (this.constructor as new (params: Partial<P>) => this)({ ...this.params, ...changes });
  }
}

/** The vocabulary of texts, in memory or read in blocks. */
export function learn(x: Texts, params: CountParams, run: Run): Promise<Learned> {
  return isTextSource(x) ? learnFromSource(x, params, run) : learnVocabulary(x, params, run);
}

/** A vocabulary, and what becomes of the counts of its terms. */
export abstract class VocabularyModel<P extends CountParams> {
  abstract readonly kind: string;
  readonly params: { readonly [name: string]: Json };
  protected readonly settings: P;
  readonly #vocabulary: Vocabulary;
  readonly #analyze: Analyzer;

  constructor(vocabulary: Vocabulary, params: P) {
    this.params = textParamsAsJson(params);
    this.settings = params;
    this.#vocabulary = vocabulary;
    this.#analyze = analyzerOf(params);
  }

  /** Number of terms. */
  get features(): number {
    return this.#vocabulary.terms.length;
  }

  /** The terms, in the order of the features. */
  get featureNames(): readonly string[] {
    return this.#vocabulary.terms;
  }

  /** The rows of known terms, texts x terms; a source of rows for a source of texts. */
  transform(x: readonly string[], run?: Run): Promise<Csr>;
  transform(x: TextSource, run?: Run): Promise<RowSource>;
  async transform(x: Texts, run: Run = {}): Promise<Csr | RowSource> {
    if (isTextSource(x)) return transformSource(x, this.features, (texts) => this.transform(texts), this.like, run);
    const { feature } = this.#vocabulary;
    const { binary } = this.settings;
    return this.weigh(await countTerms(x, this.#analyze, (term) => feature.get(term), binary, run, "transform"));
  }

  /** The rows of counts that were made with this vocabulary. */
  weigh({ offsets, indices, values }: TermCounts): Csr {
    return Csr.of(offsets, indices, values, this.features);
  }

  save(): Saved {
    return { kind: this.kind, meta: { params: this.params }, arrays: vocabularyArrays(this.featureNames) };
  }

  /** An array of the type that all rows have; absent: that of their counts. */
  protected get like(): Float64Array | undefined {
    return undefined;
  }
}
