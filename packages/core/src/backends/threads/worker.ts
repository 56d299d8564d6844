/**
 * One worker, in Node or in a browser, seen from outside: it is sent messages and answers them. What runs inside is a few
 * lines of script carried as text, so no file has to be found at run time; all the work is in the WebAssembly kernels.
 *
 * Kernels of one run share a counter in the shared memory: each worker takes the next piece from it until none is left,
 * so pieces that take longer do not hold the others up.
 */

import { RanksimError } from "../../errors.ts";

/** Sent once: the kernels and the memory they share. */
interface StartMessage {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
}

/** One worker's part in a run. */
interface RunMessage {
  readonly kernel: string;
  readonly items: number;
  readonly piece: number;
  readonly scratch: number;
  readonly context: number;
  /** Where the shared counter lies: the first item that no one has taken. */
  readonly counter: number;
}

/** What a worker answers: that it is ready (both 0), what its calls returned, or why it failed. */
type WorkerAnswer = { readonly sum: number; readonly largest: number } | { readonly failed: string };

/** The script. `port` is defined by the lines before it: where messages come from and go to. */
const SCRIPT = `
let kernels, memory;
const answers = {
  async start(message) {
    memory = message.memory;
    kernels = (await WebAssembly.instantiate(message.module, { env: { memory } })).exports;
    return { sum: 0, largest: 0 };
  },
  run({ kernel, items, piece, scratch, context, counter }) {
    const taken = new Int32Array(memory.buffer, counter, 1);
    let sum = 0, largest = 0;
    for (;;) {
      const from = Atomics.add(taken, 0, piece);
      if (from >= items) return { sum, largest };
      const result = kernels[kernel](from, Math.min(items, from + piece), scratch, context);
      sum += result;
      if (result > largest) largest = result;
    }
  },
};
const answer = async (message) => {
  try {
    port.postMessage(await answers[message.module ? "start" : "run"](message));
  } catch (error) {
    port.postMessage({ failed: String(error && error.message || error) });
  }
};
`;

const IN_NODE = `const port = process.getBuiltinModule("node:worker_threads").parentPort;${SCRIPT}port.on("message", answer);`;
const IN_BROWSER = `const port = self;${SCRIPT}port.onmessage = ({ data }) => answer(data);`;

/** A worker ended during its work. The work can be done again: another worker takes its place. */
export class WorkerDied extends RanksimError {
  /** Doing the same again is of use. */
  readonly isRetryable = true;

  constructor(why: string) {
    super("no-backend", `threads: a worker ended: ${why}`);
  }
}

/** A worker that answers one message at a time. */
export interface KernelWorker {
  readonly isDead: boolean;
  /** Resolves to the answer; rejects if the worker fails or dies. */
  send(message: StartMessage | RunMessage): Promise<{ readonly sum: number; readonly largest: number }>;
  end(): Promise<void>;
}

/** What is needed of Node's worker module. */
interface NodeWorker {
  on(event: "message" | "error" | "exit", listener: (value: unknown) => void): void;
  postMessage(message: unknown): void;
  ref(): void;
  unref(): void;
  terminate(): Promise<unknown>;
}
interface NodeModules {
  getBuiltinModule?(id: "node:worker_threads"): { Worker: new (script: string, options: { eval: true }) => NodeWorker };
  getBuiltinModule?(id: "node:os"): { availableParallelism(): number };
}

const node = (globalThis as { process?: NodeModules }).process;

/** Threads that this machine runs at once, as far as it is known. */
export function availableThreads(): number {
  const asked = node?.getBuiltinModule?.("node:os").availableParallelism();
  return asked ?? (globalThis as { navigator?: { hardwareConcurrency?: number } }).navigator?.hardwareConcurrency ?? 1;
}

/** Starts a worker. */
export function startWorker(): KernelWorker {
  const waiting = new Waiting();
  if (node?.getBuiltinModule) {
    const { Worker: NodeThread } = node.getBuiltinModule("node:worker_threads");
    const worker = new NodeThread(IN_NODE, { eval: true });
    worker.on("message", (answer) => waiting.settle(answer as WorkerAnswer));
    worker.on("error", (error) => waiting.die(String((error as Error)?.message ?? error)));
    worker.on("exit", (code) => waiting.die(`it ended with code ${code}`));
    worker.unref(); // an idle worker does not keep the process alive
    return {
      get isDead() {
        return waiting.isOver;
      },
      send: (message) => {
        worker.ref();
        worker.postMessage(message);
        return waiting.answer().finally(() => worker.unref());
      },
      end: async () => {
        waiting.die("the back end was closed");
        await worker.terminate();
      },
    };
  }
  if (typeof Worker === "undefined" || typeof Blob === "undefined") {
    throw new RanksimError("no-backend", "threads: expected an engine with workers, found none");
  }
  const address = URL.createObjectURL(new Blob([IN_BROWSER], { type: "text/javascript" }));
  const worker = new Worker(address);
  URL.revokeObjectURL(address);
  worker.onmessage = ({ data }) => waiting.settle(data as WorkerAnswer);
  worker.onerror = (event) => waiting.die(event.message || "its script did not start");
  return {
    get isDead() {
      return waiting.isOver;
    },
    send: (message) => {
      worker.postMessage(message);
      return waiting.answer();
    },
    end: async () => {
      waiting.die("the back end was closed");
      worker.terminate();
    },
  };
}

type Result = { readonly sum: number; readonly largest: number };

/** The one answer that is waited for, and whether the worker still lives. */
class Waiting {
  #resolve: ((result: Result) => void) | undefined;
  #reject: ((error: Error) => void) | undefined;
  #dead: string | undefined;

  get isOver(): boolean {
    return this.#dead !== undefined;
  }

  answer(): Promise<Result> {
    if (this.#dead !== undefined) return Promise.reject(new WorkerDied(this.#dead));
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  settle(answer: WorkerAnswer): void {
    if ("failed" in answer) {
      this.#reject?.(new RanksimError("no-backend", `threads: a worker failed: ${answer.failed}`));
    } else this.#resolve?.(answer);
  }

  /** No answer will come any more. */
  die(why: string): void {
    this.#dead ??= why;
    this.#reject?.(new WorkerDied(this.#dead));
  }
}
