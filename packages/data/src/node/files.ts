/** Node's files, folders and standard input as byte sources. */

import { createHash } from "node:crypto";
import { closeSync, constants, createReadStream, openSync, readFile, type Stats } from "node:fs";
import { open, opendir, stat } from "node:fs/promises";
import { Socket } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { badFile } from "../bad-file.ts";
import { Budget } from "../budget.ts";
import { type ByteSource, type Folder, type FolderEntry, type OpenFile, readAll, STANDARD_INPUT } from "../source.ts";

/** A file as a source. */
export async function fileSource(path: string): Promise<ByteSource> {
  const found = await statOf(path);
  // Pipes have no size, and no places.
  if (!found.isFile()) return { name: path, stream: () => streamOf(path, found) };
  const { size } = found;
  return {
    name: path,
    byteLength: size,
    stream: () => sameStream(path, found),
    file: () => opened(path, found),
    async slice(from, to, into) {
      const file = await open(path);
      try {
        const count = Math.max(Math.min(to, size) - from, 0);
        const bytes = into && into.byteLength >= count ? into.subarray(0, count) : new Uint8Array(count);
        let length = 0;
        // A read may give less than was asked for.
        for (let more = 1; more > 0 && length < bytes.byteLength; length += more) {
          more = (await file.read(bytes, length, bytes.byteLength - length, from + length)).bytesRead;
        }
        if (length === bytes.byteLength) refuseChanged(path, found, await file.stat());
        return bytes.subarray(0, length);
      } finally {
        await file.close();
      }
    },
    async sibling(name) {
      const other = join(dirname(path), name);
      return (await isFile(other)) ? fileSource(other) : undefined;
    },
  };
}

/** A file, opened. */
function opened(path: string, { size }: Stats): OpenFile {
  const number = openSync(path, "r");
  return { number, byteLength: size, close: () => closeSync(number) };
}

/** A file that is read more than once must be the same every time. */
function refuseChanged(path: string, before: Stats, now: Stats): void {
  if (now.mtimeMs === before.mtimeMs && now.size === before.size && now.ino === before.ino) return;
  throw badFile(path, "", "the file has changed while it was read; leave it as it is until the end, and start again");
}

/** The bytes of a file that may be read again: refused at their end where they are not those of the file that was found. */
async function* sameStream(path: string, found: Stats): AsyncGenerator<Uint8Array> {
  yield* streamOf(path, found);
  refuseChanged(path, found, await statOf(path));
}

async function* streamOf(path: string, found: Stats): AsyncGenerator<Uint8Array> {
  try {
    yield* (
      found.isFIFO() ? pipeStream(path) : createReadStream(path, { highWaterMark: 1 << 20 })
    ) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw badFile(path, "", error instanceof Error ? error.message : String(error), error);
  }
}

/** A pipe is waited for as a socket is: a read of it as a file would keep the process from ending until something is written. */
function pipeStream(path: string): Socket {
  return new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false });
}

/** Standard input (or another readable stream) as a source. It can be read once. */
export function stdinSource(stream: AsyncIterable<Uint8Array> = process.stdin): ByteSource {
  return { name: STANDARD_INPUT, stream: () => stream };
}

/** Small files take longer to open than to read: this many are opened at a time. */
const AHEAD = 16;

/** A folder and all below it. Links are followed to files, not to folders. */
export function pathFolder(path: string): Folder {
  return { name: path, ahead: AHEAD, entries: () => walk(path, "") };
}

/** Files of any folders as one, in this order: each by its name and by the path where it lies. */
export function listedFiles(files: readonly { readonly name: string; readonly path: string }[]): Folder {
  return {
    name: files.length === 1 ? files[0].name : `${files.length} files`,
    ahead: AHEAD,
    isList: true,
    async *entries() {
      for (const { name, path } of files) yield { path: name, bytes: () => readBytes(path) };
    },
  };
}

async function* walk(root: string, under: string): AsyncGenerator<FolderEntry> {
  for await (const entry of await opendir(join(root, under))) {
    const path = under === "" ? entry.name : `${under}/${entry.name}`;
    if (entry.isDirectory()) yield* walk(root, path);
    else if (entry.isFile() || (entry.isSymbolicLink() && (await isFile(join(root, path))))) {
      yield { path, bytes: () => readBytes(join(root, path)) };
    }
  }
}

/** Takes half the time of `readFile` of node:fs/promises for files of a few hundred bytes. */
const readBytes: (path: string) => Promise<Uint8Array> = promisify(readFile);

/** What the matrix of a folder of counts is called. */
const CELL_MATRICES = ["matrix.mtx", "matrix.mtx.gz"];

/** What a path leads to: a file, a folder, or standard input for "-". */
export async function openPath(path: string): Promise<ByteSource | Folder> {
  if (path === "-") return stdinSource();
  if (!(await statOf(path)).isDirectory()) return fileSource(path);
  for (const matrix of CELL_MATRICES) {
    // A folder of counts is its matrix, with the names of genes and cells beside it.
    if (await isFile(join(path, matrix))) return fileSource(join(path, matrix));
  }
  return pathFolder(path);
}

/** All bytes of a file, within the budget. What is not there is the system's error. */
export async function readWhole(path: string, budget = new Budget()): Promise<Uint8Array> {
  const found = refuseDevice(path, await stat(path));
  if (found.isDirectory()) throw badFile(path, "", "expected a file, found a folder");
  return readAll(streamOf(path, found), budget.of(path), found.size);
}

/** What is at a path. Devices are refused: many of them have no end. */
async function statOf(path: string) {
  const found = await stat(path).catch((error: unknown) => {
    throw badFile(path, "", "expected a file or a folder, found nothing", error);
  });
  return refuseDevice(path, found);
}

function refuseDevice(path: string, found: Stats): Stats {
  if (!found.isCharacterDevice() && !found.isBlockDevice()) return found;
  throw badFile(path, "", "expected a file or a folder, found a device; - is standard input");
}

/** Whether the path leads to a file. */
export async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

/** SHA-256 of the bytes, in hexadecimal. */
export async function sha256(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest("hex");
}
