/** What every public call does around its work: find a back end, report progress, notice an abort. */

import type { Backend } from "../backends/backend.ts";
import { openBackend } from "../backends/open.ts";
import type { Progress, Run } from "./estimator.ts";

/** The back ends of calls that were given a name or nothing: opened by the first of them, then kept, so that workers are started once. */
const shared = new Map<string, Promise<Backend>>();

/** The back end of a run: the one it was given, or the shared one of the name it was given. */
export function backendOf({ backend = "auto" }: Run): Promise<Backend> {
  if (typeof backend !== "string") return Promise.resolve(backend);
  let opened = shared.get(backend);
  if (!opened) {
    opened = openBackend(backend).catch((error) => {
      shared.delete(backend);
      throw error;
    });
    shared.set(backend, opened);
  }
  return opened;
}

/** Notes progress, waits if the listener asks for it, and stops the work if the run was aborted. */
export async function advance(run: Run, progress: Progress): Promise<void> {
  run.signal?.throwIfAborted();
  await run.onProgress?.(progress);
  run.signal?.throwIfAborted();
}
