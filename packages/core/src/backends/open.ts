/** Opens a back end by name. Faster ones are imported on demand, so a page that never asks for them never loads them. */

import { RanksimError } from "../errors.ts";
import type { Backend, BackendName } from "./backend.ts";
import { openReference } from "./reference.ts";

/** How a back end is opened. */
export interface OpenOptions {
  /** Workers of "threads", or at most for "auto"; as many as the machine runs at once if absent. */
  readonly threads?: number;
}

/**
 * Opens the named back end, or for "auto" the best one that runs here, with more threads for larger matrices. Refuses by
 * code "no-backend" what cannot run here, saying why.
 */
export async function openBackend(name: BackendName | "auto" = "auto", options: OpenOptions = {}): Promise<Backend> {
  if (options.threads !== undefined && name !== "threads" && name !== "auto") {
    throw new RanksimError(
      "bad-params",
      `threads: expected back end "threads" or "auto" with it, found ${String(name)}`,
    );
  }
  switch (name) {
    case "reference":
      return openReference();
    case "wasm":
      return (await import("./wasm/backend.ts")).openWasm();
    case "threads":
      return (await import("./threads/backend.ts")).openThreads(options.threads);
    case "auto":
      return (await import("./auto.ts")).openAuto(options.threads);
    default:
      throw new RanksimError("no-backend", `expected back end auto, reference, wasm or threads, found ${String(name)}`);
  }
}
