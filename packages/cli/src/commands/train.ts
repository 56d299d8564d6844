/** `ranksim train`: from data to a model file. */

import { type DataSet, describeData, IMAGE_SIZES, rowCount } from "@ranksim/data";
import type { Command } from "commander";
import { agree, withMemory } from "../agreement.ts";
import { openData } from "../files/data-argument.ts";
import { openInBlocks, wholeElseBlocks } from "../files/large-data.ts";
import { checkWritable } from "../files/output.ts";
import { addCheckpointFlags, type CheckpointFlags, checkpointFor, factsOf } from "../flags/checkpoint-flags.ts";
import { addEstimatorFlags, type EstimatorName, estimatorOf } from "../flags/estimator-flags.ts";
import { addPresetFlag, madeByPreset, PRESET_NOTES, presetOf, presetRecipe } from "../flags/preset-flags.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions, readOptions } from "../flags/reading-flags.ts";
import { addTableFlags, type TableOptions } from "../flags/table-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import { addVectorizerFlags } from "../flags/vectorizer-flags.ts";
import type { Io } from "../io.ts";
import { sizeFor, sizeNotes } from "../model/chosen-size.ts";
import { dataNotes } from "../model/data-notes.ts";
import { addWeightColumn, readingWithout, rowWeights, withoutSplitColumns } from "../model/hold-out.ts";
import { columnNotes, columnsOf, fitRecipe, recipeOf, setsOf, suited } from "../model/recipe.ts";
import { TRACE_ABOUT } from "../model/trace.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { exampleText } from "./examples.ts";
import { addHeldOutFlags, checkHeldOutFlags, divided, type HeldOutOptions, judgeHeldOut } from "./held-out-scores.ts";
import { showPlanned } from "./show-trained.ts";
import { storeTrained } from "./store-trained.ts";
import { trainLarge } from "./train-large.ts";

type Options = ComputeOptions &
  ReadingOptions &
  TableOptions &
  CheckpointFlags &
  HeldOutOptions & {
    readonly model?: string;
    readonly dryRun?: boolean;
    readonly rows?: boolean;
    readonly card?: string;
    readonly estimator?: EstimatorName;
    readonly text?: boolean;
    readonly trace?: boolean;
    readonly sets?: boolean;
    readonly [name: string]: unknown;
  };

const NOTES = `
Estimators:
  classifier     one class for each row; filters are trained class by class (default)
  probabilistic  probabilities learned from all rows together; rows may have several labels
  transform      no labels needed; rows become their similarities to the filters
`;

/** Adds the command. */
export function addTrain(program: Command, io: Io): void {
  const command = program
    .command("train")
    .summary("train a model and save it")
    .description("Trains a model and saves it as one file, which ranksim, JavaScript and Python can open.")
    .argument("<data...>", DATA_ABOUT)
    .option("-m, --model <file>", "where the model goes; - for standard output")
    .option("--dry-run", "say what was found in the data and what would be trained, and train nothing")
    .option("--card <file>", "a page of Markdown about the model: data, recipe, command, date, version")
    .option("--no-rows", "the file does not say which training rows filters stand for; a smaller file")
    .option("--sets", "hold out a tenth of the rows, so that predict can answer with --coverage and --reject")
    .option("--trace", TRACE_ABOUT);
  addWeightColumn(addCheckpointFlags(addHeldOutFlags(command)));
  addEstimatorFlags(addPresetFlag(command), ["classifier", "probabilistic", "transform"]);
  const flags = addTableFlags(addVectorizerFlags(addComputeOptions(command)));
  addCommonOptions(addReadingOptions(flags, { dividesMemory: true }))
    .addHelpText("after", PRESET_NOTES + NOTES)
    .addHelpText("after", exampleText("train"))
    .action(async (dataName: string[], options: Options, own: Command) => {
      const session = new Session(io, options);
      const { model: path, card } = options;
      if (path === undefined && !options.dryRun) throw usageError("required option '-m, --model <file>' not specified");
      checkHeldOutFlags(options);
      if (options.sets && options.estimator === "transform") throw usageError("--sets: a transform has no classes");
      const { estimator, notes } = await estimatorOf(options, io.cwd);
      const planned = await recipeOf(estimator, options, io);
      for (const out of [path, card])
        if (out !== undefined && !options.dryRun) await checkWritable(out, io, [...dataName, options.labels]);
      const labelled = options.estimator !== "transform";
      const reading = withoutSplitColumns(options);
      const wanted = { text: options.text === true, labelled };
      const preset = presetOf(options);
      const sizes = preset === undefined || preset === "paper" ? {} : { sizes: IMAGE_SIZES };
      const data = await readingWithout(dataName, options, session, () =>
        wholeElseBlocks(dataName, reading, io, {
          read: (memory) => openData(dataName, withMemory(reading, memory, io), session, { ...wanted, ...sizes }),
          made: ({ set }) => (preset ? madeByPreset(preset, set, options, io.cwd) : 0),
          whole: async (read) => read,
          blocks: (memory) => openInBlocks(dataName, memory, reading, session, wanted),
        }),
      );
      if (!("set" in data)) {
        await trainLarge(data, { dataName, recipe: planned, notes, reading, path }, options, own, session);
        return;
      }
      const byHand = suited(planned, data.set, options);
      const { set } = byHand;
      const chosenFor = async (all: DataSet) =>
        preset && (await presetRecipe(preset, all, options, io.cwd, byHand.recipe));
      const proposed = (await chosenFor(set)) || byHand.recipe;
      for (const note of [...notes, ...dataNotes(set, options), ...columnNotes(byHand.recipe)])
        await session.note(note);
      const parts = await divided(dataName, set, options, session);
      const weights = await rowWeights(dataName, options, session, rowCount(set), parts.rows);
      if (options.dryRun || path === undefined) {
        for (const note of sizeNotes(set)) await session.note(note);
        await showPlanned(set, proposed, session);
        return;
      }
      const sized = await sizeFor(parts.train, options, session);
      const train = sized?.at(parts.train) ?? parts.train;
      const byPreset = await chosenFor(train);
      const recipe = byPreset || byHand.recipe;
      const test = parts.test && (sized?.at(parts.test) ?? parts.test);
      const keepsRows = options.rows !== false;
      const described = describeData(train, {
        ...{ options: { ...readOptions(reading), ...(sized ? { resize: sized.resize } : {}) }, rows: keepsRows },
        ...columnsOf(recipe),
      });
      const began = performance.now();
      const fitted = await session.compute("training", options, async (run) => {
        await agree(run.collective, { ...factsOf(recipe.estimator, described, weights), reading: "in memory" });
        const kept = await checkpointFor(options, recipe.estimator, described, io, run.collective, weights);
        const model = await fitRecipe(
          recipe,
          train,
          { ...run, ...kept, ...(weights ? { weights } : {}) },
          setsOf(options),
        );
        await kept.checkpoint?.settled?.();
        return model;
      });
      const seconds = (performance.now() - began) / 1000;
      const heldOut = test && (await judgeHeldOut(fitted, train, test, options, session));
      const about = byPreset && [byPreset.about, ...(sized ? [sized.about] : [])].join("; ");
      const trained = { fitted, described, recipe, train, dataName: data.name, preset, heldOut, seconds };
      await storeTrained({ ...trained, ...(about ? { about } : {}) }, path, options, own, session);
    });
}
