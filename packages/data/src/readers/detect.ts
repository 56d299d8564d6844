/** Which format a file has: detected from its first bytes where these are decisive, else from the ending of its name, else from its text. */

import { RanksimError } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import type { Opened } from "../source.ts";
import { isIdx } from "./idx.ts";
import type { ReadOptions } from "./options.ts";
import type { Reader } from "./reader.ts";
import { READERS } from "./registry.ts";

const ENDINGS = new Map(READERS.flatMap((reader) => (reader.endings ?? []).map((ending) => [ending, reader])));

/** Formats that are known but not read, by their first bytes. */
const REFUSED: readonly (readonly [bytes: string, message: string])[] = [
  ["BZh", "found bzip2; unpack it first (bunzip2)"],
  ["\xfd7zXZ", "found xz; unpack it first (unxz)"],
  ["\x89PNG", "found one PNG image; give the folder that holds the images"],
  ["P5", "found one PGM image; give the folder that holds the images"],
  ["\x80\x04\x95", "found a Python pickle; save it as NPY or NPZ"],
  ["%PDF", "found a PDF document; save its table as CSV"],
  ["\xd0\xcf\x11\xe0", "found an old Office document; save its table as CSV"],
];

/** Where a zip names its first entry, and what Excel and LibreOffice have there. */
const FIRST_ENTRY = 30;
const OFFICE = ["[Content_Types].xml", "_rels/", "docProps/", "xl/", "mimetype"];

/** The reader of an opened source. */
export function readerOf(opened: Opened, options: Pick<ReadOptions, "format">): Reader {
  const reader = told(opened, options);
  if (reader.isText) refuseBinary(opened);
  return reader;
}

function told({ head, name }: Opened, { format }: Pick<ReadOptions, "format">): Reader {
  if (format !== undefined) return readerOfFormat(format);
  if (hasBytes(head, 0, "PK\x03\x04") && OFFICE.some((entry) => hasBytes(head, FIRST_ENTRY, entry))) {
    if (/\.xls[xm]$/i.test(name)) return readerOfFormat("xlsx");
    throw badFile(
      name,
      "byte 0",
      "expected a format that can be read, found an Office document; save its table as .xlsx or CSV",
    );
  }
  const known = READERS.find(({ magic = [] }) => magic.some(([at, bytes]) => hasBytes(head, at, bytes)));
  if (known) return known;
  for (const [bytes, message] of REFUSED) {
    if (hasBytes(head, 0, bytes) && !(bytes === "P5" && head[2] > 32)) {
      throw badFile(name, "byte 0", `expected a format that can be read, ${message}`);
    }
  }
  const ending = /\.([a-z0-9]+)$/i.exec(name.replace(/\.(gz|zst)$/i, ""))?.[1].toLowerCase() ?? "";
  return ENDINGS.get(ending) ?? readerOfFormat(isIdx(head) ? "idx" : formatOfText(head));
}

/** The reader of a format. */
export function readerOfFormat(format: Reader["format"]): Reader {
  const reader = READERS.find((one) => one.format === format);
  if (reader) return reader;
  throw new RanksimError("bad-params", `format: expected the name of a format, found ${JSON.stringify(format)}`);
}

/** A zero byte is in no text. */
function refuseBinary({ name, head }: Opened): void {
  const zero = head.indexOf(0);
  if (zero < 0) return;
  throw badFile(name, `byte ${zero}`, "expected lines of text, found a byte of zero: it is a file of another kind");
}

function hasBytes(head: Uint8Array, at: number, bytes: string): boolean {
  for (let i = 0; i < bytes.length; i++) if (head[at + i] !== bytes.charCodeAt(i)) return false;
  return true;
}

function formatOfText(head: Uint8Array): Reader["format"] {
  const text = new TextDecoder().decode(head);
  const line = text.split(/\r?\n/).find((candidate) => candidate.trim() !== "" && !candidate.startsWith("#")) ?? "";
  if (/^\s*[[{]/.test(line)) return "jsonl";
  if (/^\s*([^\s:]+\s+)?(qid:\d+\s+)?\d+:[-+.\d]+/.test(line)) return "svmlight";
  return "csv";
}
