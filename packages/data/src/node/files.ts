/** Node's files, folders and standard input as byte sources, and files written whole or not at all. */

import { createHash } from "node:crypto";
import { createReadStream, rmSync } from "node:fs";
import { type FileHandle, mkdir, open, opendir, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { badFile } from "../bad-file.ts";
import type { ByteSource, Folder, FolderEntry } from "../source.ts";

/** A file as a source. */
export async function fileSource(path: string): Promise<ByteSource> {
  const { size } = await statOf(path);
  return {
    name: path,
    byteLength: size,
    stream: () => streamOf(path),
    async slice(from, to) {
      const file = await open(path);
      try {
        const bytes = new Uint8Array(Math.max(Math.min(to, size) - from, 0));
        const { bytesRead } = await file.read(bytes, 0, bytes.byteLength, from);
        return bytes.subarray(0, bytesRead);
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

async function* streamOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw badFile(path, "", error instanceof Error ? error.message : String(error), error);
  }
}

/** Standard input (or another readable stream) as a source. It can be read once. */
export function stdinSource(stream: AsyncIterable<Uint8Array> = process.stdin): ByteSource {
  return { name: "standard input", stream: () => stream };
}

/** A folder and all below it. Links are followed to files, not to folders. */
export function pathFolder(path: string): Folder {
  return { name: path, entries: () => walk(path, "") };
}

async function* walk(root: string, under: string): AsyncGenerator<FolderEntry> {
  for await (const entry of await opendir(join(root, under))) {
    const path = under === "" ? entry.name : `${under}/${entry.name}`;
    if (entry.isDirectory()) yield* walk(root, path);
    else if (entry.isFile() || (entry.isSymbolicLink() && (await isFile(join(root, path))))) {
      yield { path, bytes: () => readFile(join(root, path)) };
    }
  }
}

/** What a path leads to: a file, a folder, or standard input for "-". */
export async function openPath(path: string): Promise<ByteSource | Folder> {
  if (path === "-") return stdinSource();
  return (await statOf(path)).isDirectory() ? pathFolder(path) : fileSource(path);
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    throw badFile(path, "", "expected a file or a folder, found nothing", error);
  }
}

/** Whether the path leads to a file. */
export async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

/**
 * Writes a file under a temporary name beside it and renames it when all is on disk: whoever stops it, the path holds the
 * old content or the new.
 */
export async function writeWhole(
  path: string,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.${writes++}.tmp`);
  let file: FileHandle | undefined;
  try {
    file = await open(temporary, "wx");
    unfinished.add(temporary);
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.byteLength; ) at += (await file.write(chunk, at)).bytesWritten;
    }
    await file.sync();
    await file.close();
    file = undefined;
    await rename(temporary, path);
  } catch (error) {
    await file?.close().catch(() => undefined);
    await rm(temporary, { force: true });
    throw error;
  } finally {
    unfinished.delete(temporary);
  }
}

let writes = 0;

/** Temporary files of writes that are under way. */
const unfinished = new Set<string>();

/** Removes what writes that are under way have on disk, at once: for a process that is about to end. */
export function removeUnfinished(): void {
  for (const path of unfinished) rmSync(path, { force: true });
}

/** SHA-256 of the bytes, in hexadecimal. */
export async function sha256(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest("hex");
}
