/** Which format a file has: detected from its first bytes where these are decisive, else from the ending of its name, else from its text. */

import { badFile } from "../bad-file.ts";
import { type ByteSource, type Opened, openSource } from "../source.ts";
import { isIdx } from "./idx.ts";
import type { Format, ReadOptions } from "./options.ts";

/** A file's format; "tar" is a folder in one file. */
type FileFormat = Format | "tar";

const MAGIC: readonly (readonly [format: FileFormat, at: number, bytes: string])[] = [
  ["npy", 0, "\x93NUMPY"],
  ["npz", 0, "PK\x03\x04"],
  ["parquet", 0, "PAR1"],
  ["arrow", 0, "ARROW1"],
  ["arrow", 0, "\xff\xff\xff\xff"],
  ["tar", 257, "ustar"],
];

const ENDINGS: { readonly [ending: string]: FileFormat } = {
  csv: "csv",
  tsv: "tsv",
  tab: "tsv",
  jsonl: "jsonl",
  ndjson: "jsonl",
  json: "jsonl",
  npy: "npy",
  npz: "npz",
  svm: "svmlight",
  svmlight: "svmlight",
  libsvm: "svmlight",
  parquet: "parquet",
  arrow: "arrow",
  arrows: "arrow",
  feather: "arrow",
  ipc: "arrow",
  tar: "tar",
  tgz: "tar",
};

/** Formats that are known but not read, by their first bytes. */
const REFUSED: readonly (readonly [bytes: string, message: string])[] = [
  ["BZh", "found bzip2; unpack it first (bunzip2)"],
  ["\xfd7zXZ", "found xz; unpack it first (unxz)"],
  ["\x89PNG", "found one PNG image; give the folder that holds the images"],
  ["P5", "found one PGM image; give the folder that holds the images"],
  ["\x89HDF", "found HDF5; save it as NPY, NPZ or Parquet"],
  ["\x80\x04\x95", "found a Python pickle; save it as NPY or NPZ"],
  ["%PDF", "found a PDF document; save its table as CSV"],
  ["\xd0\xcf\x11\xe0", "found an old Office document; save its table as CSV"],
];

/** Where a zip names its first entry, and what Excel and LibreOffice have there. */
const FIRST_ENTRY = 30;
const OFFICE = ["[Content_Types].xml", "_rels/", "docProps/", "xl/", "mimetype"];

/** The format of an opened source. */
export function formatOf(opened: Opened, options: Pick<ReadOptions, "format">): FileFormat {
  const format = told(opened, options);
  if (LINES.includes(format)) refuseBinary(opened);
  return format;
}

/** The format that a source is read as. */
export async function formatOfSource(
  source: ByteSource,
  options: Pick<ReadOptions, "format"> = {},
): Promise<Format | "tar"> {
  const opened = await openSource(source);
  for await (const _ of opened.stream) break; // closes the file
  return formatOf(opened, options);
}

function told(opened: Opened, options: Pick<ReadOptions, "format">): FileFormat {
  if (options.format !== undefined) return options.format;
  const { head, name } = opened;
  if (hasBytes(head, 0, "PK\x03\x04") && OFFICE.some((entry) => hasBytes(head, FIRST_ENTRY, entry))) {
    throw badFile(
      name,
      "byte 0",
      "expected a format that can be read, found an Office document; save its table as CSV",
    );
  }
  for (const [format, at, bytes] of MAGIC) if (hasBytes(head, at, bytes)) return format;
  for (const [bytes, message] of REFUSED) {
    if (hasBytes(head, 0, bytes) && !(bytes === "P5" && head[2] > 32)) {
      throw badFile(name, "byte 0", `expected a format that can be read, ${message}`);
    }
  }
  const ending = /\.([a-z0-9]+)$/i.exec(name.replace(/\.(gz|zst)$/i, ""))?.[1].toLowerCase() ?? "";
  if (Object.hasOwn(ENDINGS, ending)) return ENDINGS[ending];
  if (isIdx(head)) return "idx";
  return formatOfText(head);
}

/** Formats of lines of text. */
const LINES: readonly FileFormat[] = ["csv", "tsv", "jsonl", "svmlight"];

/** A zero byte is in no text but that of UTF-16, which is refused by its own name. */
function refuseBinary({ name, head }: Opened): void {
  const zero = head.indexOf(0);
  const isUtf16 = hasBytes(head, 0, "\xff\xfe") || hasBytes(head, 0, "\xfe\xff");
  if (zero < 0 || isUtf16) return;
  throw badFile(name, `byte ${zero}`, "expected lines of text, found a byte of zero: it is a file of another kind");
}

function hasBytes(head: Uint8Array, at: number, bytes: string): boolean {
  for (let i = 0; i < bytes.length; i++) if (head[at + i] !== bytes.charCodeAt(i)) return false;
  return true;
}

function formatOfText(head: Uint8Array): FileFormat {
  const text = new TextDecoder().decode(head);
  const line = text.split(/\r?\n/).find((candidate) => candidate.trim() !== "" && !candidate.startsWith("#")) ?? "";
  if (/^\s*[[{]/.test(line)) return "jsonl";
  if (/^\s*([^\s:]+\s+)?(qid:\d+\s+)?\d+:[-+.\d]+/.test(line)) return "svmlight";
  return "csv";
}
