/** Opens a back end by name. Faster ones are imported on demand, so a page that never asks for them never loads them. */

import { RanksimError } from "../errors.ts";
import type { Backend } from "./contract.ts";
import { openReference } from "./reference.ts";

/** How a back end is opened. */
export interface OpenOptions {
  /** Workers of "threads", or at most for "auto"; as many as the machine runs at once if absent. */
  readonly threads?: number;
}

/** The back ends that come with the core, and "auto", which asks them all. One of another package is opened by that package and passed as a value. */
export type BackendName = "auto" | "reference" | "wasm" | "threads" | "gpu";

/** What opens each. */
export const BACKENDS: { readonly [name in BackendName]: (options: OpenOptions) => Promise<Backend> } = {
  auto: async ({ threads }) => (await import("./auto.ts")).openAuto(threads),
  gpu: async () => (await import("./gpu/backend.ts")).openGpu(openProcessor),
  threads: async ({ threads }) => (await import("./threads/backend.ts")).openThreads(threads),
  wasm: async () => (await import("./wasm/backend.ts")).openWasm(),
  reference: async () => openReference(),
};

/** Their names, the fastest first. */
export const BACKEND_NAMES = Object.keys(BACKENDS) as readonly BackendName[];

/** The best back end of the processor. */
async function openProcessor(): Promise<Backend> {
  const { hasSimd } = await import("./wasm/engine/module.ts");
  if (!hasSimd()) return openReference();
  const { availableThreads } = await import("./threads/worker.ts");
  const { openThreads, threadsRefusal } = await import("./threads/backend.ts");
  if (availableThreads() > 1 && !threadsRefusal()) return openThreads();
  return (await import("./wasm/backend.ts")).openWasm();
}

/**
 * Opens the named back end, or for "auto" the best one that runs here, with more threads for larger matrices. Refuses by
 * code "no-backend" what cannot run here, saying why.
 */
export async function openBackend(name: BackendName = "auto", options: OpenOptions = {}): Promise<Backend> {
  if (options.threads !== undefined && name !== "threads" && name !== "auto") {
    throw new RanksimError(
      "bad-params",
      `threads: expected back end "threads" or "auto" with it, found ${String(name)}`,
    );
  }
  if (!Object.hasOwn(BACKENDS, name)) {
    throw new RanksimError(
      "no-backend",
      `expected back end ${Object.keys(BACKENDS).join(", ")}, found ${String(name)}`,
    );
  }
  return BACKENDS[name](options);
}
