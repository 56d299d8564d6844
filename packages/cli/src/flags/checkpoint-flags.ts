/** `--checkpoint`: training that can go on after its process has ended. */

import { resolve } from "node:path";
import { type Checkpoint, type Collective, type Schema, sha256 } from "@ranksim/core";
import { openCheckpoint, type TrainingFacts } from "@ranksim/data/node";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Io } from "../io.ts";
import { sharedCheckpoint } from "../shared-checkpoint.ts";

/** The options as commander gives them. */
export interface CheckpointFlags {
  readonly checkpoint?: string;
  readonly checkpointMinutes?: number;
}

/** Adds --checkpoint and --checkpoint-minutes. */
export function addCheckpointFlags(command: Command): Command {
  return command
    .option(
      "--checkpoint <folder>",
      "folder for checkpoints, written after each round; training resumes from one found there",
    )
    .addOption(
      new Option("--checkpoint-minutes <n>", "least minutes between two checkpoints (default: 0)").argParser(minutes),
    );
}

function minutes(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0 && value < Number.POSITIVE_INFINITY)) {
    throw new InvalidArgumentError("Expected a number of minutes from 0.");
  }
  return value;
}

/** The checkpoint that the options ask for, of this estimator and this data. */
export async function checkpointFor(
  { checkpoint, checkpointMinutes }: CheckpointFlags,
  estimator: { readonly kind?: string; readonly params: object },
  schema: Schema,
  io: Io,
  collective?: Collective,
  weights?: Float64Array,
): Promise<{ checkpoint?: Checkpoint }> {
  if (checkpoint === undefined) return {};
  const options = checkpointMinutes === undefined ? {} : { minutes: checkpointMinutes };
  const open = () => openCheckpoint(resolve(io.cwd, checkpoint), factsOf(estimator, schema, weights), options);
  return { checkpoint: collective ? await sharedCheckpoint(collective, open) : await open() };
}

/** What decides the result of a training: parameters, data, and how much its rows count. */
export function factsOf(
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
