/** `ranksim train` on data that does not fit in memory: it is read in blocks, once a round, and the model is the same file. */

import { basename } from "node:path";
import { type AnySource, describeSource, hashedInPassing } from "@ranksim/data";
import type { Command } from "commander";
import { agree, labelsDigest, sampleDigest } from "../agreement.ts";
import { dataNames } from "../files/data-names.ts";
import { type CheckpointFlags, checkpointFor, factsOf } from "../flags/checkpoint-flags.ts";
import { presetOf, presetRecipe } from "../flags/preset-flags.ts";
import { type ReadingOptions, readOptions } from "../flags/reading-flags.ts";
import type { TableOptions } from "../flags/table-flags.ts";
import { dataNotes } from "../model/data-notes.ts";
import { rowWeights } from "../model/hold-out.ts";
import { columnNotes, columnsOf, fitSource, type Recipe, setsOf, suitedSource } from "../model/recipe.ts";
import type { ComputeOptions, Session } from "../session.ts";
import { dividedSource, type HeldOutOptions, judgeSource } from "./held-out-scores.ts";
import { showPlanned } from "./show-trained.ts";
import { storeTrained } from "./store-trained.ts";

/** What is to be trained, and where it goes. */
interface Plan {
  readonly dataName: readonly string[];
  readonly recipe: Recipe;
  readonly notes: readonly string[];
  readonly reading: ReadingOptions;
  readonly path: string | undefined;
}

type Options = ComputeOptions &
  ReadingOptions &
  CheckpointFlags &
  HeldOutOptions &
  TableOptions & {
    readonly rows?: boolean;
    readonly trace?: boolean;
    readonly card?: string;
    readonly [name: string]: unknown;
  };

/** Trains and writes the model. */
export async function trainLarge(
  given: AnySource,
  { dataName, recipe: planned, notes, reading, path }: Plan,
  options: Options,
  command: Command,
  session: Session,
): Promise<void> {
  const { io } = session;
  const byHand = await suitedSource(planned, given, options, io.env.RANKSIM_SCRATCH);
  const preset = presetOf(options);
  for (const note of [...notes, ...dataNotes(byHand.data, options), ...columnNotes(byHand.recipe)])
    await session.note(note);
  const chosenFor = async (rows: AnySource) =>
    preset && (await presetRecipe(preset, rows, options, io.cwd, byHand.recipe));
  const { train: data, test, rows } = await dividedSource(dataName, byHand.data, options, session);
  const weights = await rowWeights(dataName, options, session, byHand.data.x.rows, rows);
  if (options.dryRun || path === undefined) {
    await showPlanned(byHand.data, (await chosenFor(byHand.data)) || byHand.recipe, session);
    return;
  }
  const byPreset = await chosenFor(data);
  const recipe = byPreset || byHand.recipe;
  const { estimator } = recipe;
  const keepsRows = options.rows !== false;
  const describe = (known?: Uint32Array) =>
    describeSource(data, { options: readOptions(reading), rows: keepsRows, ...columnsOf(recipe) }, known);
  // A checkpoint has to know the data before training begins. Else rows of numbers are hashed as they pass by.
  const isPassing = options.checkpoint === undefined && data.form === "source";
  const before = isPassing ? undefined : await describe();
  const passing = isPassing ? hashedInPassing(data.x) : undefined;
  const began = performance.now();
  const fitted = await session.compute("training", options, async (run) => {
    if (run.collective) {
      const sample = isPassing
        ? { "some rows": await sampleDigest(data.x), "labels digest": labelsDigest(data.y) }
        : {};
      await agree(run.collective, { ...factsOf(estimator, before ?? {}, weights), ...sample, reading: "in blocks" });
    }
    const kept = before && (await checkpointFor(options, estimator, before, io, run.collective, weights));
    const rows = passing ? ({ ...data, x: passing.x } as AnySource) : data;
    const weighted = weights ? { weights } : {};
    const model = await fitSource(recipe, rows, { ...run, ...kept, ...weighted }, setsOf(options));
    await kept?.checkpoint?.settled?.();
    return model;
  });
  const seconds = (performance.now() - began) / 1000;
  const described = before ?? (await describe(await passing?.hashes()));
  await agree(await io.processes?.join(), factsOf(estimator, described, weights));
  const heldOut = test && (await judgeSource(fitted, data, test, options, session));
  const names = await dataNames(dataName, io.cwd);
  const called = names.length === 1 ? basename(names[0]) : `${names.length} files`;
  const trained = { fitted, described, recipe, train: data, dataName: called, preset, heldOut, seconds };
  await storeTrained({ ...trained, ...(byPreset ? { about: byPreset.about } : {}) }, path, options, command, session);
}
