/** `ranksim transform`: rows as their similarities to a model's filters. */

import { writeFormatOf } from "@ranksim/data";
import type { Command } from "commander";
import { openData } from "../files/data-argument.ts";
import { checkWritable } from "../files/output.ts";
import { writeDataTo } from "../files/write-data.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import type { Io } from "../io.ts";
import { asTransforming } from "../model/parts.ts";
import { type Input, inputOf } from "../model/passage.ts";
import { readModel } from "../model/store.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { count } from "../terminal/numbers.ts";
import { exampleText } from "./examples.ts";

type Options = ComputeOptions & ReadingOptions & { readonly out: string };

/** Adds the command. */
export function addTransform(program: Command, io: Io): void {
  const command = program
    .command("transform")
    .summary("turn rows into similarities to filters")
    .description(
      "Turns rows into their similarities to the model's filters: a sparse matrix, with the labels of the data if it has any. The ending of the file says how it is written: .npz (opens in scipy), .npy, .svm, .csv or .jsonl.",
    )
    .argument("<model>", "model file of a transform")
    .argument("<data...>", DATA_ABOUT)
    .requiredOption("-o, --out <file>", "where the rows go; - for standard output, as svmlight");
  addCommonOptions(addReadingOptions(addComputeOptions(command)))
    .addHelpText("after", exampleText("transform"))
    .action(async (modelPath: string, dataName: string[], options: Options) => {
      const session = new Session(io, options);
      await checkWritable(options.out, io);
      if (options.out !== "-") writeFormatOf(options.out);
      const { model } = await readModel(modelPath, io);
      const transforming = asTransforming<Input>(model);
      const { set } = await openData(dataName, options, session, { model });
      const x = await session.compute("transforming", options, (run) =>
        transforming.transform(inputOf(model, set), run),
      );
      await writeDataTo(options.out, { form: "matrix", x, ...(set.y ? { y: set.y } : {}) }, io);
      if (options.out === "-") return;
      const entries = x.form === "csr" ? x.entries : x.values.length;
      await session.print(
        "transform",
        { rows: x.rows, features: x.features, entries, out: options.out },
        () => `${count(x.rows)} rows × ${count(x.features)} filters, ${count(entries)} values, in ${options.out}\n`,
      );
    });
}
