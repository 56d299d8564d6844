/** `ranksim transform`: rows as their similarities to a model's filters. */

import type { Matrix, Model } from "@ranksim/core";
import { type AnyRows, dataBlocks, isInMemory, type MatrixData, rowCount, writeFormatOf } from "@ranksim/data";
import { asTransforming, type Input, inputOf, madeBytes } from "@ranksim/learn";
import type { Command } from "commander";
import { openRows } from "../files/data-argument.ts";
import { checkWritable } from "../files/output.ts";
import { writeBlocksTo } from "../files/write-data.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import type { Io } from "../io.ts";
import { readModel } from "../model/store.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { count } from "../terminal/numbers.ts";

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
  addCommonOptions(addComputeOptions(addReadingOptions(command, io))).action(
    async (modelPath: string, dataName: string[], options: Options) => {
      const session = new Session(io, options);
      await checkWritable(options.out, io, [modelPath, ...dataName, options.labels]);
      if (options.out !== "-") writeFormatOf(options.out);
      const { model } = await readModel(modelPath, io, dataName);
      const made = (rows: AnyRows) => madeBytes(model, rowCount(rows));
      const { set } = await openRows(dataName, options, session, { model, labelled: "where known", made });
      const found = await transformRows(model, set, options, session);
      if (options.out === "-") return;
      const { rows, features, entries } = found;
      await session.print(
        "transform",
        { rows, features, entries, out: options.out },
        () => `${count(rows)} rows × ${count(features)} filters, ${count(entries)} values, in ${options.out}\n`,
      );
    },
  );
}

/** How much was written. */
interface Written {
  rows: number;
  features: number;
  entries: number;
}

/** Rows that do not fit in memory are written as they are made; those that do are one block. */
async function transformRows(model: Model, set: AnyRows, options: Options, session: Session): Promise<Written> {
  const transforming = asTransforming<Input>(model);
  const written = { rows: 0, features: 0, entries: 0 };
  const isWhole = isInMemory(set);
  await session.compute("transforming", options, async (run) => {
    const { backend, signal } = run;
    const all = rowCount(set);
    async function* transformed(): AsyncGenerator<MatrixData> {
      for await (const block of dataBlocks(set)) {
        const quiet = { backend, ...(signal ? { signal } : {}) };
        const x = await transforming.transform(inputOf(model, block), isWhole ? run : quiet);
        written.rows += x.rows;
        written.features = x.features;
        written.entries += entriesOf(x);
        if (!isWhole) await run.onShare(written.rows / all, "");
        yield { form: "matrix", x, ...(block.y ? { y: block.y } : {}) };
      }
    }
    await writeBlocksTo(options.out, transformed(), session.io);
  });
  return written;
}

const entriesOf = (x: Matrix): number => (x.form === "csr" ? x.entries : x.values.length);
