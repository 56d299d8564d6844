/** `ranksim predict`: a class, or several, for each row. */

import type { Dense, Label } from "@ranksim/core";
import type { Command } from "commander";
import { openData } from "../files/data-argument.ts";
import { checkWritable, writeTo } from "../files/output.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import type { Io } from "../io.ts";
import { asPredicting } from "../model/parts.ts";
import { type Input, inputOf } from "../model/passage.ts";
import { readModel } from "../model/store.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { counted } from "../terminal/numbers.ts";
import { type Answer, answerFormat, answersAsText } from "./answers.ts";
import { exampleText } from "./examples.ts";

type Options = ComputeOptions & ReadingOptions & { readonly probabilities?: boolean; readonly out: string };

/** Adds the command. */
export function addPredict(program: Command, io: Io): void {
  const command = program
    .command("predict")
    .summary("give each row its class")
    .description(
      "Gives each row its class, one on a line. With --probabilities, or for a file that ends in .csv, the answer is a table; for one that ends in .jsonl, a JSON object on each line.",
    )
    .argument("<model>", "model file")
    .argument("<data>", DATA_ABOUT)
    .option("--probabilities", "the probability of each class as well")
    .option("-o, --out <file>", "where the answers go: .csv, .jsonl or plain lines; - for standard output", "-");
  addCommonOptions(addReadingOptions(addComputeOptions(command)))
    .addHelpText("after", exampleText("predict"))
    .action(async (modelPath: string, dataName: string, options: Options) => {
      const session = new Session(io, options);
      await checkWritable(options.out, io);
      if (modelPath === "-" && dataName === "-") throw usageError("model and data cannot both be standard input");
      const format = answerFormat(options.out, options.probabilities === true);
      const { model } = await readModel(modelPath, io);
      const predicting = asPredicting<Input>(model);
      const { set } = await openData(dataName, options, session, { model, labelled: false });
      const x = inputOf(model, set);
      const { labels, probabilities } = await session.compute("predicting", options, async (run) => ({
        labels: await predicting.predict(x, run),
        probabilities: options.probabilities ? await predicting.predictProbabilities?.(x, run) : undefined,
      }));
      const answer: Answer = { labels, probabilities, classes: predicting.classes };
      if (options.json && options.out === "-") {
        await session.print("predict", asJson(labels, probabilities, predicting.classes), () => "");
        return;
      }
      await writeTo(options.out, answersAsText(answer, format), io);
      if (options.out !== "-" && !session.quiet) {
        await io.stderr.write(`${counted(labels.length, "answer")} in ${options.out}\n`);
      }
    });
}

function asJson(
  labels: readonly (Label | readonly Label[])[],
  probabilities: Dense | undefined,
  classes: readonly Label[],
): object {
  if (!probabilities) return { labels };
  const rows = Array.from({ length: probabilities.rows }, (_, r) => Array.from(probabilities.row(r)));
  return { classes, labels, probabilities: rows };
}
