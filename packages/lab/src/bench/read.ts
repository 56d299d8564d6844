/** Reading a file or a data set, and training what its kind suggests, in a process of its own. */

import type * as Data from "@ranksim/data/node";
import type * as Learn from "@ranksim/learn";
import type { Measured } from "../runner/results.ts";
import { peakBytes, timed } from "../runner/stopwatch.ts";

export interface ReadJob {
  /** A path, or the name of a data set. */
  readonly source: string;
  readonly preset: Learn.Preset;
  /** Addresses of the built packages, where they are those of another commit. */
  readonly data?: string;
  readonly learn?: string;
}

/** Seconds of the clock and of the processor: a reader waits for its disk. */
export async function measure({ source, preset, data, learn }: ReadJob): Promise<Measured> {
  const { loadData } = (await import(data ?? "@ranksim/data/node")) as typeof Data;
  const { train } = (await import(learn ?? "@ranksim/learn")) as typeof Learn;
  const read = await timed(() => loadData(source));
  const fit = await timed(() => train(read.value, { preset, seed: 0 }));
  const clocks = { readClock: read.wall, fitClock: fit.wall };
  return { figures: { read: read.cpu, fit: fit.cpu, ...clocks, peak: peakBytes() } };
}
