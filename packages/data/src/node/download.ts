/**
 * Downloads that can be interrupted: bytes go to `name.part`, the next call goes on from there (if the server still has
 * the same file), and only a whole file with the right digest gets its name.
 */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { RanksimError } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import type { CatalogueFile } from "../catalogue/entry.ts";

/** Where a download stands. */
export interface DownloadProgress {
  readonly file: string;
  readonly received: number;
  /** Absent where the server does not say. */
  readonly total?: number;
}

/** How to download. */
export interface DownloadOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: DownloadProgress) => void;
}

/** Times that an address is tried before the next; each try goes on where the last one stopped. */
const TRIES = 3;

/** Downloads `file` to `path`, from the first address that gives it. */
export async function download(file: CatalogueFile, path: string, options: DownloadOptions = {}): Promise<void> {
  if (file.addresses.length === 0) throw badFile(file.name, "", "expected an address to download from, found none");
  await mkdir(dirname(path), { recursive: true });
  const failures: string[] = [];
  for (const address of file.addresses) {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      try {
        await receive(file, address, `${path}.part`, options);
        await checkDigest(file, `${path}.part`);
        await rename(`${path}.part`, path);
        await rm(`${path}.part.json`, { force: true });
        return;
      } catch (error) {
        options.signal?.throwIfAborted();
        failures.push(`${address}: ${messageOf(error)}`);
        // A refusal stays one; a broken connection may mend.
        if (error instanceof RanksimError) break;
      }
    }
  }
  throw badFile(file.name, "", `could not be downloaded:\n  ${[...new Set(failures)].join("\n  ")}`);
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

/** Receives the rest of a file into `part`. */
async function receive(
  file: CatalogueFile,
  address: string,
  part: string,
  { signal, onProgress }: DownloadOptions,
): Promise<void> {
  const begun = await partOf(part, address);
  const headers: Record<string, string> = { "accept-encoding": "identity" };
  if (begun.byteLength > 0) {
    headers.range = `bytes=${begun.byteLength}-`;
    headers["if-range"] = begun.version;
  }
  const response = await fetch(address, { headers, ...(signal ? { signal } : {}) });
  if (response.status === 416) {
    await forget(part);
    throw new Error("the part that was here does not fit the file; starting again");
  }
  if (!response.ok || response.body === null) {
    throw badFile(file.name, "", `expected the file, found the answer ${response.status} ${response.statusText}`);
  }
  const goesOn = response.status === 206;
  let received = goesOn ? begun.byteLength : 0;
  const announced = Number(response.headers.get("content-length") ?? Number.NaN);
  const total = Number.isFinite(announced) ? received + announced : file.byteLength;
  await writeFile(`${part}.json`, JSON.stringify({ address, version: versionOf(response) }));
  const output = await open(part, goesOn ? "a" : "w");
  try {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      for (let at = 0; at < chunk.byteLength; ) at += (await output.write(chunk, at)).bytesWritten;
      received += chunk.byteLength;
      if (file.byteLength !== undefined && received > file.byteLength) {
        await forget(part);
        throw badFile(file.name, "", `expected ${file.byteLength} bytes, found more`);
      }
      onProgress?.({ file: file.name, received, ...(total === undefined ? {} : { total }) });
    }
    await output.sync();
  } finally {
    await output.close();
  }
  if (total !== undefined && received < total) throw new Error(`broke off after ${received} of ${total} bytes`);
}

/** What an earlier call left: its size, and the version it is part of. Nothing, if it came from elsewhere or has no version. */
async function partOf(part: string, address: string): Promise<{ byteLength: number; version: string }> {
  try {
    const { size } = await stat(part);
    const state: unknown = JSON.parse(await readFile(`${part}.json`, "utf8"));
    const { address: from, version } = state as { address?: unknown; version?: unknown };
    if (from === address && typeof version === "string" && version !== "") return { byteLength: size, version };
  } catch {
    // No part, or no trustworthy word about it: the download starts again.
  }
  return { byteLength: 0, version: "" };
}

/** What tells versions of a file apart for If-Range: a strong entity tag, else the date of change. */
function versionOf(response: Response): string {
  const tag = response.headers.get("etag");
  return tag !== null && !tag.startsWith("W/") ? tag : (response.headers.get("last-modified") ?? "");
}

/** Refuses, and removes, a file that is not the published one. */
async function checkDigest(file: CatalogueFile, path: string): Promise<void> {
  const [kind, expected] = file.sha256 !== undefined ? ["sha256", file.sha256] : ["md5", file.md5];
  if (expected === undefined) return;
  const hash = createHash(kind as string);
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  const found = hash.digest("hex");
  if (found === expected) return;
  await forget(path);
  throw badFile(file.name, "", `expected ${kind} ${expected}, found ${found}`);
}

/** Removes a part and what is known about it. */
async function forget(part: string): Promise<void> {
  await rm(part, { force: true });
  await rm(`${part}.json`, { force: true });
}
