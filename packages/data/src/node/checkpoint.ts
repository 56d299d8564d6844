/**
 * Checkpoints as a folder of files, each written whole or not at all and with a digest of its own. A page of facts says what the
 * training is about; a folder of another training is refused with what differs.
 */

import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type Checkpoint,
  loadModel,
  type Model,
  type ModelReader,
  RanksimError,
  type Saved,
  saveModel,
} from "@ranksim/core";
import { noRoom } from "./no-room.ts";
import { differingFacts, type TrainingFacts } from "./training-facts.ts";
import { writeWhole } from "./write-whole.ts";

/** How a checkpoint is kept. */
export interface CheckpointOptions {
  /** Minutes between two states that are kept; 0 keeps one after every round. */
  readonly minutes?: number;
}

const FACTS = "training.json";
/** The version of the files; others are refused. */
const VERSION = "2";

/** A state of training in place of a model: the file's checks are the same. */
const stateReader: ModelReader<Model> = {
  kind: "checkpoint",
  read: (saved) => ({ kind: "checkpoint", save: () => saved }),
};

/**
 * Opens a folder to keep states of a training in, and to go on from those that are there. Refuses a folder of another training. A
 * state is written while the next round trains; `settled` waits for the last.
 */
export async function openCheckpoint(
  folder: string,
  facts: TrainingFacts,
  { minutes = 0 }: CheckpointOptions = {},
): Promise<Checkpoint> {
  const write = (path: string, bytes: Uint8Array): Promise<void> =>
    writeWhole(path, [bytes]).catch((error: unknown) => {
      const [what, cure] = ["a state of training", "make room, and the same command goes on from the last state"];
      throw noRoom({ folder, what, bytes: bytes.byteLength, cure }, error);
    });
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw noRoom({ folder, what: "checkpoints", cure: "name another" }, error);
  });
  const own = { ...facts, version: VERSION };
  const found = await factsIn(folder);
  if (found) refuseOther(folder, found, own);
  else await write(join(folder, FACTS), new TextEncoder().encode(`${JSON.stringify(own, null, 2)}\n`));
  let last = performance.now();
  let written: Promise<void> = Promise.resolve();
  const pathOf = (name: string) => join(folder, `${name.replace(/[^\w.-]/g, "_")}.state`);
  return {
    async recall(name) {
      await written;
      const bytes = await readFile(pathOf(name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      });
      return bytes && stateIn(pathOf(name), bytes);
    },
    isDue: async () => performance.now() - last >= minutes * 60_000,
    async keep(name, state) {
      const bytes = packState(state); // a copy
      // One at a time: training is at most a round ahead of the disk, and states arrive in order.
      await written;
      written = write(pathOf(name), bytes);
      written.catch(() => {}); // reported by the next call
      last = performance.now();
    },
    settled: () => written,
  };
}

/** A state of training as the bytes of a file. */
export const packState = (state: Saved): Uint8Array => saveModel({ kind: state.kind, save: () => state });

/** The state that `packState` packed, checked. */
export const unpackState = (bytes: Uint8Array): Saved => loadModel(bytes, { readers: [stateReader] }).save();

function stateIn(path: string, bytes: Uint8Array): Saved {
  try {
    return unpackState(new Uint8Array(bytes));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RanksimError("bad-file", `${path}: ${why}; remove the file to do its part of the training again`, {
      cause: error,
    });
  }
}

async function factsIn(folder: string): Promise<TrainingFacts | undefined> {
  const path = join(folder, FACTS);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    const facts: unknown = JSON.parse(text);
    if (typeof facts === "object" && facts !== null) return facts as TrainingFacts;
  } catch {
    // Refused below, as is any other JSON.
  }
  throw new RanksimError("bad-file", `${path}: expected what a training is about, found something else`);
}

function refuseOther(folder: string, there: TrainingFacts, here: TrainingFacts): void {
  const listed = differingFacts(there, here, (a, b) => `${a} there, ${b} here`);
  if (listed === undefined) return;
  throw new RanksimError(
    "bad-params",
    `${folder}: the checkpoint is of another training: ${listed}; name another folder, or remove this one`,
  );
}
