/**
 * Where the library h5wasm runs. It is C in WebAssembly: over damaged files it breaks down, loops for ever or keeps memory. In Node each file
 * therefore has a thread of its own, which ends with the reading, when the library breaks down, when it does not get on, and when the caller
 * aborts.
 */

import { RanksimError } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import { type Library, type Served, type Start, serveHdf5 } from "./hdf5-library.ts";

/** Not written in the import: whoever builds a page without the library would be refused, and with it get all of its 15 MB. */
const LIBRARY = ["h5wasm"];

/** Seconds that the library may take over one question without reading anything new. */
const PATIENCE = 60;
/** Megabytes of strings and lists that a thread may take. */
const THREAD_HEAP = 2048;

const CURE = "so it is damaged; fetch it again, or save it anew";

type Question = keyof Served;
type Answers<Q extends Question> = ReturnType<Served[Q]>;

/** Where the library runs. */
export interface Host {
  ask<Q extends Question>(question: Q, ...given: Parameters<Served[Q]>): Promise<Answers<Q>>;
  end(): Promise<void>;
}

const notInstalled = (name: string, cause: unknown): RanksimError =>
  new RanksimError("unsupported", `${name}: the package h5wasm reads HDF5 and is not installed; npm install h5wasm`, {
    cause,
  });

const brokeDown = (name: string, cause: unknown): RanksimError =>
  badFile(name, "", `cannot be read as HDF5: the library broke down over it, ${CURE}`, cause);

/** What is used of Node's threads. */
interface Thread {
  on(event: "message" | "error" | "exit", listener: (value: unknown) => void): void;
  postMessage(message: unknown): void;
  ref(): void;
  unref(): void;
  terminate(): Promise<unknown>;
}
interface Threads {
  readonly Worker: new (script: string, options: object) => Thread;
}

const threads = (
  globalThis as { process?: { getBuiltinModule?(id: "node:worker_threads"): Threads } }
).process?.getBuiltinModule?.("node:worker_threads");

/** Has the library open a file. */
export const hostOf = (name: string, start: Start, signal: AbortSignal | undefined): Promise<Host> =>
  threads ? inThread(name, start, threads, signal) : inPlace(name, start);

/** The script of a thread: it opens the file, and answers one question after the other. */
const SCRIPT = `
const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads");
const { readSync } = process.getBuiltinModule("node:fs");
const serve = ${serveHdf5};
let served;
const answer = async (work) => {
  let told;
  try {
    const found = await work();
    told = [{ found }, ArrayBuffer.isView(found) ? [found.buffer] : []];
  } catch (error) {
    told = [{ failed: String(error?.message ?? error), isBroken: error instanceof WebAssembly.RuntimeError }];
  }
  parentPort.postMessage(...told);
};
const load = async () => {
  const { default: h5 } = await import(workerData.library);
  served = await serve(h5, workerData, readSync);
};
parentPort.on("message", ({ question, given }) => answer(() => served[question](...given)));
answer(load);
`;

type Told = { readonly found: unknown } | { readonly failed: string; readonly isBroken: boolean };

/** The library in a thread of its own. */
async function inThread(
  name: string,
  start: Start,
  { Worker }: Threads,
  signal: AbortSignal | undefined,
): Promise<Host> {
  let library: string;
  try {
    library = import.meta.resolve(LIBRARY[0]);
  } catch (error) {
    throw notInstalled(name, error);
  }
  const counter = new BigInt64Array(new SharedArrayBuffer(8));
  const { bytes } = start;
  const { byteLength } = bytes;
  const thread = new Worker(SCRIPT, {
    eval: true,
    execArgv: [],
    workerData: { ...start, library, counter },
    transferList: bytes instanceof Uint8Array ? [bytes.buffer] : [],
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP },
  });
  /** Why it ended. */
  let over: unknown;
  let ending: Promise<unknown> | undefined;
  let settle: ((told: Told | { readonly over: unknown }) => void) | undefined;
  const finish = (why: unknown): Promise<unknown> => {
    over ??= why;
    signal?.removeEventListener("abort", abort);
    settle?.({ over });
    ending ??= thread.terminate();
    return ending;
  };
  const abort = (): void => void finish(signal?.reason);
  signal?.addEventListener("abort", abort);
  thread.on("message", (told) => settle?.(told as Told));
  thread.on("error", (error) => void finish(brokeDown(name, error)));
  thread.on("exit", (code) => void finish(brokeDown(name, new Error(`its thread ended with code ${code}`))));

  /** Waits for an answer, for as long as the library gets on: it reads what it has not read for this question. */
  const answer = async (): Promise<unknown> => {
    if (over !== undefined) throw over;
    let [seconds, read] = [0, 0n];
    thread.ref();
    // Seconds in which this process ran: one that was stopped for an hour has waited for no longer than that.
    const clock = setInterval(() => {
      const now = Atomics.load(counter, 0);
      const isNew = now > read && now <= BigInt(byteLength);
      seconds = isNew ? 0 : seconds + 1;
      read = now;
      if (seconds < PATIENCE) return;
      const found = `the library has not got on with it for ${PATIENCE} seconds`;
      void finish(badFile(name, "", `cannot be read as HDF5: ${found}, ${CURE}`));
    }, 1000);
    try {
      const told = await new Promise<Told | { readonly over: unknown }>((resolve) => {
        settle = resolve;
      });
      if ("over" in told) throw told.over;
      if ("found" in told) return told.found;
      if (told.isBroken) throw brokeDown(name, new Error(told.failed));
      throw new Error(told.failed);
    } finally {
      settle = undefined;
      clearInterval(clock);
      // The end of a thread is waited for.
      if (over === undefined) thread.unref();
    }
  };
  const host: Host = {
    ask(question, ...given) {
      if (over === undefined) {
        Atomics.store(counter, 0, 0n);
        thread.postMessage({ question, given });
      }
      return answer() as Promise<never>;
    },
    async end() {
      await finish(new Error("the file is closed"));
    },
  };
  try {
    await answer();
  } catch (error) {
    await host.end();
    throw error;
  }
  return host;
}

/** Whether the library broke down where it has no thread of its own: nothing can be said of its memory. */
let isBroken = false;

/** The library in the thread at hand, where there are none of Node's. */
async function inPlace(name: string, start: Start): Promise<Host> {
  const expectSound = () => {
    if (!isBroken) return;
    const found = "a damaged HDF5 file led the library that reads them astray";
    throw new RanksimError("unsupported", `${name}: ${found}; load the page again without it`);
  };
  const watched = async <T>(work: () => T): Promise<Awaited<T>> => {
    expectSound();
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      isBroken = true;
      throw brokeDown(name, error);
    }
  };
  expectSound();
  const h5 = await import(/* @vite-ignore */ /* webpackIgnore: true */ LIBRARY[0]).then(
    (found) => found.default as Library,
    (cause) => {
      throw notInstalled(name, cause);
    },
  );
  const served = await watched(() => serveHdf5(h5, start));
  let isOpen = true;
  return {
    ask(question, ...given) {
      if (question === "close") isOpen = false;
      return watched(() => (served[question] as (...given: unknown[]) => never)(...given));
    },
    async end() {
      // What the library makes of a damaged file now changes no row.
      if (isOpen && !isBroken) await watched(() => served.close()).catch(() => {});
      isOpen = false;
    },
  };
}
