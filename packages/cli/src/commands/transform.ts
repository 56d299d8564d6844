/** `ranksim transform`: rows as their similarities to a model's filters. */

import type { Matrix, Model } from "@ranksim/core";
import { type DataSet, type MatrixData, rowCount, writeFormatOf } from "@ranksim/data";
import type { Command } from "commander";
import { withMemory } from "../agreement.ts";
import { openData } from "../files/data-argument.ts";
import { labelledBlocks } from "../files/labelled-blocks.ts";
import { wholeElseBlocks } from "../files/large-data.ts";
import { checkWritable } from "../files/output.ts";
import { writeBlocksTo } from "../files/write-data.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import type { Io } from "../io.ts";
import { asTransforming, madeBytes } from "../model/parts.ts";
import { type Input, inputOf } from "../model/passage.ts";
import { readModel } from "../model/store.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { bytes, count } from "../terminal/numbers.ts";
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
  addCommonOptions(addReadingOptions(addComputeOptions(command), { dividesMemory: true }))
    .addHelpText("after", exampleText("transform"))
    .action(async (modelPath: string, dataName: string[], options: Options) => {
      const session = new Session(io, options);
      await checkWritable(options.out, io, [modelPath, ...dataName, options.labels]);
      if (options.out !== "-") writeFormatOf(options.out);
      const { model } = await readModel(modelPath, io, dataName);
      const found = await wholeElseBlocks(dataName, options, io, {
        read: (memory) => openData(dataName, withMemory(options, memory, io), session, { model }),
        made: ({ set }) => madeBytes(model, rowCount(set)),
        whole: ({ set }, memory) => transformWhole(model, set, withMemory(options, memory, io), session),
        blocks: (memory) => transformBlocks(model, dataName, withMemory(options, memory, io), session),
      });
      if (options.out === "-") return;
      const { rows, features, entries } = found;
      await session.print(
        "transform",
        { rows, features, entries, out: options.out },
        () => `${count(rows)} rows × ${count(features)} filters, ${count(entries)} values, in ${options.out}\n`,
      );
    });
}

/** How much was written. */
interface Written {
  rows: number;
  features: number;
  entries: number;
}

async function transformWhole(model: Model, set: DataSet, options: Options, session: Session): Promise<Written> {
  const transforming = asTransforming<Input>(model);
  const x = await session.compute("transforming", options, (run) => transforming.transform(inputOf(model, set), run));
  // As one block, so that the file is the same as that of rows that come in several.
  const rows: MatrixData = { form: "matrix", x, ...(set.y ? { y: set.y } : {}) };
  await writeBlocksTo(options.out, [rows], session.io);
  return { rows: x.rows, features: x.features, entries: entriesOf(x) };
}

/** Rows that do not fit in memory are written as they come. */
async function transformBlocks(
  model: Model,
  dataName: readonly string[],
  options: Options,
  session: Session,
): Promise<Written> {
  const transforming = asTransforming<Input>(model);
  const written = { rows: 0, features: 0, entries: 0 };
  await session.compute("transforming", options, async (run) => {
    const { backend, signal } = run;
    const show = (read: number, total: number | undefined) =>
      run.onShare(total ? Math.min(read / total, 0.999) : 0, total === 1 ? "" : bytes(read));
    async function* transformed(): AsyncGenerator<MatrixData> {
      for await (const { data, y } of labelledBlocks(dataName, options, session, model, show)) {
        const quiet = { backend, ...(signal ? { signal } : {}) };
        const x = await transforming.transform(inputOf(model, data), quiet);
        written.rows += x.rows;
        written.features = x.features;
        written.entries += entriesOf(x);
        yield { form: "matrix", x, ...(y ? { y } : {}) };
      }
    }
    await writeBlocksTo(options.out, transformed(), session.io);
  });
  return written;
}

const entriesOf = (x: Matrix): number => (x.form === "csr" ? x.entries : x.values.length);
