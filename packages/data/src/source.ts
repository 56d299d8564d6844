/**
 * Where bytes come from. All readers take a byte source or a folder and do not depend on files, pages or networks; memory
 * and browser files are adapted here, Node's files in node/. Gzip, Zstandard and UTF-16 are undone on the way, recognised by their first
 * bytes.
 */

import type { Account } from "./budget.ts";
import { GrowingBytes } from "./growing-bytes.ts";
import { gunzip } from "./gunzip.ts";
import { readStream } from "./read-stream.ts";
import { isZstd, unzstd } from "./unzstd.ts";
import { isUtf16, utf8OfUtf16 } from "./utf-16.ts";

declare global {
  // What browsers and Node declare; named here so that declarations compile where neither's types are there.
  interface Blob {}
  interface File {}
}

/** Bytes with a name. */
export interface ByteSource {
  /** File name or address: shown in errors, and its ending tells the format. */
  readonly name: string;
  /** Number of stored bytes, where known before reading. */
  readonly byteLength?: number;
  /** The bytes from the start. A source that cannot start again (standard input) is read once. */
  stream(): AsyncIterable<Uint8Array>;
  /**
   * Bytes `from` (included) to `to` (not included), for formats that are read in pieces. A source that copies them may do so to the
   * beginning of `into`, if they fit there.
   */
  slice?(from: number, to: number, into?: Uint8Array): Promise<Uint8Array>;
  /** The file itself, opened, for libraries that read in a thread of their own. Whoever opens it closes it. */
  file?(): OpenFile;
  /** The source of another name beside this one, if there is one: finds the labels that belong to images. */
  sibling?(name: string): Promise<ByteSource | undefined>;
}

/** An open file: every thread of the process can read it by its number. */
export interface OpenFile {
  readonly number: number;
  readonly byteLength: number;
  close(): void;
}

/** Files with paths, in any order. */
export interface Folder {
  readonly name: string;
  /** How many files may be asked for before the bytes of the first of them are there; absent: one after the other. */
  readonly ahead?: number;
  /** Whether this is a list of files, each of which is wanted, in the order of the entries. */
  readonly isList?: boolean;
  entries(): AsyncIterable<FolderEntry>;
}

/** One file of a folder. */
export interface FolderEntry {
  /** Path inside the folder, its parts separated by "/". */
  readonly path: string;
  /** The file's bytes. Unless files may be asked for ahead, valid until the next entry is asked for. */
  bytes(): Promise<Uint8Array>;
}

/** The name of standard input in errors. */
export const STANDARD_INPUT = "standard input";

const CHUNK = 1 << 20;

/** Bytes in memory as a source. */
export function bytesSource(bytes: Uint8Array, name = "data"): ByteSource {
  return {
    name,
    byteLength: bytes.byteLength,
    async *stream() {
      for (let from = 0; from < bytes.byteLength; from += CHUNK) yield bytes.subarray(from, from + CHUNK);
    },
    async slice(from, to) {
      return bytes.subarray(from, to);
    },
  };
}

/** A browser's Blob or File as a source. */
export function blobSource(blob: Blob, name = blob instanceof File ? blob.name : "blob"): ByteSource {
  return {
    name,
    byteLength: blob.size,
    stream: () => readStream(blob.stream()),
    async slice(from, to) {
      return new Uint8Array(await blob.slice(from, to).arrayBuffer());
    },
  };
}

/** A browser's files, chosen as a folder, as a folder. Paths are those the browser gives, without the chosen folder's own name. */
export function filesFolder(files: Iterable<File>, name = "folder"): Folder {
  return {
    name,
    async *entries() {
      for (const file of files) {
        const path = file.webkitRelativePath || file.name;
        yield {
          path: file.webkitRelativePath ? path.slice(path.indexOf("/") + 1) : path,
          bytes: async () => new Uint8Array(await file.arrayBuffer()),
        };
      }
    },
  };
}

/** A source opened: its first bytes, to tell the format by, and all of its bytes, to be read once. Gzip and Zstandard are undone. */
export interface Opened {
  readonly name: string;
  /** At least `HEAD_BYTES`, or the whole file if it is shorter. */
  readonly head: Uint8Array;
  /** Number of bytes, where known before reading (not for compressed sources). */
  readonly byteLength?: number;
  readonly stream: AsyncIterable<Uint8Array>;
  /** Present where the source has one and is not compressed. */
  readonly slice?: (from: number, to: number) => Promise<Uint8Array>;
  /** Where the bytes come from, as they are stored there. */
  readonly source: ByteSource;
}

/** Enough to see a tar header (512 bytes) or several lines of a table. */
const HEAD_BYTES = 4096;

/** Opens a source, undoes gzip and Zstandard, and makes UTF-16 UTF-8. `headBytes` is how many bytes must be seen before more is known. */
export async function openSource(source: ByteSource, headBytes = HEAD_BYTES): Promise<Opened> {
  const { name } = source;
  const stored = await peek(source.stream(), headBytes);
  const unpacked = async (plain: AsyncIterable<Uint8Array>) => ({ name, source, ...(await peek(plain, headBytes)) });
  if (isUtf16(stored.head)) return unpacked(utf8OfUtf16(name, stored.stream));
  if (!isPacked(stored.head)) {
    return {
      name,
      source,
      head: stored.head,
      stream: stored.stream,
      ...(source.byteLength === undefined ? {} : { byteLength: source.byteLength }),
      ...(source.slice ? { slice: (from: number, to: number) => source.slice!(from, to) } : {}),
    };
  }
  const unpack = isGzip(stored.head) ? gunzip : unzstd;
  const plain = await unpacked(unpack(name, stored.stream));
  return isUtf16(plain.head) ? unpacked(utf8OfUtf16(name, plain.stream)) : plain;
}

/** All bytes of a stream in one array. */
export async function readAll(stream: AsyncIterable<Uint8Array>, account: Account, expected = 0): Promise<Uint8Array> {
  const all = new GrowingBytes(account, Math.max(expected, CHUNK));
  for await (const chunk of stream) all.push(chunk);
  return all.bytes;
}

/** Whether the bytes begin as gzip does. */
function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

const isPacked = (head: Uint8Array): boolean => isGzip(head) || isZstd(head);

async function peek(
  source: AsyncIterable<Uint8Array>,
  headBytes: number,
): Promise<{ head: Uint8Array; stream: AsyncIterable<Uint8Array> }> {
  const iterator = source[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let length = 0;
  let ended = false;
  while (length < headBytes && !ended) {
    const { done, value } = await iterator.next();
    if (done) ended = true;
    else {
      chunks.push(value);
      length += value.byteLength;
    }
  }
  const head = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    head.set(chunk, at);
    at += chunk.byteLength;
  }
  async function* stream() {
    try {
      yield head;
      while (!ended) {
        const { done, value } = await iterator.next();
        if (done) return;
        yield value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  return { head, stream: stream() };
}
