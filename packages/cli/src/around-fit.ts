/** `--checkpoint`: training that can go on after its process has ended. */

import { resolve } from "node:path";
import { type Checkpoint, type Schema, sha256 } from "@ranksim/core";
import { isInMemory, type MatrixRows } from "@ranksim/data";
import { openCheckpoint, type TrainingFacts } from "@ranksim/data/node";
import type { AroundFit } from "@ranksim/learn";
import type { Collective } from "@ranksim/mpi";
import { agree, labelsDigest, sampleDigest } from "./agreement.ts";
import type { Io } from "./io.ts";
import { sharedCheckpoint } from "./shared-checkpoint.ts";

/** The options as commander gives them. */
export interface CheckpointFlags {
  readonly checkpoint?: string;
}

/** What goes on around a fit: a checkpoint is opened where one is asked for, and processes make sure that they do the same work. */
export function aroundFit(options: CheckpointFlags, io: Io, collective: Collective | undefined): AroundFit {
  return {
    knowsData: options.checkpoint !== undefined,
    async before({ estimator, data, schema, weights }) {
      if (collective) {
        // Rows that are hashed as they pass by are compared by some of them.
        const sample = async () => ({
          "some rows": await sampleDigest((data as MatrixRows).x),
          "labels digest": labelsDigest(data.y),
        });
        const facts = factsOf(estimator, schema ?? {}, weights);
        await agree(collective, {
          ...facts,
          ...(schema ? {} : await sample()),
          reading: isInMemory(data) ? "in memory" : "in blocks",
        });
      }
      return schema ? checkpointFor(options, estimator, schema, io, collective, weights) : {};
    },
    after: ({ estimator, schema, weights }) => agree(collective, factsOf(estimator, schema ?? {}, weights)),
  };
}

/** The checkpoint that the options ask for, of this estimator and this data. */
async function checkpointFor(
  { checkpoint }: CheckpointFlags,
  estimator: { readonly kind?: string; readonly params: object },
  schema: Schema,
  io: Io,
  collective?: Collective,
  weights?: Float64Array,
): Promise<{ checkpoint?: Checkpoint }> {
  if (checkpoint === undefined) return {};
  const open = () => openCheckpoint(resolve(io.cwd, checkpoint), factsOf(estimator, schema, weights));
  return { checkpoint: collective ? await sharedCheckpoint(collective, open) : await open() };
}

/** What decides the result of a training: parameters, data, and how much its rows count. */
function factsOf(
  { kind = "pipeline", params }: { kind?: string; params: object },
  { training }: Pick<Schema, "training">,
  weights?: Float64Array,
): TrainingFacts {
  const given = Object.entries(params).map(([name, value]) => [name, JSON.stringify(value) ?? "none"]);
  return {
    ...Object.fromEntries(given),
    estimator: kind,
    "data rows": String(training?.rows),
    "data digest": String(training?.digest),
    ...(weights ? { "row weights digest": sha256([new Uint8Array(weights.buffer)]) } : {}),
  };
}
