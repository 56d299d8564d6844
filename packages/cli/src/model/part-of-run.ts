/** Progress of one part of the work as progress of the whole. */

import type { Run } from "@ranksim/core";

/** The same run, whose shares 0..1 arrive as `from`..`to`. */
export function partOfRun(run: Run, from: number, to: number): Run {
  const { onProgress } = run;
  if (!onProgress) return run;
  return { ...run, onProgress: (progress) => onProgress({ ...progress, share: from + (to - from) * progress.share }) };
}
