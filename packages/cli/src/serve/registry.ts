/**
 * The models of a server, by name. A changed file is loaded beside the old one, asked once, and then takes its place; requests
 * that the old one has begun it finishes. A file that cannot be loaded is refused and the old model stays.
 */

import { constants } from "node:fs";
import { open, stat } from "node:fs/promises";
import { basename } from "node:path";
import { Csr, RanksimError, statedDigest } from "@ranksim/core";
import { Budget } from "@ranksim/data";
import { openNamed } from "../backends.ts";
import { openModel } from "../load-model.ts";
import type { Rows } from "./input.ts";
import type { Limits } from "./limits.ts";
import { nearestRows } from "./nearest.ts";
import { ServedModel } from "./served-model.ts";

/** Called on changes. */
interface ShelfEvents {
  readonly swapped: (model: ServedModel, before: ServedModel) => void;
  readonly refused: (name: string, error: unknown) => void;
}

/** Hexadecimal digits of the digest that are a version: enough to tell files apart, few enough to read. */
const VERSION_DIGITS = 16;

const POLL_MS = 500;

/** The name of a model: that of its file without the ending. */
export function modelName(path: string): string {
  const name = basename(path).replace(/\.[^.]+$/, "");
  if (/^[\w.-]+$/.test(name)) return name;
  throw new RanksimError(
    "bad-params",
    `${path}: a model is asked for by its file's name, so expected letters, digits, ".", "_" and "-" in it, found ${JSON.stringify(name)}`,
  );
}

interface Place {
  readonly path: string;
  model: ServedModel;
  /** What the file looked like when it was last read. */
  seen: string;
}

/** The models by name. */
export class ModelRegistry {
  readonly #places = new Map<string, Place>();
  readonly #retired = new Map<ServedModel, NodeJS.Timeout>();
  /** Back ends of old versions that are being closed, or failed to. */
  readonly #closing = new Set<Promise<void>>();
  readonly #limits: Limits;
  readonly #events: ShelfEvents;
  #watch: NodeJS.Timeout | undefined;
  #reloading: Promise<void> = Promise.resolve();

  constructor(limits: Limits, events: ShelfEvents) {
    this.#limits = limits;
    this.#events = events;
  }

  /** Adds a model; refuses a name that is taken. */
  async add(path: string): Promise<ServedModel> {
    const name = modelName(path);
    const other = this.#places.get(name);
    if (other)
      throw new RanksimError(
        "bad-params",
        `${path}: a model of the name ${name} is served already, from ${other.path}`,
      );
    const seen = await lookOf(path);
    const model = await this.#load(path, name);
    this.#places.set(name, { path, model, seen });
    return model;
  }

  get(name: string): ServedModel | undefined {
    return this.#places.get(name)?.model;
  }

  /** The model of a server that has one. */
  get only(): ServedModel | undefined {
    const [only] = this.#places.values();
    return this.#places.size === 1 ? only.model : undefined;
  }

  *all(): Generator<ServedModel> {
    for (const { model } of this.#places.values()) yield model;
  }

  get names(): string[] {
    return [...this.#places.keys()];
  }

  /** Loads files again: all of them, or those that look changed. */
  reload(onlyChanged = false): Promise<void> {
    this.#reloading = this.#reloading.then(async () => {
      for (const [name, place] of this.#places) await this.#reloadOne(name, place, onlyChanged);
    });
    return this.#reloading;
  }

  /** Looks for changed files from now on. */
  watch(): void {
    const look = async () => {
      await this.reload(true);
      if (this.#watch !== undefined) this.#watch = setTimeout(look, POLL_MS).unref();
    };
    this.#watch = setTimeout(look, POLL_MS).unref();
  }

  /** Ends watching and gives back what the models hold. */
  async close(): Promise<void> {
    clearTimeout(this.#watch);
    this.#watch = undefined;
    await this.#reloading;
    for (const timer of this.#retired.values()) clearTimeout(timer);
    const all = [...this.all(), ...this.#retired.keys()];
    const closed = await Promise.allSettled([...all.map(({ backend }) => backend.close()), ...this.#closing]);
    for (const each of closed) if (each.status === "rejected") throw each.reason;
  }

  /** An old version may still have requests; none of them lasts longer than this. */
  #retire(model: ServedModel): void {
    const close = () => {
      this.#retired.delete(model);
      // One that fails to close is told when the server ends; requests do not depend on it.
      const closing = model.backend.close().then(() => void this.#closing.delete(closing));
      closing.catch(() => {});
      this.#closing.add(closing);
    };
    this.#retired.set(model, setTimeout(close, this.#limits.timeoutMs + POLL_MS).unref());
  }

  async #reloadOne(name: string, place: Place, onlyChanged: boolean): Promise<void> {
    try {
      const seen = await lookOf(place.path);
      if (onlyChanged && seen === place.seen) return;
      // A file that is refused is not tried again until it changes once more.
      place.seen = seen;
      const fresh = await this.#load(place.path, name);
      const before = place.model;
      if (fresh.version === before.version) return await fresh.backend.close();
      place.model = fresh;
      this.#retire(before);
      this.#events.swapped(fresh, before);
    } catch (error) {
      this.#events.refused(name, error);
    }
  }

  async #load(path: string, name: string): Promise<ServedModel> {
    const bytes = await modelBytes(path);
    const backend = await openNamed("auto");
    try {
      const { model, kept } = await openModel(bytes);
      const version = statedDigest(bytes).slice(0, VERSION_DIGITS);
      const served = new ServedModel(name, version, model, backend, this.#limits, kept);
      await warm(served);
      return served;
    } catch (error) {
      await backend.close();
      if (!(error instanceof RanksimError)) throw error;
      throw new RanksimError(error.code, `${path}: ${error.message}`, { cause: error });
    }
  }
}

/** The bytes of a regular file: a pipe may never end, and a device gives more than there is memory for. */
async function modelBytes(path: string): Promise<Uint8Array> {
  // Without waiting, and looked at once it is open: what is at a path may change at any time.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile())
      throw new RanksimError("bad-file", `${path}: expected a regular file, found a folder, a pipe or a device`);
    new Budget().of(path).take(found.size);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** One question, so that the first of a client finds everything in place. */
async function warm(model: ServedModel): Promise<void> {
  const { features } = model;
  const rows: Rows = model.takesText
    ? { form: "text", rows: 1, texts: [""] }
    : model.isSparse
      ? { form: "sparse", rows: 1, x: Csr.of(new Uint32Array(2), new Uint32Array(0), new Uint8Array(0), features) }
      : { form: "dense", rows: 1, values: new Uint8Array(features), isBytes: true };
  await model.ask(rows, { labels: model.canPredict, probabilities: false, similarities: model.canTransform });
  if (model.kept) await nearestRows(model, rows, 1, {});
}

/** What changes when a file does; a missing file looks like none, and is reported once, when it cannot be read. */
async function lookOf(path: string): Promise<string> {
  // Why it cannot be looked at is a look too: the refusal is reported once, when loading fails, and not at every look.
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error.code ?? "unknown");
  return typeof found === "string" ? found : `${found.mtimeMs} ${found.size} ${found.ino}`;
}
