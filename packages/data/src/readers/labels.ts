/** Labels in a file of their own: IDX or NPY with one axis, an NPZ with one array, or text with the labels of a row on each line. */

import { badFile } from "../bad-file.ts";
import { type Account, budgetOf } from "../budget.ts";
import type { RowLabels } from "../data-set.ts";
import { type ByteSource, type Opened, openSource, readAll } from "../source.ts";
import { labelNamed } from "./columns.ts";
import { readerOf } from "./detect.ts";
import { decoded, recoded } from "./encoding.ts";
import { readIdx } from "./idx.ts";
import { splitLabels, typedLabels } from "./label-types.ts";
import { arrayToLabels, decodeNpy } from "./npy.ts";
import { readNpzLabels } from "./npz.ts";
import type { ReadOptions } from "./options.ts";
import { eachLine } from "./scan.ts";

/**
 * Reads a file of labels. In text, a line holds one label, or several separated by commas when `multilabel` is set; a
 * CSV-like first line of "label" (or class, target, y) is taken for a header.
 */
export async function readLabels(source: ByteSource, options: ReadOptions = {}): Promise<RowLabels> {
  const opened = await openSource(source);
  const { name } = opened;
  const account = budgetOf(options).of(name);
  const whole = () => readAll(opened.stream, account, opened.byteLength);
  switch (readerOf(opened, {}).format) {
    case "idx":
      return arrayToLabels(name, await readIdx(opened, account), account);
    case "npy":
      return arrayToLabels(name, decodeNpy(name, await whole(), account), account);
    case "npz":
      return readNpzLabels(name, await whole(), options);
    case "parquet":
    case "arrow":
      throw badFile(name, "", "expected labels as IDX, NPY, NPZ or text, found a table; name its label column instead");
    default:
      return readLabelLines(recoded(opened, options), account, options);
  }
}

async function readLabelLines({ name, stream }: Opened, account: Account, options: ReadOptions): Promise<RowLabels> {
  const labels: (string | string[])[] = [];
  await eachLine(name, stream, account, (window, from, to, line) => {
    const text = unquote(decoded(name, line, window.subarray(from, to)).trim());
    if (line === 1 && (labelNamed([text]) === 0 || /^y$/i.test(text))) return;
    if (text === "" && !options.multilabel)
      throw badFile(name, `line ${line}`, "expected a label, found an empty line");
    account.takeText(text.length);
    labels.push(options.multilabel ? splitLabels(text) : text);
  });
  if (labels.length === 0) throw badFile(name, "", "expected at least one label, found none");
  return typedLabels(name, labels as RowLabels, true);
}

function unquote(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text;
}
