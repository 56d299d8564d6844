/** What processes that were started together must have in common: each makes a part of one result, so that a difference would go unnoticed. */

import { RanksimError, type RowSource, sha256 } from "@ranksim/core";
import { Budget, type RowLabels } from "@ranksim/data";
import { differingFacts, type TrainingFacts } from "@ranksim/data/node";
import type { Collective } from "@ranksim/mpi";
import type { ReadingOptions } from "./flags/reading-flags.ts";
import type { Io } from "./io.ts";

/** Rows by which large data is compared before training. */
const SAMPLED = 256;

/** Refuses, in every process, facts that are not the same in all of them. */
export async function agree(collective: Collective | undefined, facts: TrainingFacts): Promise<void> {
  if (!collective || collective.size === 1) return;
  const parts = await collective.gather(new TextEncoder().encode(JSON.stringify(facts)));
  const [first, ...others] = parts.map((part) => JSON.parse(new TextDecoder().decode(part)) as TrainingFacts);
  others.forEach((other, j) => {
    const listed = differingFacts(first, other, (a, b) => `${a} and ${b}`);
    if (listed === undefined) return;
    throw new RanksimError(
      "bad-params",
      `processes 0 and ${j + 1} were given different work: ${listed}; start all of them with one command line, on files with the same content`,
    );
  });
}

/** Bytes of memory that reading may take: of several processes, the least of all. Those of one machine divide what it has. */
export async function memoryFor({ memory }: ReadingOptions, { processes }: Io): Promise<number> {
  const own = memory ?? new Budget().bytes / (processes?.localSize ?? 1);
  const collective = await processes?.join();
  if (!collective) return own;
  const parts = await collective.gather(new Uint8Array(Float64Array.of(own).buffer));
  return Math.min(...parts.map((part) => new Float64Array(part.slice().buffer)[0]));
}

/** The options by which reading takes no more than that: of several processes, all are refused or none, and all cut the same blocks. */
export function withMemory<O extends ReadingOptions>(options: O, memory: number, { processes }: Io): O {
  return processes ? { ...options, memory } : options;
}

/** A digest of all labels. */
export const labelsDigest = (y: RowLabels | undefined): string =>
  sha256([new TextEncoder().encode(JSON.stringify(y ?? null))]);

/** A digest of some rows, the first and the last among them. */
export async function sampleDigest(x: RowSource): Promise<string> {
  const count = Math.min(SAMPLED, x.rows);
  const listed = Uint32Array.from({ length: count }, (_, j) => Math.floor((j * (x.rows - 1)) / Math.max(1, count - 1)));
  const rows = await x.gather(listed);
  const arrays = rows.form === "dense" ? [rows.values] : [rows.offsets, rows.indices, rows.values];
  return sha256(arrays.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)));
}
