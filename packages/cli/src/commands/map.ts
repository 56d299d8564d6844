/** `ranksim map`: rows laid out in a plane, on a page of its own. */

import { isClassifier, type Label } from "@ranksim/core";
import { type DataSet, rowCount } from "@ranksim/data";
import { asPredicting, type Input, inputOf, labelNamer, modelFor } from "@ranksim/learn";
import { asCompared, RankMap, SIMILARITIES, type Similarity } from "@ranksim/vq";
import { type Command, Option } from "commander";
import { openData } from "../files/data-argument.ts";
import { checkWritable, writeTo } from "../files/output.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import { wholeNumber } from "../flags/values.ts";
import type { Io } from "../io.ts";
import { readModel } from "../model/store.ts";
import type { Dot } from "../report/content.ts";
import { mapPage } from "../report/map-page.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { bytes, count } from "../terminal/numbers.ts";

type Options = ComputeOptions &
  ReadingOptions & {
    readonly out: string;
    readonly similarity: Similarity;
    readonly seed: number;
    readonly samples: number;
    readonly title?: string;
  };

/** Adds the command. */
export function addMap(program: Command, io: Io): void {
  const command = program
    .command("map")
    .summary("see all rows in one picture")
    .description(
      "Lays the rows out in a plane, rows that are alike together, as the model sees them, on one page that needs nothing else: dots are coloured by class, by how sure the model is, or by its mistakes; one that is pointed at tells which row it is.",
    )
    .argument("<model>", "model file")
    .argument("<data...>", DATA_ABOUT)
    .requiredOption("-o, --out <file>", "the page")
    .addOption(new Option("--similarity <name>", "what alike means").choices(SIMILARITIES).default("euclidean"))
    .addOption(
      new Option("--seed <n>", "seed for all random choices").argParser((text) => wholeNumber(text, 0)).default(0),
    )
    .addOption(
      new Option("--samples <n>", "rows that are drawn; all are laid out")
        .argParser((text) => wholeNumber(text, 1))
        .default(4000),
    )
    .option("--title <text>", "title of the page");
  addCommonOptions(addComputeOptions(addReadingOptions(command, io))).action(
    async (modelPath: string, dataName: string[], options: Options) => {
      const session = new Session(io, options);
      await checkWritable(options.out, io, [modelPath, ...dataName, options.labels]);
      const { model: stored } = await readModel(modelPath, io, dataName);
      const { set, name } = await openData(dataName, options, session, { model: stored });
      const model = modelFor(stored, set);
      const { similarity, seed, samples, title = `${name}, as a map` } = options;
      const dots = await session.compute("laying out", options, async (run) => {
        const quiet = { backend: run.backend, ...(run.signal ? { signal: run.signal } : {}) };
        const x = await asCompared(model, inputOf(model, set), quiet);
        const places = await new RankMap({ similarity, seed }).fitTransform(x, undefined, run);
        const predicting = isClassifier(model) ? asPredicting<Input>(model) : undefined;
        const given = await predicting?.predict(inputOf(model, set), quiet);
        const probabilities = await predicting?.predictProbabilities?.(inputOf(model, set), quiet);
        const rows = rowCount(set);
        // Rows spread evenly over all.
        const drawn = Array.from({ length: Math.min(rows, samples) }, (_, j) =>
          Math.floor((j * rows) / Math.min(rows, samples)),
        );
        return drawn.map((row): Dot => {
          const [x, y] = places.row(row);
          const most = probabilities && Math.max(...probabilities.row(row));
          return {
            ...{ row, x, y, label: nameOf(set, set.y?.[row]), given: nameOf(set, given?.[row]) },
            ...(most === undefined ? {} : { sureness: most }),
            ...(set.rowNames ? { name: set.rowNames[row] } : {}),
          };
        });
      });
      const page = new TextEncoder().encode(
        mapPage(title, `${count(rowCount(set))} rows by ${similarity} similarity, seed ${seed}`, dots),
      );
      await writeTo(options.out, [page], io);
      if (options.out === "-") return;
      await session.print(
        "map",
        { out: options.out, rows: rowCount(set), byteLength: page.length },
        () => `${options.out}  ${bytes(page.length)}\n`,
      );
    },
  );
}

/** A label, or several, as people call them. */
function nameOf(set: DataSet, label: Label | readonly Label[] | undefined): string | undefined {
  const name = labelNamer(set);
  return label === undefined
    ? undefined
    : [label]
        .flat()
        .map((one) => name(one as Label))
        .join(", ");
}
