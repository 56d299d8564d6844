/** `ranksim evaluate`: how good a model is on labelled data. */

import type { Label } from "@ranksim/core";
import type { Command } from "commander";
import { openData } from "../files/data-argument.ts";
import { labelNamer } from "../files/labels.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import type { Io } from "../io.ts";
import { judge, predictAll } from "../model/judge.ts";
import { readModel } from "../model/store.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { exampleText } from "./examples.ts";
import { scoresAsJson, showScores } from "./show-scores.ts";

type Options = ComputeOptions & ReadingOptions;

/** Adds the command. */
export function addEvaluate(program: Command, io: Io): void {
  const command = program
    .command("evaluate")
    .summary("judge a model on labelled data")
    .description(
      "Judges a model on labelled data: accuracy, F1, log loss, calibration of probabilities, scores of each class and the confusion matrix.",
    )
    .argument("<model>", "model file")
    .argument("<data...>", DATA_ABOUT);
  addCommonOptions(addReadingOptions(addComputeOptions(command)))
    .addHelpText("after", exampleText("evaluate"))
    .action(async (modelPath: string, dataName: string[], options: Options) => {
      const session = new Session(io, options);
      const { model } = await readModel(modelPath, io);
      const data = await openData(dataName, options, session, { model, labelled: true });
      const answers = await session.compute("evaluating", options, (run) => predictAll(model, data.set, run));
      const { judgement, notes } = judge(model, answers, data.set);
      for (const note of notes) await session.note(note);
      const rows = answers.predicted.length;
      const nameOf = labelNamer(data.set);
      const both = (label: Label) => (nameOf(label) === String(label) ? String(label) : `${label} ${nameOf(label)}`);
      await session.print("evaluate", scoresAsJson(judgement, rows), () => showScores(judgement, rows, both, session));
    });
}
