/**
 * svmlight / libsvm: `label feature:value feature:value # comment`, one row a line, streaming. Several labels are
 * separated by commas; a line without a label has none. `qid:` entries are read over.
 */

import { type Label, RanksimError } from "@ranksim/core";
import { badFile, quoted } from "../bad-file.ts";
import { budgetOf } from "../budget.ts";
import type { DataSet } from "../data-set.ts";
import type { Opened } from "../source.ts";
import { CsrBuilder } from "./csr-builder.ts";
import { LabelBuilder } from "./dense-builder.ts";
import { decoded } from "./encoding.ts";
import type { ReadOptions } from "./options.ts";
import { numberOf, scanLines, skipBlanks, textOf } from "./scan.ts";

const HASH = 35;
const COLON = 58;

/** Reads svmlight. The matrix is always sparse. */
export async function readSvmlight(opened: Opened, options: ReadOptions): Promise<DataSet> {
  const { name } = opened;
  const account = budgetOf(options).of(name);
  const builder = new CsrBuilder(name, account);
  const rows: string[] = [];
  await scanLines(name, opened.stream, account, (window, lineFrom, lineTo, line) => {
    const comment = window.subarray(lineFrom, lineTo).indexOf(HASH);
    const to = comment < 0 ? lineTo : lineFrom + comment;
    let at = skipBlanks(window, lineFrom, to);
    if (at === to) return;
    const end = tokenEnd(window, at, to);
    const hasLabel = window.subarray(at, end).indexOf(COLON) < 0;
    account.takeText(hasLabel ? end - at : 0);
    rows.push(hasLabel ? decoded(name, line, window.subarray(at, end)) : "");
    if (hasLabel) at = skipBlanks(window, end, to);
    while (at < to) {
      const stop = tokenEnd(window, at, to);
      readEntry(name, window, at, stop, line, builder);
      at = skipBlanks(window, stop, to);
    }
    builder.endRow(`line ${line}`);
  });
  if (builder.rows === 0) throw badFile(name, "", "expected at least one row, found none");
  const first = firstFeature(name, builder, options);
  const features = options.features ?? Math.max(builder.largest + 1 - first, 0);
  const notes: string[] = [];
  if (builder.largest - first >= features) {
    if (options.schema === undefined) {
      throw badFile(name, "", `expected features up to ${features - 1 + first}, found ${builder.largest}`);
    }
    const cut = builder.cut(features + first);
    const what = `${cut.features} ${cut.features === 1 ? "feature" : "features"} beyond the ${features} of training`;
    if (cut.entries > 0) notes.push(`${name}: ${what} left out, ${cut.entries} values in all`);
  }
  const x = await builder.finish(features, first);
  const facts = { found: { firstFeature: first }, ...(notes.length === 0 ? {} : { notes }) };
  const isUnlabelled = rows.every((label) => label === "") && options.multilabel !== true;
  if (isUnlabelled || options.labelColumn === null) return { form: "matrix", x, ...facts };
  const several = options.multilabel ?? rows.some((label) => label === "" || label.includes(","));
  const labels = new LabelBuilder(account, { ...options, multilabel: several });
  rows.forEach((label, r) => {
    labels.add(several ? label : singleLabel(name, label, r));
  });
  return { form: "matrix", x, y: labels.finish(), ...facts };
}

/** Whether a piece of a file has comments and blank lines alone. */
export function isCommentary(lines: Uint8Array): boolean {
  for (let from = 0; from < lines.byteLength; ) {
    const end = lines.indexOf(10, from);
    const to = end < 0 ? lines.byteLength : end;
    const at = skipBlanks(lines, from, to);
    if (at < to && lines[at] !== HASH && lines[at] !== 13) return false;
    from = to + 1;
  }
  return true;
}

function singleLabel(name: string, label: string, row: number): Label {
  if (label !== "" && !label.includes(",")) return label;
  throw badFile(name, `row ${row}`, `expected one label, found ${label === "" ? "none" : quoted(label)}`);
}

function firstFeature(name: string, builder: CsrBuilder, { firstFeature: given }: ReadOptions): 0 | 1 {
  if (given !== undefined && given !== 0 && given !== 1) {
    throw new RanksimError("bad-params", `firstFeature: expected 0 or 1, found ${given}`);
  }
  if (given === 1 && builder.smallest === 0) {
    throw badFile(name, "", "expected features from 1, found feature 0");
  }
  return given ?? (builder.smallest > 0 && builder.largest >= 0 ? 1 : 0);
}

function tokenEnd(window: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && window[at] !== 32 && window[at] !== 9) at++;
  return at;
}

function readEntry(
  name: string,
  window: Uint8Array,
  from: number,
  to: number,
  line: number,
  builder: CsrBuilder,
): void {
  let feature = 0;
  let at = from;
  for (; at < to && window[at] >= 48 && window[at] <= 57 && feature < 2 ** 32; at++) {
    feature = feature * 10 + window[at] - 48;
  }
  if (at > from && window[at] === COLON && feature < 2 ** 32 - 1) {
    const value = numberOf(window, at + 1, to);
    if (Number.isFinite(value)) {
      builder.add(feature, value, `line ${line}`);
      return;
    }
  } else if (textOf(window, from, Math.min(from + 4, to)) === "qid:") {
    return;
  }
  throw badFile(
    name,
    `line ${line}`,
    `expected feature:value with a feature below ${2 ** 32 - 1}, found ${quoted(textOf(window, from, to))}`,
  );
}
