/** `ranksim evaluate`: how good a model is on labelled data. */

import { type Label, type Labels, type Model, schemaOf } from "@ranksim/core";
import { type DataSet, rowCount, SeenTally } from "@ranksim/data";
import type { Command } from "commander";
import { memoryFor, withMemory } from "../agreement.ts";
import { openData } from "../files/data-argument.ts";
import { labelledBlocks } from "../files/labelled-blocks.ts";
import { isSets, labelNamer, matchLabels, noLabels } from "../files/labels.ts";
import { wholeElseBlocks } from "../files/large-data.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import type { Io } from "../io.ts";
import { type Baseline, baselinesOf, refuseSeveral } from "../model/baselines.ts";
import { intervalsOf } from "../model/intervals.ts";
import { type Answers, JudgingTally, judge, predictAll } from "../model/judge.ts";
import { asPredicting, madeBytes } from "../model/parts.ts";
import { seenIn, seenNotes } from "../model/seen-rows.ts";
import { readModel } from "../model/store.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { bytes } from "../terminal/numbers.ts";
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
      "compare with simple methods trained on this data, the data the model was trained on",
    );
  addCommonOptions(addReadingOptions(addComputeOptions(command), { dividesMemory: true }))
    .addHelpText("after", exampleText("evaluate"))
    .action(async (modelPath: string, dataName: string[], options: Options) => {
      const session = new Session(io, options);
      const { model } = await readModel(modelPath, io, dataName);
      const within = (memory: number) => withMemory(options, memory, io);
      const read = (memory: number) => openData(dataName, within(memory), session, { model, labelled: true });
      const whole = ({ set }: { set: DataSet }, memory: number) => evaluateWhole(model, set, within(memory), session);
      const blocks = (memory: number) => evaluateBlocks(model, dataName, within(memory), session);
      const made = ({ set }: { set: DataSet }) => madeBytes(model, rowCount(set));
      const all = () => memoryFor(options, io).then(async (memory) => whole(await read(memory), memory));
      const { judged, notes, rows, intervals, beside, nameOf } = await (options.baselines === undefined
        ? wholeElseBlocks(dataName, options, io, { read, made, whole, blocks })
        : all());
      for (const note of [...judged.notes, ...notes]) await session.note(note);
      const both = (label: Label) => (nameOf(label) === String(label) ? String(label) : `${label} ${nameOf(label)}`);
      const value = {
        ...scoresAsJson(judged.judgement, rows),
        ...(intervals ? { intervals } : {}),
        ...(beside ? { baselines: beside } : {}),
      };
      await session.print("evaluate", value, () =>
        [
          showScores(judged.judgement, rows, both, session, intervals),
          ...(beside ? [showBaselines(beside, session.style)] : []),
        ].join("\n"),
      );
    });
}

/** All that is shown. */
interface Evaluated {
  readonly judged: ReturnType<typeof judge>;
  readonly notes: readonly string[];
  readonly rows: number;
  readonly intervals: ReturnType<JudgingTally["intervals"]>;
  readonly beside?: Baseline[];
  readonly nameOf: (label: Label) => string;
}

async function evaluateWhole(model: Model, set: DataSet, options: Options, session: Session): Promise<Evaluated> {
  const train =
    options.baselines === undefined
      ? undefined
      : await openData(options.baselines, options, session, { model, labelled: true });
  if (train) for (const { y } of [train.set, set]) refuseSeveral(y);
  const { answers, beside } = await session.compute("evaluating", options, async (run) => ({
    answers: await predictAll(model, set, run),
    beside: train && (await baselinesOf(model, train.set, set, run)),
  }));
  return {
    judged: judge(model, answers, set),
    notes: seenNotes(seenIn(model, set), rowCount(set)),
    rows: answers.predicted.length,
    intervals: intervalsIn(answers, set),
    ...(beside ? { beside } : {}),
    nameOf: labelNamer(set),
  };
}

/** Rows that do not fit in memory are judged as they come. */
async function evaluateBlocks(
  model: Model,
  dataName: readonly string[],
  options: Options,
  session: Session,
): Promise<Evaluated> {
  const tally = new JudgingTally(model, asPredicting(model).classes);
  const schema = schemaOf(model);
  const seen = schema && new SeenTally(schema);
  await session.compute("evaluating", options, async (run) => {
    const { backend, signal } = run;
    const show = (read: number, total: number | undefined) =>
      run.onShare(total ? Math.min(read / total, 0.999) : 0, total === 1 ? "" : bytes(read));
    for await (const { data, y } of labelledBlocks(dataName, options, session, model, show)) {
      if (y === undefined) throw noLabels(dataName[0], data);
      tally.add(await predictAll(model, data, { backend, ...(signal ? { signal } : {}) }), y);
      seen?.add(data);
    }
  });
  return {
    judged: tally.judged(),
    notes: seenNotes(seen?.seen(), tally.rows),
    rows: tally.rows,
    intervals: tally.intervals(),
    nameOf: String,
  };
}

/** The intervals of the scores, for one label a row. */
export function intervalsIn({ predicted, classes }: Answers, set: DataSet) {
  if (set.y === undefined || isSets(set.y) || set.y.length === 0 || Array.isArray(predicted[0])) return undefined;
  return intervalsOf(matchLabels(set.y, classes) as Labels, predicted as Labels);
}
