/** `ranksim train`: from data to a model file. */

import { type Matrix, type Model, Pipeline, type Run, withSchema } from "@ranksim/core";
import { type DataSet, describeData } from "@ranksim/data";
import type { Command } from "commander";
import { openData } from "../files/data-argument.ts";
import { checkWritable } from "../files/output.ts";
import { addEstimatorFlags, type EstimatorName, estimatorOf, type FilterEstimator } from "../flags/estimator-flags.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions, readOptions } from "../flags/reading-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import { addVectorizerFlags, givenVectorizerFlags, vectorizerOf } from "../flags/vectorizer-flags.ts";
import type { Io } from "../io.ts";
import { dataNotes } from "../model/data-notes.ts";
import { withoutSplitColumns } from "../model/hold-out.ts";
import { type FilterModel, filterPart } from "../model/parts.ts";
import { inputFor } from "../model/passage.ts";
import { refinementText } from "../model/refinement-text.ts";
import { type StoredModel, writeModel } from "../model/store.ts";
import { brief, TRACE_ABOUT } from "../model/trace.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { bytes, count, counted, percent, seconds } from "../terminal/numbers.ts";
import { cut, printable, type Style } from "../terminal/style.ts";
import { pairs } from "../terminal/table.ts";
import { exampleText } from "./examples.ts";
import {
  addHeldOutFlags,
  divided,
  type HeldOutOptions,
  heldOutText,
  judgeHeldOut,
  storedScores,
} from "./held-out-scores.ts";

type Options = ComputeOptions &
  ReadingOptions &
  HeldOutOptions & {
    readonly model: string;
    readonly estimator?: EstimatorName;
    readonly text?: boolean;
    readonly trace?: boolean;
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
    .requiredOption("-m, --model <file>", "where the model goes; - for standard output")
    .option("--trace", TRACE_ABOUT);
  addHeldOutFlags(command);
  addEstimatorFlags(command, ["classifier", "probabilistic", "transform"]);
  addCommonOptions(addReadingOptions(addVectorizerFlags(addComputeOptions(command))))
    .addHelpText("after", NOTES)
    .addHelpText("after", exampleText("train"))
    .action(async (dataName: string[], options: Options) => {
      const session = new Session(io, options);
      const { estimator, notes } = await estimatorOf(options, io.cwd);
      const recipe = await recipeOf(estimator, options, io);
      await checkWritable(options.model, io);
      const labelled = options.estimator !== "transform";
      const reading = withoutSplitColumns(options);
      const data = await openData(dataName, reading, session, { text: options.text === true, labelled });
      for (const note of [...notes, ...dataNotes(data.set, options)]) await session.note(note);
      const { train, test } = await divided(dataName, data.set, options, session);
      const fitted = await session.compute("training", options, (run) => fit(recipe, train, run));
      const heldOut = test && (await judgeHeldOut(fitted, train, test, options, session));
      const model = withSchema(fitted, {
        ...describeData(train, { options: readOptions(reading) }),
        ...(heldOut ? { heldOut: storedScores(heldOut) } : {}),
      });
      const stored = await writeModel(model, options.model, io);
      const part = filterPart(model)?.part as FilterModel;
      for (const note of [...part.report.notes, ...(part.report.fallbacks ?? [])]) await session.note(note);
      // With the model itself on standard output there is no room for words.
      if (options.model !== "-")
        await session.print(
          "train",
          { ...asJson(stored, part, options), ...(heldOut ? { heldOut } : {}) },
          () => forPeople(stored, part, options, session.style) + heldOutText(heldOut, session.style),
        );
    });
}

/** A recipe for numbers, or one for texts. */
export type Recipe =
  | { readonly takes: "numbers"; readonly estimator: FilterEstimator }
  | { readonly takes: "text"; readonly estimator: Pipeline<readonly string[]> };

/** The estimator, behind a vectoriser where rows are text. */
export async function recipeOf(
  estimator: FilterEstimator,
  options: { readonly text?: boolean; readonly [name: string]: unknown },
  io: Io,
): Promise<Recipe> {
  if (options.text === true) {
    const vectorizer = await vectorizerOf(options, io.cwd);
    return { takes: "text", estimator: new Pipeline<readonly string[], Model>([vectorizer, estimator]) };
  }
  const [stray] = [...givenVectorizerFlags(options), ...(options.vectorizer === undefined ? [] : ["--vectorizer"])];
  if (stray) throw usageError(`${stray} is about text; add --text to train on text`);
  return { takes: "numbers", estimator };
}

function fit(recipe: Recipe, data: DataSet, run: Run): Promise<Model> {
  const input = inputFor(recipe.takes, data);
  return recipe.takes === "text"
    ? recipe.estimator.fit(input as readonly string[], data.y, run)
    : recipe.estimator.fit(input as Matrix, data.y, run);
}

function asJson({ model, byteLength, digest }: StoredModel, part: FilterModel, { trace }: Options): object {
  const { report } = part;
  const classes = "classes" in part ? { classes: part.classes } : {};
  return { kind: model.kind, byteLength, digest, ...classes, report: trace ? report : brief(report) };
}

function forPeople({ byteLength, digest }: StoredModel, part: FilterModel, options: Options, style: Style): string {
  const { report } = part;
  const classes = "classes" in part ? part.classes : undefined;
  const rest = report.trainings.filter(({ converged }) => converged).length;
  const iterations = Math.max(0, ...report.trainings.map(({ steps }) => steps.length));
  const within = `within ${counted(iterations, "iteration")}`;
  const some = report.trainings.length === 1 ? "no, not" : `in ${rest} of ${report.trainings.length} classes,`;
  return pairs(
    [
      ["trained on", `${count(report.rows)} rows × ${count(report.features)} features`],
      ["classes", classes && `${count(classes.length)}  ${style.faint(cut(printable(classes.join(", ")), 60))}`],
      ["filters", count(report.filters)],
      ["came to rest", `${report.converged ? "yes," : some} ${within}`],
      ["refined", report.refinement && refinementText(report.refinement)],
      ["time", report.seconds === undefined ? undefined : `${seconds(report.seconds)} on ${report.backend}`],
      ["pruned", report.pruned ? `${percent(report.pruned)} of all products` : undefined],
      ["model", `${style.strong(printable(options.model))}  ${bytes(byteLength)}`],
      ["digest", digest.slice(0, 16)],
    ],
    style,
  );
}
