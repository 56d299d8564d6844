/** The page's side of the worker: calls as promises. A call of which only the newest answer matters replaces older ones. */

import type { CallName, Calls, Failure, Reply, TrainingStep } from "../protocol.ts";

/** A failure that came back from the worker. */
export class WorkerError extends Error {
  readonly code: string;

  constructor({ code, message }: Failure) {
    super(message);
    this.name = "WorkerError";
    this.code = code;
  }
}

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

export class Client {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;

  constructor(onStep: (step: TrainingStep) => void) {
    this.#worker = new Worker(new URL("../worker/worker.ts", import.meta.url), { type: "module", name: "ranksim" });
    this.#worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      if ("step" in data) return onStep(data.step);
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ("failure" in data) waiting?.reject(new WorkerError(data.failure));
      else waiting?.resolve(data.answer);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      const error = new WorkerError({ code: "internal", message: event.message || "The worker could not be started." });
      for (const waiting of this.#waiting.values()) waiting.reject(error);
      this.#waiting.clear();
    };
  }

  call<K extends CallName>(call: K, argument: Calls[K]["in"]): Promise<Calls[K]["out"]> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as Waiting["resolve"], reject });
      this.#worker.postMessage({ id, call, argument });
    });
  }
}

/** A function that runs one call at a time and, when it was asked again meanwhile, the newest of those after it. */
export function latest<A>(work: (argument: A) => Promise<void>): (argument: A) => void {
  let busy = false;
  let next: { argument: A } | undefined;
  const run = async (argument: A): Promise<void> => {
    busy = true;
    await work(argument);
    busy = false;
    if (!next) return;
    const { argument: newest } = next;
    next = undefined;
    await run(newest);
  };
  return (argument) => {
    if (busy) next = { argument };
    else void run(argument);
  };
}
