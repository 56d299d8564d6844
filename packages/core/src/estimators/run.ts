/** What every public call does around its work: find a back end, report progress, notice an abort. */

import type { Backend } from "../backends/backend.ts";
import { openBackend } from "../backends/open.ts";
import type { Progress, Run } from "./estimator.ts";

/** The back end of calls that were given none: opened by the first of them, then kept, so that its workers are started once. */
let shared: Promise<Backend> | undefined;

/** The back end of a run. */
export function backendOf(run: Run): Promise<Backend> {
  if (run.backend) return Promise.resolve(run.backend);
  shared ??= openBackend("auto").catch((error) => {
    shared = undefined;
    throw error;
  });
  return shared;
}

/** Notes progress, waits if the listener asks for it, and stops the work if the run was aborted. */
export async function advance(run: Run, progress: Progress): Promise<void> {
  run.signal?.throwIfAborted();
  await run.onProgress?.(progress);
  run.signal?.throwIfAborted();
}
