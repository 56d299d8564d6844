/**
 * svmlight / libsvm: `label feature:value feature:value # comment`, one row a line, streaming. Several labels are
 * separated by commas; a line without a label has none. `qid:` entries are read over.
 */

import { badFile, quoted } from "../bad-file.ts";
import type { Opened } from "../source.ts";
import { plainNumber } from "../table/numbers.ts";
import { NO_COLUMNS } from "./columns.ts";
import type { CsrBuilder } from "./csr-builder.ts";
import { numberOf } from "./decimal.ts";
import { decoded } from "./encoding.ts";
import { splitLabels } from "./label-types.ts";
import type { Reading } from "./options.ts";
import { endOf, noRows, type RowBlocks } from "./reader.ts";
import { RowsBuilder } from "./rows-builder.ts";
import { scanLines, skipBlanks, textOf } from "./scan.ts";
import { SparseCells } from "./sparse-cells.ts";

const HASH = 35;
const COLON = 58;

/** Reads svmlight. The matrix is always sparse. */
export async function* readSvmlight(opened: Opened, options: Reading): RowBlocks {
  const { name } = opened;
  const { multilabel, labelColumn } = options;
  /** Rows without labels have none until the first that has one. */
  let hasLabels = multilabel === true;
  let cells: SparseCells | undefined;
  // What a label is, is told here; none of them is taken apart again.
  const rows = new RowsBuilder(
    name,
    undefined,
    NO_COLUMNS,
    { ...options, multilabel: false },
    {
      cells: (account) => (cells = new SparseCells(name, options, account, true)),
    },
  );
  const { builder } = cells as unknown as SparseCells;
  const onLine = (window: Uint8Array, lineFrom: number, lineTo: number, line: number): void => {
    const comment = window.subarray(lineFrom, lineTo).indexOf(HASH);
    const to = comment < 0 ? lineTo : lineFrom + comment;
    let at = skipBlanks(window, lineFrom, to);
    if (at === to) return;
    const end = tokenEnd(window, at, to);
    const hasLabel = window.subarray(at, end).indexOf(COLON) < 0;
    if (labelColumn !== null) {
      const label = hasLabel ? decoded(name, line, window.subarray(at, end)) : "";
      hasLabels ||= label !== "";
      const isOne = label !== "" && !label.includes(",");
      if (!isOne && multilabel === false) {
        throw badFile(name, `line ${line}`, `expected one label, found ${label === "" ? "none" : quoted(label)}`);
      }
      rows.addLabel(isOne && multilabel !== true ? asNumber(label) : [...new Set(splitLabels(label).map(asNumber))]);
    }
    if (hasLabel) at = skipBlanks(window, end, to);
    while (at < to) {
      const stop = tokenEnd(window, at, to);
      readEntry(name, window, at, stop, line, builder);
      at = skipBlanks(window, stop, to);
    }
    builder.endRow(`line ${line}`);
    rows.rows++;
  };
  const taken = async (isEnd: boolean) => {
    const { y, ...block } = await rows.take(isEnd);
    return hasLabels && y ? { ...block, y } : block;
  };
  const account = options.budget.of(name);
  for await (const _ of scanLines(name, opened.stream, account, onLine, options.pace))
    if (rows.rows > 0) yield await taken(false);
  if (rows.rows + rows.taken === 0) throw noRows(name);
  if (rows.rows > 0) yield await taken(true);
  return endOf(rows);
}

/** In this format labels are numbers: +1, 1 and 1.0 are one. Words, and whole numbers that could be another, stay as they are. */
function asNumber(label: string): string {
  const value = plainNumber(label);
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value + 0) : label;
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
