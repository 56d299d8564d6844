/** `ranksim train`: from data to a model file. */

import { basename } from "node:path";
import { type EstimatorName, flawsOf, IMAGE_SIZES, plan, trainingBytes, trainPrepared } from "@ranksim/learn";
import { type Command, Option } from "commander";
import type { CheckpointFlags } from "../around-fit.ts";
import { openRows } from "../files/data-argument.ts";
import { dataParts } from "../files/data-names.ts";
import { refuseSeveral } from "../files/labels.ts";
import { checkWritable } from "../files/output.ts";
import { addPlanFlags, type PlanFlags, PRESET_NOTES, planOf, refuseTableFlags } from "../flags/plan-flags.ts";
import { DATA_ABOUT, type ReadingOptions, readOptions } from "../flags/reading-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import type { Io } from "../io.ts";
import { columnNotes, dataNotes, sizeNotes } from "../model/data-notes.ts";
import { splitOf } from "../model/hold-out.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { addHeldOutFlags, checkHeldOutFlags, type HeldOutOptions } from "./held-out-scores.ts";
import { showPlanned } from "./show-trained.ts";
import { storeTrained } from "./store-trained.ts";

type Options = ComputeOptions &
  ReadingOptions &
  PlanFlags &
  CheckpointFlags &
  HeldOutOptions & {
    readonly model?: string;
    readonly dryRun?: boolean;
    readonly rows?: boolean;
    readonly card?: string;
    readonly sets?: boolean;
  };

/** Bytes that what is learned may take however little memory there is for reading. */
const LEAST_LEARNED = 2 ** 26;

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
    .argument("<data...>", DATA_ABOUT);
  const estimators: EstimatorName[] = ["classifier", "probabilistic", "transform"];
  addHeldOutFlags(addPlanFlags(command, io, { estimators, roles: ["group", "time", "weight"] }))
    .addOption(
      new Option(
        "--sets",
        "hold out a tenth of the rows, so that predict can answer with --coverage, and with --reject after --for reject",
      ).helpGroup("Judging:"),
    )
    .optionsGroup("Output:")
    .option("-m, --model <file>", "where the model goes; - for standard output")
    .addOption(
      new Option(
        "--card <file>",
        "a page of Markdown about the model: data, recipe, command, date, version",
      ).hideHelp(),
    )
    .option("--checkpoint <folder>", "write a checkpoint after each round; training resumes from one found there")
    .option("--dry-run", "say what was found in the data and what would be trained, and train nothing")
    .addOption(new Option("--no-rows", "leave out which training rows filters stand for; a smaller file").hideHelp());
  addCommonOptions(addComputeOptions(command))
    .addHelpText("after", PRESET_NOTES + NOTES)

    .action(async (dataName: string[], options: Options, own: Command) => {
      const session = new Session(io, options);
      const { model: path, card } = options;
      if (path === undefined && !options.dryRun) throw usageError("required option '-m, --model <file>' not specified");
      checkHeldOutFlags(options);
      if (options.sets && options.estimator === "transform") throw usageError("--sets: a transform has no classes");
      if (options.for === "reject" && !options.sets) throw usageError("--for reject: expected --sets with it");
      const planned = planOf(options);
      for (const out of [path, card])
        if (out !== undefined && !options.dryRun) await checkWritable(out, io, [...dataName, options.labels]);
      const sizes = planned.preset === undefined || planned.preset === "paper" ? {} : { sizes: IMAGE_SIZES };
      const { set: data } = await openRows(dataName, options, session, {
        ...{ text: options.text === true, labelled: options.estimator !== "transform", ...sizes },
        made: (set) => trainingBytes(set, planned),
      });
      const found = await plan(data, { ...planned, signal: io.signal });
      const { recipe, data: all } = found;
      refuseTableFlags(recipe, options);
      const flaws = await flawsOf(all, { signal: io.signal });
      for (const note of [...dataNotes(all, options), ...columnNotes(recipe), ...flaws]) await session.note(note);
      if (options.baselines) refuseSeveral(all.y);
      const split = splitOf(data);
      const { weights } = data;
      if (options.dryRun || path === undefined) {
        for (const note of sizeNotes(all)) await session.note(note);
        await showPlanned(all, recipe, session);
        return;
      }
      const trained = await session.compute("training", options, ({ onShare: _, ...run }) =>
        trainPrepared(found, {
          ...planned,
          reading: readOptions(options),
          split,
          ...(options.testShare === undefined ? {} : { testShare: options.testShare }),
          ...(options.baselines ? { baselines: true } : {}),
          ...(options.sets ? { sets: true } : {}),
          ...(weights ? { weights } : {}),
          keepsRows: options.rows !== false,
          ...(options.memory === undefined ? {} : { memory: Math.max(options.memory, LEAST_LEARNED) }),
          around: session.around(options),
          ...run,
        }),
      );
      await storeTrained(trained, { path, dataName: await calledOf(dataName, io) }, options, own, session);
    });
}

/** What data is called in a card: by its file, or by how many there are. */
async function calledOf(dataName: readonly string[], { cwd }: Io): Promise<string> {
  const parts = await dataParts(dataName, cwd);
  if (parts.length > 1) return `${parts.length} files`;
  return parts[0].name === "-" ? "standard input" : basename(parts[0].name);
}
