/**
 * Files written whole or not at all: under a temporary name beside the target, renamed when all is on disk. Whoever stops it, and
 * whenever, the target holds the old content or the new.
 */

import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, readlink, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";

/** Links that lead to links to links: more than any system follows. */
const MOST_LINKS = 40;

/**
 * Writes a file. A link stays a link: what it leads to is written, even if that is not there yet. A file that is replaced keeps its
 * mode. What earlier runs for the same target left when they were killed is removed.
 */
export async function writeWhole(
  path: string,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  const target = await followed(path);
  await mkdir(dirname(target), { recursive: true });
  await removeLeft(target);
  const mode = await stat(target).then(
    (found) => found.mode & 0o7777,
    () => undefined,
  );
  const temporary = temporaryName(target, writes++);
  unfinished.add(temporary);
  let file: FileHandle | undefined;
  try {
    file = await open(temporary, "wx");
    for await (const chunk of chunks) {
      for (let at = 0; at < chunk.byteLength; ) at += (await file.write(chunk, at)).bytesWritten;
    }
    if (mode !== undefined) await file.chmod(mode);
    await file.sync();
    await file.close();
    file = undefined;
    await rename(temporary, target);
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

/** The temporary name of a target: short, however long the target's own name is, and different for each target. */
function temporaryName(target: string, number: number): string {
  return join(dirname(target), `${prefixOf(target)}${process.pid}.${number}.tmp`);
}

function prefixOf(target: string): string {
  return `.ranksim-${createHash("sha256").update(basename(target)).digest("hex").slice(0, 16)}.`;
}

/** Refuses, by the error of the system, a path that no file could have: a name that is too long, a loop of links. */
export async function checkNames(path: string): Promise<void> {
  const target = await followed(path);
  for (const name of [target, temporaryName(target, 2 ** 32)]) {
    await lstat(name).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENAMETOOLONG" || error.code === "ELOOP") throw error;
    });
  }
}

/** Where a path leads, link by link, whether or not anything is there. */
export async function followed(path: string): Promise<string> {
  let at = resolve(path);
  for (let links = 0; ; links++) {
    const to = await readlink(at).catch(() => undefined);
    if (to === undefined) return at;
    if (links === MOST_LINKS)
      throw Object.assign(new Error(`${path}: too many links`), { code: "ELOOP", syscall: "open", path });
    at = resolve(dirname(at), to);
  }
}

/** Removes temporary files of this target whose process is no longer there. */
async function removeLeft(target: string): Promise<void> {
  const folder = dirname(target);
  const prefix = prefixOf(target);
  for (const name of await readdir(folder).catch(() => [])) {
    const process = name.startsWith(prefix) ? /^(\d{1,10})\.\d{1,15}\.tmp$/.exec(name.slice(prefix.length)) : null;
    if (process === null || unfinished.has(join(folder, name)) || isAlive(Number(process[1]))) continue;
    await rm(join(folder, name), { force: true });
  }
}

/** Whether another process of that number runs. This one knows its own files. */
export function isAlive(id: number): boolean {
  if (id === process.pid) return false;
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
