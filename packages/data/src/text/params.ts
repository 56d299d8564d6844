/**
 * Parameters of the text vectorisers: types, defaults with one description each, and their check. Names and meanings are
 * scikit-learn's, in camel case; `logTf` and `idfPower` are ours.
 */

import { type Json, type ParameterInfo, RanksimError } from "@ranksim/core";

/** What terms are made of. */
export type AnalyzerKind = "word" | "char" | "char_wb";

/** How text becomes terms. */
export interface AnalyzerParams {
  /** Terms are sequences of tokens ("word"), of characters ("char"), or of characters within words with a blank at each end ("char_wb"). */
  readonly analyzer: AnalyzerKind;
  /** Whether text is put in lower case first. */
  readonly lowercase: boolean;
  /**
   * What a token is, as a regular expression in Python's spelling: \w, \d, \s and \b follow Unicode. Only forms are taken that every
   * engine matches in time proportional to the text: single characters one after the other, of which only the last may repeat without a
   * fixed count, with \b at the ends or without, or several such rows with | between them.
   */
  readonly tokenPattern: string;
  /** Terms are sequences of this many tokens or characters, from the first number to the second. */
  readonly ngramRange: readonly [least: number, most: number];
  /** Tokens to leave out. */
  readonly stopWords: readonly string[] | undefined;
}

/** Parameters of `CountVectorizer`. */
export interface CountParams extends AnalyzerParams {
  /** Terms in fewer documents are left out: a number of documents from 1, a share of them below 1. */
  readonly minDf: number;
  /** Terms in more documents are left out: a number of documents above 1, a share of them up to 1. */
  readonly maxDf: number;
  /** Only this many of the most frequent terms are kept; of equally frequent ones those that are first in order. */
  readonly maxFeatures: number | undefined;
  /** The terms, in this order; none are learned then. */
  readonly vocabulary: readonly string[] | undefined;
  /** Whether a term counts once, however often it occurs in a text. */
  readonly binary: boolean;
}

/** How rows are scaled: so that their absolute values or their squares add up to 1, or not at all. */
export type Norm = "l1" | "l2" | "none";

/** Parameters of `TfidfVectorizer`. */
export interface TfidfParams extends CountParams {
  readonly norm: Norm;
  /** Whether counts are weighted by how rare a term is. */
  readonly useIdf: boolean;
  /** Whether rarity is taken as if one more text held every term. */
  readonly smoothIdf: boolean;
  /** Whether a count c becomes 1 + ln c. */
  readonly sublinearTf: boolean;
  /** Whether a count c becomes ln(1 + c). Not together with `sublinearTf`. */
  readonly logTf: boolean;
  /** Rarity counts to this power, from 1 to 9. */
  readonly idfPower: number;
}

/** Parameters of `HashingVectorizer`. */
export interface HashingParams extends AnalyzerParams {
  /** Number of features that terms are hashed to. */
  readonly nFeatures: number;
  /** Whether half of the terms count negative, so that collisions cancel out on average. */
  readonly alternateSign: boolean;
  readonly binary: boolean;
  readonly norm: Norm;
}

const DEFAULT_PATTERN = "\\b\\w\\w+\\b";

const ANALYZER_PARAMETERS: readonly ParameterInfo[] = [
  {
    name: "analyzer",
    form: "choice",
    choices: ["word", "char", "char_wb"],
    default: "word",
    about: "terms of tokens, of characters, or of characters within words",
  },
  { name: "lowercase", form: "flag", default: true, about: "convert text to lower case" },
  { name: "tokenPattern", form: "special", default: DEFAULT_PATTERN, about: "what a token is, a regular expression" },
  { name: "ngramRange", form: "special", default: [1, 1], about: "least and most tokens or characters in a term" },
  { name: "stopWords", form: "special", default: null, about: "tokens to leave out" },
];

const NORM: ParameterInfo = {
  name: "norm",
  form: "choice",
  choices: ["l1", "l2", "none"],
  default: "l2",
  about: "how rows are scaled",
};

const BINARY: ParameterInfo = { name: "binary", form: "flag", default: false, about: "count a term once a text" };

/** Parameters of `CountVectorizer` as data. */
export const COUNT_PARAMETERS: readonly ParameterInfo[] = [
  ...ANALYZER_PARAMETERS,
  { name: "minDf", form: "special", default: 1, about: "fewest documents (or share of them) with a term" },
  { name: "maxDf", form: "special", default: 1, about: "most documents (or share of them) with a term" },
  { name: "maxFeatures", form: "count", default: null, about: "keep only this many of the most frequent terms" },
  { name: "vocabulary", form: "special", default: null, about: "the terms, if they are not to be learned" },
  BINARY,
];

