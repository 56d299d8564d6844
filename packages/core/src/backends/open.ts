/** Opens a back end by name. Faster ones are imported on demand, so a page that never asks for them never loads them. */

import { RanksimError } from "../errors.ts";
import type { Backend, BackendName } from "./backend.ts";
import { openReference } from "./reference.ts";

/** Opens the named back end, or the best one that runs here for "auto". Refuses by code "no-backend", saying why. */
export async function openBackend(name: BackendName | "auto" = "auto"): Promise<Backend> {
  switch (name) {
    case "reference":
      return openReference();
    case "wasm":
      return (await import("./wasm/backend.ts")).openWasm();
    case "auto":
      try {
        return await openBackend("wasm");
      } catch (error) {
        if (error instanceof RanksimError && error.code === "no-backend") return openReference();
        throw error;
      }
    default:
      throw new RanksimError("no-backend", `expected back end auto, reference or wasm, found ${String(name)}`);
  }
}
