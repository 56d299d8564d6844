/** From a text to its terms: lower case, then sequences of tokens joined by blanks, or of characters. As scikit-learn takes them. */

import type { AnalyzerParams } from "./params.ts";
import { PYTHON_SPACE, tokenizerOf } from "./token-pattern.ts";

/** Gives the terms of a text to `take`, one after the other: all of a long text at once would be many times its size. */
export type Analyzer = (text: string, take: (term: string) => void) => void;

/** Makes the analyzer for the parameters. */
export function analyzerOf(params: AnalyzerParams): Analyzer {
  const give = params.analyzer === "word" ? wordTerms(params) : characterTerms(params);
  return (text, take) => give(wellFormed(params.lowercase ? text.toLowerCase() : text), take);
}

const HAS_HALVES = /[\ud800-\udfff]/;

/** Halves of characters that stand alone, which JSON may spell and UTF-8 cannot store, are one unknown character each. */
const wellFormed = (text: string): string =>
  HAS_HALVES.test(text) ? text.replace(/[\ud800-\udfff]/gu, "\ufffd") : text;

/** Sequences of tokens, stop words out first, shorter ones before longer. */
function wordTerms({ tokenPattern, stopWords, ngramRange: [least, most] }: AnalyzerParams): Analyzer {
  const tokens = tokenizerOf(tokenPattern);
  const stop = new Set(stopWords);
  return (text, take) => {
    const found = tokens(text);
    const kept = stop.size === 0 ? found : found.filter((token) => !stop.has(token));
    // Sequences of each size from those one shorter: each is the sequence at the same place and one token more.
    let sequences = kept;
    for (let size = 1; size <= Math.min(most, kept.length); size++) {
      if (size > 1) sequences = sequences.slice(0, -1).map((sequence, from) => `${sequence} ${kept[from + size - 1]}`);
      if (size >= least) for (const sequence of sequences) take(sequence);
    }
  };
}

const BLANKS = new RegExp(`[${PYTHON_SPACE}]{2,}`, "gu");
const WORDS = new RegExp(`[^${PYTHON_SPACE}]+`, "gu");

/** Sequences of characters: of the whole text, where several blanks are one, or of each word with a blank at its ends. */
function characterTerms({ analyzer, ngramRange: [least, most] }: AnalyzerParams): Analyzer {
  if (analyzer === "char") {
    return (text, take) => {
      const whole = charactersOf(text.replace(BLANKS, " "));
      for (let size = least; size <= Math.min(most, whole.length); size++) giveSequences(whole, size, take);
    };
  }
  return (text, take) => {
    for (const word of text.match(WORDS) ?? []) {
      const whole = charactersOf(` ${word} `);
      // A word that is no longer than a term is one term, and none of the larger sizes.
      const longest = Math.max(least, Math.min(most, whole.length));
      for (let size = least; size <= longest; size++) giveSequences(whole, size, take);
    }
  };
}

/** A string where each place is a character, else the list of its characters. */
const charactersOf = (text: string): string | readonly string[] => (HAS_HALVES.test(text) ? Array.from(text) : text);

/** Gives the sequences of so many characters; all characters where there are fewer. */
function giveSequences(characters: string | readonly string[], size: number, take: (term: string) => void): void {
  const last = Math.max(0, characters.length - size);
  for (let at = 0; at <= last; at++) {
    const sequence = characters.slice(at, at + size);
    take(typeof sequence === "string" ? sequence : sequence.join(""));
  }
}
