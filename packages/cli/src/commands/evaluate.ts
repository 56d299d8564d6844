/** `ranksim evaluate`: how good a model is on labelled data. */

import { type Label, schemaOf } from "@ranksim/core";
import { rowCount, SeenTally } from "@ranksim/data";
import { baselinesOf, judge, labelNamer, madeBytes } from "@ranksim/learn";
import type { Command } from "commander";
import { openRows } from "../files/data-argument.ts";
import { refuseSeveral } from "../files/labels.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import type { Io } from "../io.ts";
import { seenNotes } from "../model/seen-rows.ts";
import { readModel } from "../model/store.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { scoresAsJson, showBaselines, showScores } from "./show-scores.ts";

type Options = ComputeOptions & ReadingOptions & { readonly baselines?: string };

/** Adds the command. */
export function addEvaluate(program: Command, io: Io): void {
  const command = program
    .command("evaluate")
    .summary("judge a model on labelled data")
    .description(
      "Judges a model on labelled data: accuracy and F1 with their 95 % intervals, log loss, calibration of probabilities, scores of each class and the confusion matrix. Rows that were used for training are detected: scores on them overestimate the accuracy on new rows.",
    )
    .argument("<model>", "model file")
    .argument("<data...>", DATA_ABOUT)
    .option(
      "--baselines <data>",
      "compare with simple methods trained on this data, the data the model was trained on",
    );
  addCommonOptions(addComputeOptions(addReadingOptions(command, io))).action(
    async (modelPath: string, dataName: string[], options: Options) => {
      const session = new Session(io, options);
      const { model } = await readModel(modelPath, io, dataName);
      const wanted = { model, labelled: true };
      const { set } = await openRows(dataName, options, session, {
        ...wanted,
        made: (rows) => madeBytes(model, rowCount(rows)),
      });
      const { baselines } = options;
      const train = baselines === undefined ? undefined : (await openRows([baselines], options, session, wanted)).set;
      if (train) for (const { y } of [train, set]) refuseSeveral(y);
      const schema = schemaOf(model);
      const tally = schema && new SeenTally(schema);
      const { judged, beside } = await session.compute("evaluating", options, async ({ onShare: _, ...run }) => {
        const judged = await judge(model, set, { ...run, onBlock: (block) => tally?.add(block) });
        return { judged, beside: train && (await baselinesOf(model, train, set, run)) };
      });
      const seen = tally?.seen();
      const nameOf = labelNamer(set);
      const { judgement, rows, intervals } = judged;
      for (const note of [...judged.notes, ...seenNotes(seen, rows)]) await session.note(note);
      const both = (label: Label) => (nameOf(label) === String(label) ? String(label) : `${label} ${nameOf(label)}`);
      const value = {
        ...scoresAsJson(judgement, rows),
        ...(intervals ? { intervals } : {}),
        ...(beside ? { baselines: beside } : {}),
      };
      await session.print("evaluate", value, () =>
        [
          showScores(judgement, rows, both, session, intervals),
          ...(beside ? [showBaselines(beside, session.style)] : []),
        ].join("\n"),
      );
    },
  );
}
