/** Files that rows are written to and read from again. They have no name once they are open, so that nothing is left behind however the process ends. */

import { closeSync, mkdtempSync, openSync, read, rmSync, write } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Store } from "../rows/store.ts";
import { noRoom } from "./no-room.ts";

const readAt = promisify(read);
const writeAt = promisify(write);

/** Where cache files go: the folder of temporary files, or the one that RANKSIM_SCRATCH names. */
export function scratchFolder(env: { readonly [name: string]: string | undefined } = process.env): string {
  return env.RANKSIM_SCRATCH || tmpdir();
}

/** A file without a name; it is deleted when it is no longer in use. */
export class Scratch implements Store {
  readonly #file: number;
  readonly #folder: string;
  static readonly #forgotten = new FinalizationRegistry<number>((file) => closeSync(file));

  constructor(folder: string) {
    this.#folder = folder;
    try {
      this.#file = openUnnamed(folder);
    } catch (error) {
      throw noRoom({ folder, what: "cache files", cure: CURE }, error);
    }
    Scratch.#forgotten.register(this, this.#file);
  }

  async read(from: number, to: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(to - from);
    let length = 0;
    for (let more = 1; more > 0 && length < bytes.byteLength; length += more) {
      more = (await readAt(this.#file, bytes, length, bytes.byteLength - length, from + length)).bytesRead;
    }
    return bytes.subarray(0, length);
  }

  async write(bytes: Uint8Array, at: number): Promise<void> {
    try {
      for (let done = 0; done < bytes.byteLength; ) {
        done += (await writeAt(this.#file, bytes, done, bytes.byteLength - done, at + done)).bytesWritten;
      }
    } catch (error) {
      throw noRoom({ folder: this.#folder, what: "a cache file", bytes: at + bytes.byteLength, cure: CURE }, error);
    }
  }
}

const CURE = "set RANKSIM_SCRATCH to a folder with more room";

function openUnnamed(folder: string): number {
  const own = mkdtempSync(join(folder, "ranksim-rows-"));
  try {
    return openSync(join(own, "rows"), "wx+", 0o600);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
