/** `ranksim cross-validate`: how good a recipe is, judged on rows it was not trained on. */

import type { Label, LabelSets, Labels } from "@ranksim/core";
import { accuracy, crossTrain, f1, isSets, plan, subsetAccuracy } from "@ranksim/learn";
import { type Command, Option } from "commander";
import { openData } from "../files/data-argument.ts";
import { addPlanFlags, type PlanFlags, planOf, refuseTableFlags } from "../flags/plan-flags.ts";
import { DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import { wholeNumber } from "../flags/values.ts";
import type { Io } from "../io.ts";
import { splitOf } from "../model/hold-out.ts";
import type { ResultOf } from "../output.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { score, seconds } from "../terminal/numbers.ts";
import { table } from "../terminal/table.ts";

type Options = ComputeOptions & ReadingOptions & PlanFlags & { readonly folds: number };

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
    .argument("<data...>", DATA_ABOUT);
  addPlanFlags(command, io, { estimators: ["classifier", "probabilistic"], roles: ["group", "time"] }).addOption(
    new Option("--folds <n>", "number of folds")
      .default(10)
      .argParser((text: string) => wholeNumber(text, 2))
      .helpGroup("Judging:"),
  );
  addCommonOptions(addComputeOptions(command)).action(async (dataName: string[], options: Options) => {
    const session = new Session(io, options);
    const planned = planOf(options);
    const wanted = { text: options.text === true, labelled: true };
    const data = await openData(dataName, options, session, wanted);
    const split = splitOf(data.set);
    const found = await plan(data.set, planned);
    refuseTableFlags(found.recipe, options);
    const answers = await session.compute("cross-validating", options, (run) =>
      crossTrain(found, { ...planned, split, folds: options.folds, ...run }),
    );
    const folds = answers.map(({ truth, predicted, fitSeconds, scoreSeconds }) => ({
      ...scoresOf(truth as Labels | LabelSets, predicted),
      fitSeconds,
      scoreSeconds,
    }));
    await session.print("cross-validate", asJson(folds), () => forPeople(folds, isSets(data.set.y ?? []), session));
  });
}

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

function asJson(folds: readonly Fold[]): ResultOf<"cross-validate"> {
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
