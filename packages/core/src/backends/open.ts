/** Opens a back end by name. Faster ones are imported on demand, so a page that never asks for them never loads them. */

import { RanksimError } from "../errors.ts";
import type { Backend, Opener } from "./contract.ts";

/** How a back end is opened. */
export interface OpenOptions {
  /** Workers of "threads", or at most for "auto"; as many as the machine runs at once if absent. */
  readonly threads?: number;
  /** Back ends of other packages, by their names: `{ gpu: openGpu }`. "auto" takes them where they pay. */
  readonly openers?: { readonly [name: string]: Opener };
}

/** The back ends that come with the core, and "auto", which asks them all. */
export type BackendName = "auto" | "reference" | "wasm" | "threads";

/** What opens each. */
export const BACKENDS: { readonly [name in BackendName]: (options: OpenOptions) => Promise<Backend> } = {
  auto: async ({ threads, openers = {} }) => (await import("./auto.ts")).openAuto(threads, Object.values(openers)),
  threads: async ({ threads }) => (await import("./threads/backend.ts")).openThreads(threads),
  wasm: async () => (await import("./wasm/backend.ts")).openWasm(),
  reference: async () => (await import("./reference.ts")).openReference(),
};

/** Their names, the fastest first. */
export const BACKEND_NAMES = Object.keys(BACKENDS) as readonly BackendName[];

/** The best back end of the processor. */
async function openProcessor(): Promise<Backend> {
  const { hasSimd } = await import("./wasm/engine/module.ts");
  if (!hasSimd()) return BACKENDS.reference({});
  const { availableThreads } = await import("./threads/worker.ts");
  const { openThreads, threadsRefusal } = await import("./threads/backend.ts");
  if (availableThreads() > 1 && !threadsRefusal()) return openThreads();
  return (await import("./wasm/backend.ts")).openWasm();
}

/**
 * Opens the named back end, or for "auto" the best one that runs here, with more threads for larger matrices. Refuses by
 * code "no-backend" what cannot run here, saying why.
 */
export async function openBackend(name: string = "auto", options: OpenOptions = {}): Promise<Backend> {
  const { threads, openers = {} } = options;
  if (threads !== undefined && name !== "threads" && name !== "auto") {
    throw new RanksimError(
      "bad-params",
      `threads: expected back end "threads" or "auto" with it, found ${String(name)}`,
    );
  }
  if (Object.hasOwn(BACKENDS, name)) return BACKENDS[name as BackendName](options);
  if (Object.hasOwn(openers, name)) return openers[name](openProcessor);
  const names = [...BACKEND_NAMES, ...Object.keys(openers)].join(", ");
  const cure = name === "gpu" ? '; pass its opener: { openers: { gpu: openGpu } }, from "@ranksim/gpu"' : "";
  throw new RanksimError("no-backend", `expected back end ${names}, found ${String(name)}${cure}`);
}
