/**
 * A folder of text files; a file's class is the folder it lies in. Rows come in the order of their paths. Parts of
 * newsgroup posts can be removed by scikit-learn's rules (its loader of 20 Newsgroups), so that both read the same words.
 */

import { budgetOf } from "../budget.ts";
import type { TextData } from "../data-set.ts";
import type { Folder } from "../source.ts";
import { PYTHON_SPACE } from "../text/token-pattern.ts";
import { decoded } from "./encoding.ts";
import { collectFiles } from "./folder.ts";
import type { ReadOptions } from "./options.ts";

/** A folder of images of another kind comes here too: its first bytes are none of an image that can be read. */
const TEXT_OR_IMAGE = "text in UTF-8, or an image as PNG, JPEG or PGM";

/** Reads a folder of text files. */
export async function readTextFolder(folder: Folder, options: ReadOptions): Promise<TextData> {
  const { remove = [] } = options;
  const account = budgetOf(options).of(folder.name);
  const { contents, y, paths } = await collectFiles(folder, options, (path, bytes) => {
    account.takeText(2 * bytes.byteLength);
    let text =
      options.encoding === "latin1" ? latin1(bytes) : decoded(`${folder.name}/${path}`, "", bytes, TEXT_OR_IMAGE);
    if (remove.includes("headers")) text = withoutHeaders(text);
    if (remove.includes("footers")) text = withoutFooters(text);
    if (remove.includes("quotes")) text = withoutQuotes(text);
    return text;
  });
  return { form: "text", text: contents, rowNames: paths, ...(y ? { y } : {}) };
}

/** Bytes as the characters of the same numbers. The platform's "latin1" decoder is Windows-1252, which differs for 0x80..0x9f. */
function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let from = 0; from < bytes.length; from += 8192)
    text += String.fromCharCode(...bytes.subarray(from, from + 8192));
  return text;
}

/** What follows the first blank line. */
export function withoutHeaders(text: string): string {
  const blank = text.indexOf("\n\n");
  return blank < 0 ? "" : text.slice(blank + 2);
}

const QUOTE_MARKS = /writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>/;

/** Without the lines that quote another post or announce a quotation. */
export function withoutQuotes(text: string): string {
  return text
    .split("\n")
    .filter((line) => !QUOTE_MARKS.test(line))
    .join("\n");
}

/** Without the last block, set off by a line that is empty or of hyphens, if it is not the only one. */
export function withoutFooters(text: string): string {
  const lines = strip(text).split("\n");
  let last = lines.length - 1;
  while (last > 0 && !/^-*$/.test(strip(lines[last]))) last--;
  return last > 0 ? lines.slice(0, last).join("\n") : text;
}

const BLANK = new RegExp(`[${PYTHON_SPACE}]`);

/** Python's `str.strip`. */
function strip(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && BLANK.test(text[from])) from++;
  while (to > from && BLANK.test(text[to - 1])) to--;
  return text.slice(from, to);
}
