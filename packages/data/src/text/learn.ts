/** Learning a vocabulary: terms are counted, cut by document frequency, and ordered by code points. */

import { RanksimError, type Run } from "@ranksim/core";
import { type Account, Budget, OverBudget } from "../budget.ts";
import { analyzerOf } from "./analyze.ts";
import { countTerms, type TermCounts, withFeatures } from "./counting.ts";
import type { CountParams } from "./params.ts";
import { type TextSource, textBlocks } from "./source.ts";
import { sortTerms, type Vocabulary, vocabularyOf } from "./vocabulary.ts";

/** A vocabulary, and in how many of how many texts each of its terms is. */
export interface Learned {
  readonly vocabulary: Vocabulary;
  readonly documents: Float64Array;
  readonly texts: number;
}

/** Counts terms and decides which are kept. The counts are those of the kept terms, in their order. */
export async function learnVocabulary(
  texts: readonly string[],
  params: CountParams,
  run: Run,
): Promise<Learned & { readonly counts: TermCounts }> {
  const tally = new TermTally(params, run);
  const counts = await tally.add(texts, run);
  const { features, found, ...learned } = tally.finish();
  return { ...learned, counts: features ? withFeatures(counts, features, found) : counts };
}

/** The same of texts that are read in blocks. */
export async function learnFromSource(source: TextSource, params: CountParams, run: Run): Promise<Learned> {
  const tally = new TermTally(params, run);
  for await (const texts of textBlocks(source, run, "fit")) await tally.add(texts, {});
  const { vocabulary, documents, texts } = tally.finish();
  return { vocabulary, documents, texts };
}

/** Bytes of a term beside its characters: its places among the terms found and among those kept, and its frequencies. */
const TERM_BYTES = 160;

/** Terms by the order in which they were found, with their frequencies. */
class TermTally {
  readonly #account: Account;
  readonly #params: CountParams;
  readonly #analyze: ReturnType<typeof analyzerOf>;
  /** The vocabulary that was asked for. */
  readonly #given: Vocabulary | undefined;
  readonly #found = new Map<string, number>();
  readonly #documents: number[] = [];
  readonly #total: number[] = [];
  #texts = 0;

  constructor(params: CountParams, { memory }: Run) {
    this.#account = new Budget(memory).of("texts");
    this.#params = params;
    this.#analyze = analyzerOf(params);
    this.#given = params.vocabulary === undefined ? undefined : vocabularyOf(params.vocabulary);
  }

  /** Takes in texts, and answers with their counts. */
  async add(texts: readonly string[], run: Run): Promise<TermCounts> {
    const given = this.#given;
    const find = given ? (term: string) => given.feature.get(term) : (term: string) => this.#findOrAdd(term);
    const counts = await countTerms(texts, this.#analyze, find, this.#params.binary, run, "fit");
    this.#texts += texts.length;
    for (let e = 0; e < counts.indices.length; e++) {
      const term = counts.indices[e];
      this.#documents[term] = (this.#documents[term] ?? 0) + 1;
      this.#total[term] = (this.#total[term] ?? 0) + counts.values[e];
    }
    return counts;
  }

  /** The kept terms; `features` says which of the `found` they are, where they were not given. */
  finish(): Learned & { readonly features?: readonly number[]; readonly found: number } {
    const texts = this.#texts;
    const found = this.#found.size;
    if (this.#given) {
      const { length } = this.#given.terms;
      const documents = Float64Array.from({ length }, (_, i) => this.#documents[i] ?? 0);
      return { vocabulary: this.#given, documents, texts, found };
    }
    if (found === 0) {
      throw new RanksimError("empty-input", `expected at least one term in ${texts} texts, found none`);
    }
    const terms = this.#kept();
    const features = terms.map((term) => this.#found.get(term) as number);
    const documents = Float64Array.from(features, (feature) => this.#documents[feature]);
    return { vocabulary: vocabularyOf(terms), documents, texts, features, found };
  }

  #findOrAdd(term: string): number {
    const known = this.#found.get(term);
    if (known !== undefined) return known;
    this.#takeRoom(term);
    this.#found.set(term, this.#found.size);
    return this.#found.size - 1;
  }

  #takeRoom(term: string): void {
    try {
      this.#account.takeHeap(TERM_BYTES + 2 * term.length);
    } catch (cause) {
      if (!(cause instanceof OverBudget)) throw cause;
      const expected = "expected texts whose different terms fit in memory";
      throw new RanksimError(
        "bad-file",
        `${expected}, found ${this.#found.size} or more; hash them with a HashingVectorizer (--set vectorizer=hashing), or raise --memory`,
        { cause },
      );
    }
  }

  /** The terms that document frequency and `maxFeatures` leave, in order. */
  #kept(): string[] {
    const { minDf, maxDf, maxFeatures } = this.#params;
    const texts = this.#texts;
    const least = minDf < 1 ? minDf * texts : minDf;
    const most = maxDf <= 1 ? maxDf * texts : maxDf;
    if (most < least) {
      throw new RanksimError("bad-params", `minDf asks for ${least} documents or more, maxDf for ${most} or fewer`);
    }
    const frequency = new Map<string, number>();
    for (const [term, i] of this.#found) {
      if (this.#documents[i] >= least && this.#documents[i] <= most) frequency.set(term, this.#total[i]);
    }
    if (frequency.size === 0) {
      throw new RanksimError(
        "empty-input",
        `no term is in ${least} to ${most} of the ${texts} texts; lower minDf or raise maxDf`,
      );
    }
    const kept = sortTerms([...frequency.keys()]);
    if (maxFeatures === undefined || kept.length <= maxFeatures) return kept;
    // A stable sort: of equally frequent terms the first in order are kept (deviation 37).
    const byFrequency = kept.toSorted((a, b) => (frequency.get(b) as number) - (frequency.get(a) as number));
    return sortTerms(byFrequency.slice(0, maxFeatures));
  }
}
