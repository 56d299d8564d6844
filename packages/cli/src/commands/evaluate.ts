/** `ranksim evaluate`: how good a model is on labelled data. */

import { type Label, type Labels, type Model, type Run, schemaOf } from "@ranksim/core";
import { type DataSet, rowCount, seenRows } from "@ranksim/data";
import type { Command } from "commander";
import { openData } from "../files/data-argument.ts";
import { isSets, labelNamer, matchLabels } from "../files/labels.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import type { Io } from "../io.ts";
import { type Baseline, baselines } from "../model/baselines.ts";
import { intervalsOf } from "../model/intervals.ts";
import { type Answers, judge, predictAll } from "../model/judge.ts";
import { passThrough } from "../model/passage.ts";
import { readModel } from "../model/store.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { count, percent } from "../terminal/numbers.ts";
import { exampleText } from "./examples.ts";
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
      "compare with simple methods trained on this data, which is to be what the model was trained on",
    );
  addCommonOptions(addReadingOptions(addComputeOptions(command)))
    .addHelpText("after", exampleText("evaluate"))
    .action(async (modelPath: string, dataName: string[], options: Options) => {
      const session = new Session(io, options);
      const { model } = await readModel(modelPath, io);
      const data = await openData(dataName, options, session, { model, labelled: true });
      const train =
        options.baselines === undefined
          ? undefined
          : await openData(options.baselines, options, session, { model, labelled: true });
      const { answers, beside } = await session.compute("evaluating", options, async (run) => ({
        answers: await predictAll(model, data.set, run),
        beside: train && (await baselinesOf(model, train.set, data.set, run)),
      }));
      const { judgement, notes } = judge(model, answers, data.set);
      for (const note of [...notes, ...seenNotes(model, data.set)]) await session.note(note);
      const rows = answers.predicted.length;
      const nameOf = labelNamer(data.set);
      const both = (label: Label) => (nameOf(label) === String(label) ? String(label) : `${label} ${nameOf(label)}`);
      const intervals = intervalsIn(answers, data.set);
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
    });
}

/** Scores on training rows say nothing about new rows. */
export function seenNotes(model: Model, set: DataSet): string[] {
  const schema = schemaOf(model);
  const seen = schema && seenRows(schema, set);
  if (!seen) return [];
  const rows = rowCount(set);
  const share = seen === rows ? "all" : `about ${percent(seen / rows, 0)} of`;
  return [
    `${share} ${count(rows)} rows were seen in training: the scores say how well they are remembered, not how well others are told apart (train --test-share holds rows out)`,
  ];
}

/** The intervals of the scores, for one label a row. */
export function intervalsIn({ predicted, classes }: Answers, set: DataSet) {
  if (set.y === undefined || isSets(set.y) || set.y.length === 0 || Array.isArray(predicted[0])) return undefined;
  return intervalsOf(matchLabels(set.y, classes) as Labels, predicted as Labels);
}

/** What simple methods reach on the numbers that the filters see. */
export async function baselinesOf(model: Model, train: DataSet, test: DataSet, run: Run): Promise<Baseline[]> {
  if (isSets(train.y ?? []) || isSets(test.y ?? [])) throw usageError("--baselines: expected one label per row");
  const spoken = (set: DataSet) => (set.y as readonly Label[]).map(String);
  const quiet = { ...(run.backend ? { backend: run.backend } : {}), ...(run.signal ? { signal: run.signal } : {}) };
  const a = await passThrough(model, train, quiet);
  const b = await passThrough(model, test, quiet);
  const halves = { train: { x: a.atFilters, y: spoken(train) }, test: { x: b.atFilters, y: spoken(test) } };
  return baselines([halves], quiet);
}
