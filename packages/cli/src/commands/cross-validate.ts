/** `ranksim cross-validate`: how good a recipe is, judged on rows it was not trained on. */

import {
  accuracy,
  crossValidate,
  f1,
  type Label,
  type LabelSets,
  type Labels,
  type PredictingModel,
  type Run,
  subsetAccuracy,
} from "@ranksim/core";
import { rowCount } from "@ranksim/data";
import { type Command, Option } from "commander";
import { openData } from "../files/data-argument.ts";
import { isSets } from "../files/labels.ts";
import { addEstimatorFlags, type EstimatorName, estimatorOf } from "../flags/estimator-flags.ts";
import { wholeNumber } from "../flags/parameter-flags.ts";
import { addPresetFlag, presetOf, presetRecipe } from "../flags/preset-flags.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import { addTableFlags, type TableOptions } from "../flags/table-flags.ts";
import { addVectorizerFlags } from "../flags/vectorizer-flags.ts";
import type { Io } from "../io.ts";
import { addSplitFlags, readingWithout, type SplitFlags, splitColumn, withoutSplitColumns } from "../model/hold-out.ts";
import { type Input, inputFor } from "../model/passage.ts";
import { recipeOf, suited } from "../model/recipe.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { score, seconds } from "../terminal/numbers.ts";
import { table } from "../terminal/table.ts";
import { exampleText } from "./examples.ts";

type Options = ComputeOptions &
  ReadingOptions &
  TableOptions &
  SplitFlags & {
    readonly folds: number;
    readonly estimator?: EstimatorName;
    readonly text?: boolean;
    readonly [name: string]: unknown;
  };

/** The scores of one fold. */
interface Fold {
  readonly accuracy: number;
  readonly macroF1: number;
  readonly fitSeconds: number;
  readonly scoreSeconds: number;
}

/** Adds the command. */
export function addCrossValidate(program: Command, io: Io): void {
  const command = program
    .command("cross-validate")
    .summary("judge parameters on rows that were not trained on")
    .description(
      "Divides the rows into folds that keep the share of each class, trains on all folds but one and judges on that one, for each in turn.",
    )
    .argument("<data...>", DATA_ABOUT)
    .addOption(
      new Option("--folds <n>", "number of folds").default(10).argParser((text: string) => wholeNumber(text, 2)),
    );
  addEstimatorFlags(addSplitFlags(addPresetFlag(command)), ["classifier", "probabilistic"]);
  addCommonOptions(addReadingOptions(addTableFlags(addVectorizerFlags(addComputeOptions(command)))))
    .addHelpText("after", exampleText("cross-validate"))
    .action(async (dataName: string[], options: Options) => {
      const session = new Session(io, options);
      const { estimator, notes } = await estimatorOf(options, io.cwd);
      const planned = await recipeOf(estimator, options, io);
      const reading = withoutSplitColumns(options);
      const wanted = { text: options.text === true, labelled: true };
      const data = await readingWithout(dataName, options, session, () => openData(dataName, reading, session, wanted));
      const split = await splitColumn(dataName, options, session, rowCount(data.set));
      for (const note of notes) await session.note(note);
      const byHand = suited(planned, data.set, options);
      const { set } = byHand;
      const preset = presetOf(options);
      const byPreset = preset && (await presetRecipe(preset, set, options, io.cwd, byHand.recipe));
      const recipe = byPreset || byHand.recipe;
      const y = set.y as Labels | LabelSets;
      const seed = typeof options.seed === "number" ? { seed: options.seed } : {};
      const found: { accuracy: number; macroF1: number }[] = [];
      const scorer = async (model: PredictingModel<Input>, x: Input, truth: Labels | LabelSets, run: Run) => {
        found.push(scoresOf(truth, await model.predict(x, run)));
        return found[found.length - 1].accuracy;
      };
      const { fitSeconds, scoreSeconds } = await session.compute("cross-validating", options, (run) =>
        crossValidate(recipe.estimator as unknown as Judged, inputFor(recipe.takes, set), y, {
          folds: options.folds,
          ...seed,
          scoring: scorer,
          ...split,
          ...run,
        }),
      );
      const folds = found.map((scores, j) => ({ ...scores, fitSeconds: fitSeconds[j], scoreSeconds: scoreSeconds[j] }));
      await session.print("cross-validate", asJson(folds), () => forPeople(folds, isSets(set.y ?? []), session));
    });
}

type Judged = Parameters<typeof crossValidate<Input, PredictingModel<Input>>>[0];

function scoresOf(truth: Labels | LabelSets, predicted: readonly (Label | readonly Label[])[]) {
  const guess = predicted as Labels | LabelSets;
  const several = Array.isArray(predicted[0]);
  return {
    accuracy: several
      ? subsetAccuracy(truth as LabelSets, guess as LabelSets)
      : accuracy(truth as Labels, guess as Labels),
    macroF1: f1(truth, guess),
  };
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Of all folds, divided by their number. */
function deviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) * (value - middle))));
}

function summary(folds: readonly Fold[], pick: (fold: Fold) => number): { mean: number; standardDeviation: number } {
  const values = folds.map(pick);
  return { mean: mean(values), standardDeviation: deviation(values) };
}

function asJson(folds: readonly Fold[]): object {
  return { folds, accuracy: summary(folds, (fold) => fold.accuracy), macroF1: summary(folds, (fold) => fold.macroF1) };
}

function forPeople(folds: readonly Fold[], several: boolean, { style }: Session): string {
  const right = { align: "right" } as const;
  const shown = (pick: (fold: Fold) => number) => {
    const { mean, standardDeviation } = summary(folds, pick);
    return style.strong(`${score(mean)} ± ${score(standardDeviation)}`);
  };
  return table(
    [
      { head: "fold" },
      { head: several ? "exact match" : "accuracy", ...right },
      { head: "macro F1", ...right },
      { head: "training", ...right },
      { head: "judging", ...right },
    ],
    [
      ...folds.map((fold, j) => [
        String(j + 1),
        score(fold.accuracy),
        score(fold.macroF1),
        seconds(fold.fitSeconds),
        seconds(fold.scoreSeconds),
      ]),
      [
        style.strong("mean"),
        shown((fold) => fold.accuracy),
        shown((fold) => fold.macroF1),
        seconds(mean(folds.map((fold) => fold.fitSeconds))),
        seconds(mean(folds.map((fold) => fold.scoreSeconds))),
      ],
    ],
    style,
  );
}
