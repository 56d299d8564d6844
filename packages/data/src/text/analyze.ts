/** From a text to its terms: lower case, tokens, stop words out, then sequences of tokens joined by spaces. */

import { RanksimError } from "@ranksim/core";
import type { AnalyzerParams } from "./params.ts";
import { groupCount, patternMatcher, pythonPattern } from "./python-pattern.ts";

/** Gives the terms of a text, in the order shorter before longer, then as they occur. */
export type Analyzer = (text: string) => readonly string[];

/** Makes the analyzer for the parameters. */
export function analyzerOf(params: AnalyzerParams): Analyzer {
  const tokens = tokenizerOf(params.tokenPattern);
  const stop = new Set(params.stopWords);
  const [least, most] = params.ngramRange;
  return (text) => {
    const found = tokens(params.lowercase ? text.toLowerCase() : text);
    const kept = stop.size === 0 ? found : found.filter((token) => !stop.has(token));
    if (most === 1) return kept;
    const terms: string[] = [];
    // Sequences of each size from those one shorter: each is the sequence at the same place and one token more.
    let sequences = kept;
    for (let size = 1; size <= Math.min(most, kept.length); size++) {
      if (size > 1) sequences = sequences.slice(0, -1).map((sequence, from) => `${sequence} ${kept[from + size - 1]}`);
      if (size >= least) for (const sequence of sequences) terms.push(sequence);
    }
    return terms;
  };
}

function tokenizerOf(tokenPattern: string): Analyzer {
  const pattern = pythonPattern(tokenPattern);
  const groups = groupCount(pattern);
  if (groups > 1) {
    throw new RanksimError(
      "bad-params",
      `parameter tokenPattern: expected at most one group, found ${groups}; write (?:...) for groups that are no token`,
    );
  }
  return patternMatcher(tokenPattern, pattern, groups);
}
