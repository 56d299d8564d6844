/**
 * Where results go: standard output for "-", devices and pipes as they come, and files whole or not at all, so that a run
 * killed at any moment leaves what was there before or what was to be there after.
 */

import { constants, createWriteStream } from "node:fs";
import { access, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { RanksimError } from "@ranksim/core";
import { checkNames, writeWhole } from "@ranksim/data/node";
import { type Io, named } from "../io.ts";
import { printableLines } from "../terminal/style.ts";
import { dataNames } from "./data-names.ts";

/** What can be written. */
export type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * Writes to a path, seen from the session's folder, or to standard output for "-". After an abort nothing new remains. `write` is how a
 * file is written.
 */
export async function writeTo(path: string, chunks: Chunks, io: Io, write = writeWhole): Promise<void> {
  const guarded = untilAborted(chunks, io.signal);
  if (io.processes && io.processes.rank > 0) {
    for await (const _ of guarded); // the first process writes; making what is written is work for all
    return;
  }
  if (path === "-") {
    if (io.stdout.isTerminal) return toTerminal(guarded, io);
    for await (const chunk of guarded) await io.stdout.write(chunk);
    return;
  }
  const target = resolve(io.cwd, path);
  const found = await stat(target).catch(() => undefined);
  try {
    if (found !== undefined && !found.isFile() && !found.isDirectory()) {
      await pipeline(Readable.from(guarded), createWriteStream(target));
    } else {
      await write(target, guarded);
    }
  } catch (error) {
    throw named(error, path);
  }
}

/** To programs and files bytes go as they are; a terminal gets nothing that could steer it. */
async function toTerminal(chunks: AsyncIterable<Uint8Array>, io: Io): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of chunks) await io.stdout.write(printableLines(decoder.decode(chunk, { stream: true })));
  await io.stdout.write(printableLines(decoder.decode()));
}

/**
 * Refuses a path that could not be written to, before the work whose result would be lost, and one that is among the files
 * that are `read`, so that training never overwrites its data.
 */
export async function checkWritable(path: string, io: Io, read: readonly (string | undefined)[]): Promise<void> {
  if (path === "-") return;
  const target = resolve(io.cwd, path);
  const found = await stat(target).catch(() => undefined);
  if (found?.isDirectory()) {
    throw new RanksimError("bad-params", `${path} is a folder, expected the name of a file`);
  }
  const names = read.filter((name) => name !== undefined);
  const stdin = names.includes("-") ? io.stdinFile : undefined;
  if (stdin && found?.isFile() && stdin.ino === found.ino && stdin.dev === found.dev) {
    throw new RanksimError(
      "bad-params",
      `${path} is read by this command, as its standard input; give what it writes another name`,
    );
  }
  for (const name of found?.isFile() ? await dataNames(names, io.cwd) : []) {
    const other = await stat(resolve(io.cwd, name)).catch(() => undefined);
    if (other?.ino === found?.ino && other?.dev === found?.dev) {
      throw new RanksimError("bad-params", `${path} is read by this command; give what it writes another name`);
    }
  }
  await checkNames(target);
  let folder = dirname(target);
  for (;;) {
    const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" && folder !== dirname(folder)) return undefined;
      throw new RanksimError("bad-params", `${path}: a part of the path is not a folder`, { cause: error });
    });
    if (found && !found.isDirectory()) throw new RanksimError("bad-params", `${path}: ${folder} is not a folder`);
    if (found) break;
    folder = dirname(folder);
  }
  await access(folder, constants.W_OK);
}

/** Bytes of one array in pieces, so that an interrupt is noticed between them. */
export function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  const size = 1 << 22;
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

async function* untilAborted(chunks: Chunks, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    yield chunk;
  }
  signal.throwIfAborted();
}
