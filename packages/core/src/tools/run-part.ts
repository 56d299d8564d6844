/** How a call that consists of several calls hands its `Run` on, and how a long computation lets other calls run. */

import type { Run } from "../estimators/estimator.ts";

/**
 * The same run for one part of a call: shares 0..1 of the part arrive as `from`..`to` of the whole. A checkpoint is of the
 * whole call and is not handed on: parts would take each other's for their own.
 */
export function partOfRun(whole: Run, from: number, to: number): Run {
  const { checkpoint: _, ...run } = whole;
  const { onProgress } = run;
  if (!onProgress) return run;
  return { ...run, onProgress: (progress) => onProgress({ ...progress, share: from + (to - from) * progress.share }) };
}

/** Milliseconds of uninterrupted computing after which a page would feel slow. */
const LONGEST_STRETCH = 40;

/**
 * A function to be awaited often in long loops: once in a while it lets timers and events in, and it rejects with the
 * signal's reason after an abort.
 */
export function turns({ signal }: Run): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since > LONGEST_STRETCH) {
      await new Promise((resume) => setTimeout(resume, 0));
      since = performance.now();
    }
    signal?.throwIfAborted();
  };
}