/** Parameters of `TfidfVectorizer` as data. */
export const TFIDF_PARAMETERS: readonly ParameterInfo[] = [
  ...COUNT_PARAMETERS,
  NORM,
  { name: "useIdf", form: "flag", default: true, about: "weight counts by how rare a term is" },
  { name: "smoothIdf", form: "flag", default: true, about: "smooth rarity: count every term in one text more" },
  { name: "sublinearTf", form: "flag", default: false, about: "a count c becomes 1 + ln c" },
  { name: "logTf", form: "flag", default: false, about: "a count c becomes ln(1 + c)" },
  { name: "idfPower", form: "count", default: 1, about: "rarity counts to this power, 1 to 9" },
];

/** Parameters of `HashingVectorizer` as data. */
export const HASHING_PARAMETERS: readonly ParameterInfo[] = [
  ...ANALYZER_PARAMETERS,
  { name: "nFeatures", form: "count", default: 2 ** 20, about: "features that terms are hashed to" },
  { name: "alternateSign", form: "flag", default: true, about: "let half of the terms count negative" },
  BINARY,
  NORM,
];

/** Checked, complete, frozen parameters. Unknown names are refused with the known ones. */
export function checkTextParams<P extends object>(given: Partial<P>, infos: readonly ParameterInfo[]): P {
  const known = new Map(infos.map((info) => [info.name, info]));
  const complete: Record<string, unknown> = {};
  for (const info of infos) complete[info.name] = info.default ?? undefined;
  for (const [name, value] of Object.entries(given)) {
    const info = known.get(name);
    if (info === undefined) {
      throw new RanksimError("bad-params", `unknown parameter ${name}; there are ${[...known.keys()].join(", ")}`);
    }
    if (value === undefined) continue;
    const expected = expectation(info, value);
    if (expected !== undefined) {
      const shown = (JSON.stringify(value) ?? String(value)).slice(0, 80);
      throw new RanksimError("bad-params", `parameter ${name}: expected ${expected}, found ${shown}`);
    }
    complete[name] = value;
  }
  const { analyzer, stopWords, tokenPattern } = complete as Partial<AnalyzerParams>;
  const ofWords = stopWords !== undefined ? "stopWords" : tokenPattern !== DEFAULT_PATTERN ? "tokenPattern" : undefined;
  if (analyzer !== "word" && ofWords !== undefined) {
    throw new RanksimError(
      "bad-params",
      `parameter ${ofWords}: expected none with analyzer ${analyzer}, which has no tokens`,
    );
  }
  if (complete.sublinearTf && complete.logTf) {
    throw new RanksimError("bad-params", "expected sublinearTf or logTf, found both");
  }
  return Object.freeze(complete) as P;
}

/**
 * Parameters as JSON. Those that are not set, and a given vocabulary (a model holds it as its terms), are left out; so is the analyzer of
 * words, the only one that models of 0.2 have.
 */
export function textParamsAsJson(params: object): { readonly [name: string]: Json } {
  const isKept = ([name, value]: [string, unknown]) =>
    value !== undefined && name !== "vocabulary" && !(name === "analyzer" && value === "word");
  const kept = Object.entries(params).filter(isKept);
  return JSON.parse(JSON.stringify(Object.fromEntries(kept))) as { readonly [name: string]: Json };
}

/** What was expected, if `value` is not that. */
function expectation(info: ParameterInfo, value: unknown): string | undefined {
  switch (info.form) {
    case "flag":
      return typeof value === "boolean" ? undefined : "true or false";
    case "choice":
      return info.choices?.includes(value as string) ? undefined : info.choices?.join(" or ");
    case "count": {
      if (info.name === "idfPower") return isPower(value) ? undefined : "a whole number from 1 to 9";
      const isCount = Number.isInteger(value) && (value as number) >= 1 && (value as number) < 2 ** 31;
      return isCount ? undefined : "a whole number from 1 below 2^31";
    }
    default:
      return specialExpectation(info.name, value);
  }
}

const isPower = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 9;

function specialExpectation(name: string, value: unknown): string | undefined {
  const isStrings = Array.isArray(value) && value.every((word) => typeof word === "string");
  switch (name) {
    case "tokenPattern":
      return typeof value === "string" ? undefined : "a regular expression as a string";
    case "ngramRange": {
      const [least, most] = Array.isArray(value) ? value : [];
      const isRange = Number.isInteger(least) && Number.isInteger(most) && least >= 1 && least <= most && most <= 100;
      return isRange && (value as unknown[]).length === 2
        ? undefined
        : "two whole numbers from 1 to 100, least and most";
    }
    case "stopWords":
      return isStrings ? undefined : "a list of words";
    case "vocabulary":
      if (!isStrings || (value as string[]).length === 0) return "a list of terms";
      return new Set(value as string[]).size === (value as string[]).length
        ? undefined
        : "a list of terms without repeats";
    default:
      return typeof value === "number" && value >= 0 && (value < 1 || Number.isInteger(value))
        ? undefined
        : "a share from 0 to 1 or a whole number of documents";
  }
}
