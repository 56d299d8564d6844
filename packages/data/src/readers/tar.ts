/**
 * A tar archive as a folder, streaming: ustar, GNU long names and pax paths. Only plain files are given; links and devices are read over.
 * By hand, because the library for this, modern-tar 0.8, gives sparse files and entries of unknown kinds as plain ones, and takes time by
 * the square of a pax header of up to 8 MB.
 */

import type { RanksimError } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import type { Folder, FolderEntry, Opened } from "../source.ts";

const BLOCK = 512;
/** A name longer than this is taken for damage. */
const LONGEST_NAME = 1 << 16;

/** The files of a tar archive, in its order. */
export function tarFolder(opened: Opened, account: Account): Folder {
  return { name: opened.name, entries: () => tarEntries(opened.name, opened.stream, account) };
}

async function* tarEntries(
  name: string,
  stream: AsyncIterable<Uint8Array>,
  account: Account,
): AsyncGenerator<FolderEntry> {
  const blocks = new Blocks(name, stream);
  try {
    let longPath: string | undefined;
    for (;;) {
      const at = blocks.at;
      const header = await blocks.take(BLOCK);
      if (header === undefined || header.every((byte) => byte === 0)) return;
      const { path, size, type } = readHeader(name, at, header);
      if (type === "L" || type === "x") {
        if (size > LONGEST_NAME) throw badFile(name, `byte ${at}`, `expected a name, found one of ${size} bytes`);
        const text = new TextDecoder().decode(await blocks.file(size));
        if (type === "x" && /^\d{1,10} GNU\.sparse\./m.test(text)) throw sparse(name, at);
        longPath = type === "L" ? text.split("\0", 1)[0] : (paxPath(text) ?? longPath);
        continue;
      }
      if (type === "S") throw sparse(name, at);
      // Twice: as the chunks that arrive, and joined.
      account.take(2 * size);
      const content = await blocks.file(size);
      account.give(2 * size);
      const entryPath = (longPath ?? path).replace(/^(?:\.?\/)+/, "");
      longPath = undefined;
      if (type !== "0" && type !== "\0" && type !== "7") continue;
      account.takeText(2 * entryPath.length); // readers keep it as the name of a row
      yield { path: entryPath, bytes: async () => content };
    }
  } finally {
    await blocks.close();
  }
}

/** The error for a file whose gaps are left out: its bytes are not those that follow. */
function sparse(name: string, at: number): RanksimError {
  return badFile(name, `byte ${at}`, "expected whole files, found a sparse one; pack it without --sparse");
}

/** The path that a pax header gives. Its lines are a length, a blank, a key, "=" and the value. */
function paxPath(text: string): string | undefined {
  const line = text.split("\n").findLast((candidate) => /^\d{1,10} path=/.test(candidate));
  return line?.slice(line.indexOf("=") + 1);
}

function readHeader(name: string, at: number, header: Uint8Array) {
  const field = (from: number, length: number) => {
    const bytes = header.subarray(from, from + length);
    const end = bytes.indexOf(0);
    return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
  };
  let sum = 8 * 32;
  header.forEach((byte, i) => {
    if (i < 148 || i >= 156) sum += byte;
  });
  const size =
    header[124] & 0x80 ? baseTwoFiftySix(header.subarray(125, 136)) : Number.parseInt(field(124, 12).trim() || "0", 8);
  if (sum !== Number.parseInt(field(148, 8), 8) || !Number.isSafeInteger(size) || size < 0) {
    throw badFile(name, `byte ${at}`, "expected a tar header with its check sum, found something else");
  }
  const prefix = field(257, 5) === "ustar" ? field(345, 155) : "";
  return {
    path: prefix === "" ? field(0, 100) : `${prefix}/${field(0, 100)}`,
    size,
    type: String.fromCharCode(header[156]),
  };
}

function baseTwoFiftySix(bytes: Uint8Array): number {
  return bytes.reduce((value, byte) => value * 256 + byte, 0);
}

/** The stream in pieces of asked sizes. */
class Blocks {
  at = 0;
  readonly #name: string;
  readonly #iterator: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);

  constructor(name: string, stream: AsyncIterable<Uint8Array>) {
    this.#name = name;
    this.#iterator = stream[Symbol.asyncIterator]();
  }

  /** The next `size` bytes; undefined at the end of the stream. Memory grows with the bytes that arrive. */
  async take(size: number): Promise<Uint8Array | undefined> {
    const parts: Uint8Array[] = [];
    let missing = size;
    while (missing > 0) {
      if (this.#chunk.byteLength === 0) {
        const { done, value } = await this.#iterator.next();
        if (done) {
          if (missing === size) return undefined;
          throw badFile(this.#name, `byte ${this.at}`, `expected ${missing} more bytes, found the end of the archive`);
        }
        this.#chunk = value;
      }
      const part = this.#chunk.subarray(0, missing);
      this.#chunk = this.#chunk.subarray(part.byteLength);
      this.at += part.byteLength;
      missing -= part.byteLength;
      parts.push(part);
    }
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.byteLength;
    }
    return bytes;
  }

  /** The next `size` bytes and the padding behind them. */
  async file(size: number): Promise<Uint8Array> {
    const bytes = size === 0 ? new Uint8Array(0) : await this.take(size);
    const padding = (BLOCK - (size % BLOCK)) % BLOCK;
    if (bytes === undefined || (padding > 0 && (await this.take(padding)) === undefined)) {
      throw badFile(this.#name, `byte ${this.at}`, `expected a file of ${size} bytes, found the end of the archive`);
    }
    return bytes;
  }

  async close(): Promise<void> {
    await this.#iterator.return?.();
  }
}
