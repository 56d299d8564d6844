/** A classifier as one C header: tables of whole numbers and a loop. No allocation, no floating point, C99 and C++. */

import { type ClassifierModel, type Label, type Model, RanksimError } from "@ranksim/core";
import { imageClassifierOf, isScored, refuseLarge } from "../parts.ts";
import { type CPatches, patchStage } from "./patches.ts";
import { type CType, table, UINT8, UINT16, UINT32, UINT64 } from "./types.ts";
import { exactBits, type WeightBits, wholeWeights } from "./whole-weights.ts";

/** How a header is written. */
export interface COptions {
  /** Begins every name in the header; "ranksim" where absent. */
  readonly name?: string;
  /** Bits of a weight; the fewest that are exact where absent. `checkBits` tells what 8 cost. */
  readonly bits?: WeightBits;
}

/** A header and what it takes. */
export interface CHeader {
  readonly text: string;
  readonly bits: WeightBits;
  /**
   * Whether the answers are those of `predict` for every row of bytes. Not promised for a committee: where classes score
   * exactly the same the header takes the lower, and `predict` lets the rounding of its sums decide.
   */
  readonly isExact: boolean;
  /** Bytes of the tables. */
  readonly flashBytes: number;
  /** Bytes that a call keeps beside the row it is given. */
  readonly ramBytes: number;
}

/** Beyond this no microcontroller takes it and no compiler enjoys it. */
const MOST_BYTES = 2 ** 24;

/**
 * The model as the text of a C header with `int NAME_predict(const uint8_t *row)`, which gives the number of a class, and
 * `const char *NAME_label(int)`, which names it. Refuses (code "unsupported") what is no classifier of raw rows.
 */
export function exportC(model: Model, options: COptions = {}): CHeader {
  const { name = "ranksim" } = options;
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    throw new RanksimError(
      "bad-params",
      `name: expected a name of C (letters, digits, _), found ${JSON.stringify(name)}`,
    );
  }
  const { classifier, patches } = imageClassifierOf(model, "c");
  const { bank, filterClass } = classifier;
  const bits = options.bits ?? exactBits(classifier);
  refuseLarge(bank, "c", bits / 8, MOST_BYTES);
  const { values, isExact: isWhole } = wholeWeights(classifier, bits);
  const c = classifier.classes.length;
  // A class without filters scores as much as the lowest of the others.
  const hasAll = !isScored(classifier) || new Set(filterClass).size === c;
  const isExact = isWhole && classifier.committee === 1 && hasAll;
  const stage = patches && patchStage(name, patches);
  const most = largestSum(values, bank.filters, stage?.largest ?? 255) * classifier.committee;
  const sum = most < 2 ** 32 ? UINT32 : UINT64;
  const classType = c <= 256 ? UINT8 : UINT16;
  if (c > 65_536) throw new RanksimError("unsupported", `c: expected at most 65536 classes, found ${c}`);
  const flashBytes = values.byteLength + filterClass.length * classType.bytes + (stage?.flashBytes ?? 0);
  const votes = (isScored(classifier) ? 2 * c * sum.bytes : c * UINT32.bytes) + 2 * sum.bytes;
  const ramBytes = votes + (stage?.ramBytes ?? 0);
  const facts = { name, bits, isExact, isWhole, flashBytes, ramBytes, sum, classType, stage };
  const tables = [...(stage?.tables ?? []), `${name}_weights`, `${name}_filter_class`];
  const text = [
    opening(classifier, facts, patches?.features ?? bank.features),
    ...(stage ? [stage.text] : []),
    table(`${name}_weights`, bits === 8 ? UINT8 : UINT16, values),
    table(`${name}_filter_class`, classType, filterClass),
    `/* Fails to compile where a table is not as large as stated. */`,
    `typedef char ${name}_flash_is_as_stated[${tables.map((one) => `sizeof(${one})`).join(" + ")} == ${name.toUpperCase()}_FLASH_BYTES ? 1 : -1];\n`,
    labels(name, classifier.classes),
    product(facts, bits === 8 ? UINT8 : UINT16, bank.features),
    isScored(classifier) ? scoredPredict(classifier, facts) : predict(classifier, facts),
    `#endif\n`,
  ].join("\n");
  return { text, bits, isExact, flashBytes, ramBytes };
}

interface Facts {
  readonly name: string;
  readonly bits: WeightBits;
  readonly isExact: boolean;
  readonly isWhole: boolean;
  readonly flashBytes: number;
  readonly ramBytes: number;
  /** Holds the largest sum there can be. */
  readonly sum: CType;
  readonly classType: CType;
  /** What turns an image into the row that the filters take. */
  readonly stage: CPatches | undefined;
}

/** The largest sum that rows of values up to `most` can give. */
function largestSum(values: Uint8Array | Uint16Array, filters: number, largest: number): number {
  const n = values.length / filters;
  let most = 0;
  for (let f = 0; f < filters; f++) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += largest * values[f * n + i];
    most = Math.max(most, sum);
  }
  return most;
}

