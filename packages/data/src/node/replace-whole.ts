/**
 * Files replaced only where they still are what was read: of several processes that each read a file, change it and write it back, one
 * succeeds, and the others are told instead of undoing its work.
 */

import { randomUUID } from "node:crypto";
import { link, open, readFile, rename, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { RanksimError } from "@ranksim/core";
import { followed, isAlive, writeWhole } from "./write-whole.ts";

/**
 * Writes a file as `writeWhole` does, if `isSame` says so of its present bytes; else, or while another process replaces it, refuses (code
 * "unsupported"). What a killed process left in the way is removed.
 */
export async function replaceWhole(
  path: string,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  isSame: (bytes: Uint8Array) => boolean,
): Promise<void> {
  const target = await followed(resolve(path));
  const lock = join(dirname(target), `.${basename(target)}.lock`);
  await take(lock, path);
  try {
    const present = await readFile(target).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (present === undefined || !isSame(present)) throw changed(path);
    await writeWhole(target, chunks);
  } finally {
    await rm(lock, { force: true });
  }
}

const changed = (path: string): RanksimError =>
  new RanksimError(
    "unsupported",
    `${path}: another process changed it since it was read, and nothing was written; run this again, one after the other`,
  );

/** Who holds a lock: the process and its machine, whose processes alone can be looked for. */
const OWNER = `${process.pid} ${hostname()}`;

/** Milliseconds after which a lock that still names no owner is taken for one whose process ended between making and signing it. */
const UNSIGNED = 10_000;

/** Makes the lock; refuses where a process that may be alive holds it. */
async function take(lock: string, path: string): Promise<void> {
  for (let tries = 0; tries < 3; tries++) {
    try {
      const file = await open(lock, "wx");
      await file.writeFile(OWNER).finally(() => file.close());
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (!(await removeDead(lock))) throw changed(path);
  }
  throw changed(path);
}

/** Removes the lock of a process that ended; false where its process may still run. */
async function removeDead(lock: string): Promise<boolean> {
  const found = await Promise.all([readFile(lock, "utf8"), stat(lock)]).catch(() => undefined);
  if (!found) return true; // given back in the meantime
  const [owner, { ino, mtimeMs }] = found;
  const [id, host] = owner.split(" ");
  const isHeld = owner === "" ? Date.now() - mtimeMs < UNSIGNED : host !== hostname() || isAlive(Number(id));
  if (isHeld) return false;
  // Of several processes that found it, one moves it away. Whoever moves a newer lock by this puts it back.
  const moved = `${lock}.${randomUUID()}`;
  const isMoved = await rename(lock, moved).then(
    () => true,
    () => false,
  );
  if (!isMoved) return true;
  const isDead = (await stat(moved)).ino === ino;
  if (!isDead) await link(moved, lock).catch(() => undefined);
  await rm(moved, { force: true });
  return isDead;
}
