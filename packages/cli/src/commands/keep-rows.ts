/** `ranksim keep-rows`: a model together with rows, so that its answers can be seen by the rows most like the one asked about. */

import { rowCount } from "@ranksim/data";
import { inputOf } from "@ranksim/learn";
import { keepRows, SIMILARITIES, type Similarity } from "@ranksim/vq";
import { type Command, Option } from "commander";
import { openData } from "../files/data-argument.ts";
import { checkWritable } from "../files/output.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import type { Io } from "../io.ts";
import { readModel, writeModel } from "../model/store.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { bytes, counted } from "../terminal/numbers.ts";

type Options = ComputeOptions & ReadingOptions & { readonly model: string; readonly similarity: Similarity };

/** Adds the command. */
export function addKeepRows(program: Command, io: Io): void {
  const command = program
    .command("keep-rows")
    .summary("put rows beside a model, to explain its answers by")
    .description(
      "Writes a model together with rows, such as those it was trained on, as the model sees them. It answers as before; nearest, explain, report and serve then also name the rows most like one. The file holds the rows: give it to nobody who may not see them.",
    )
    .argument("<model>", "model file")
    .argument("<data...>", DATA_ABOUT)
    .requiredOption("-m, --model <file>", "where the model with its rows goes; - for standard output")
    .addOption(new Option("--similarity <name>", "what alike means").choices(SIMILARITIES).default("spearman"));
  addCommonOptions(addComputeOptions(addReadingOptions(command, io))).action(
    async (modelPath: string, dataName: string[], options: Options) => {
      const session = new Session(io, options);
      await checkWritable(options.model, io, [modelPath, ...dataName, options.labels]);
      const { model, kept } = await readModel(modelPath, io, dataName);
      if (kept) throw usageError(`${modelPath} keeps rows already: give the model it was made of`);
      const { set } = await openData(dataName, options, session, { model });
      const { similarity } = options;
      const whole = await session.compute("keeping rows", options, (run) =>
        keepRows(model, inputOf(model, set), set.y, { similarity, ...run }),
      );
      const stored = await writeModel(whole, options.model, io);
      if (options.model === "-") return;
      const rows = rowCount(set);
      await session.print(
        "keep-rows",
        { model: options.model, rows, byteLength: stored.byteLength },
        () => `${options.model}  ${bytes(stored.byteLength)}, with ${counted(rows, "row")}\n`,
      );
    },
  );
}