function opening({ bank, classes, committee }: ClassifierModel, facts: Facts, features: number): string {
  const upper = facts.name.toUpperCase();
  const banks = committee > 1 ? ` in ${committee} banks` : "";
  const truth = facts.isExact
    ? "The answers are those of the model, for every row of bytes."
    : facts.isWhole
      ? "The answers are those of the model, but perhaps where classes score exactly the same."
      : "The weights are rounded to fewer bits: some answers may differ from the model's.";
  return `/*
 * ${bank.filters} rank similarity filters${banks} over ${features} bytes${facts.stage ? " through patches" : ""}, ${classes.length} classes, weights of ${facts.bits} bits.
 * ${truth}
 *
 *   uint8_t row[${upper}_FEATURES] = { ... };
 *   int number = ${facts.name}_predict(row);
 *   const char *label = ${facts.name}_label(number);
 *
 * Whole numbers only, no allocation, no state. Made by ranksim.
 */
#ifndef ${upper}_H
#define ${upper}_H

#include <stdint.h>

#define ${upper}_FEATURES ${features}
#define ${upper}_FILTERS ${bank.filters}
#define ${upper}_CLASSES ${classes.length}
/* Bytes of the tables below, without the labels. */
#define ${upper}_FLASH_BYTES ${facts.flashBytes}
/* Bytes of arrays and sums that a call keeps, beside the row. */
#define ${upper}_RAM_BYTES ${facts.ramBytes}
`;
}

function labels(name: string, classes: readonly Label[]): string {
  const upper = name.toUpperCase();
  return `/* The name of a class, NULL for a number that is none. */
static inline const char *${name}_label(int number) {
  static const char *const labels[${upper}_CLASSES] = {
${classes.map((label) => `    ${quoted(String(label))},`).join("\n")}
  };
  return number < 0 || number >= ${upper}_CLASSES ? 0 : labels[number];
}
`;
}

/** Text as a C string: printable ASCII as it is, all else byte by byte. */
function quoted(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const escaped = Array.from(bytes, (byte) => {
    const isPlain = byte >= 32 && byte < 127 && byte !== 34 && byte !== 92 && byte !== 63;
    return isPlain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
  });
  return `"${escaped.join("")}"`;
}

function product({ name, sum, stage }: Facts, weight: CType, features: number): string {
  return `static inline ${sum.type} ${name}_response(const ${stage?.pooled.type ?? "uint8_t"} *row, uint32_t filter) {
  const ${weight.type} *weight = ${name}_weights + filter * (uint32_t)${features};
  ${sum.type} sum = 0;
  uint32_t i;
  for (i = 0; i < ${features}; i++) sum += (${sum.type})row[i] * weight[i];
  return sum;
}
`;
}

/** How a function begins that is given a row: what it keeps, and then what it does before the filters respond. */
function entry({ name, stage }: Facts): { readonly given: string; readonly before: string } {
  if (!stage) return { given: "row", before: "" };
  return { given: "pooled", before: `  ${name}_pool(row, pooled);\n` };
}

const keeps = ({ stage }: Facts): string => (stage ? `  ${stage.pooled.type} pooled[${stage.features}];\n` : "");

/**
 * The class of the strongest filter; of several the class with most of them, then the lowest. Where the largest probability decides, a row
 * without responses gets the first class.
 */
function predict({ decision }: ClassifierModel, facts: Facts): string {
  const { name, sum, classType } = facts;
  const upper = name.toUpperCase();
  const { given, before } = entry(facts);
  return `/* The number of the class of a row of ${upper}_FEATURES bytes. */
static inline int ${name}_predict(const uint8_t *row) {
${keeps(facts)}  uint32_t votes[${upper}_CLASSES];
  ${sum.type} best = 0;
  uint32_t f, c;
  int winner = 0;
${before}  for (c = 0; c < ${upper}_CLASSES; c++) votes[c] = 0;
  for (f = 0; f < ${upper}_FILTERS; f++) {
    const ${sum.type} response = ${name}_response(${given}, f);
    const ${classType.type} own = ${name}_filter_class[f];
    if (response < best) continue;
    if (response > best) {
      best = response;
      for (c = 0; c < ${upper}_CLASSES; c++) votes[c] = 0;
    }
    votes[own]++;
  }
${decision === "probability" ? "  if (best == 0) return 0;\n" : ""}  for (c = 1; c < ${upper}_CLASSES; c++) if (votes[c] > votes[winner]) winner = (int)c;
  return winner;
}
`;
}

/** The class of the largest sum over banks of its strongest response, the lowest of equals. */
function scoredPredict({ filterBank, filterClass, committee }: ClassifierModel, facts: Facts): string {
  const { name, sum, classType } = facts;
  const upper = name.toUpperCase();
  const { given, before } = entry(facts);
  const ends = Array.from({ length: committee }, (_, b) =>
    filterBank ? filterBank.lastIndexOf(b) + 1 : filterClass.length,
  );
  return `/* The number of the class of a row of ${upper}_FEATURES bytes. */
static inline int ${name}_predict(const uint8_t *row) {
  static const uint32_t ends[${committee}] = { ${ends.join(", ")} };
${keeps(facts)}  ${sum.type} score[${upper}_CLASSES], strongest[${upper}_CLASSES];
  uint32_t f = 0, b, c;
  int winner = 0;
${before}  for (c = 0; c < ${upper}_CLASSES; c++) score[c] = 0;
  for (b = 0; b < ${committee}; b++) {
    for (c = 0; c < ${upper}_CLASSES; c++) strongest[c] = 0;
    for (; f < ends[b]; f++) {
      const ${sum.type} response = ${name}_response(${given}, f);
      const ${classType.type} own = ${name}_filter_class[f];
      if (response > strongest[own]) strongest[own] = response;
    }
    for (c = 0; c < ${upper}_CLASSES; c++) score[c] += strongest[c];
  }
  for (c = 1; c < ${upper}_CLASSES; c++) if (score[c] > score[winner]) winner = (int)c;
  return winner;
}
`;
}
