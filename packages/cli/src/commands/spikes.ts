/** `ranksim spikes`: a classifier as a network of spiking neurons. */

import { type Label, toDense } from "@ranksim/core";
import type { ImageSize } from "@ranksim/data";
import { labelNamer } from "@ranksim/learn";
import { type Command, Option } from "commander";
import { openData } from "../files/data-argument.ts";
import { checkWritable, writeTo } from "../files/output.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import { wholeNumber } from "../flags/values.ts";
import type { Io } from "../io.ts";
import { imageSizeOf, parseImageSize } from "../model/image-size.ts";
import { readModel } from "../model/store.ts";
import { addCommonOptions, type CommonOptions, Session } from "../session.ts";
import { bytes, count, percent } from "../terminal/numbers.ts";

type Options = CommonOptions &
  ReadingOptions & {
    readonly out: string;
    readonly rows: number;
    readonly row: number;
    readonly image?: ImageSize | "none";
  };

/** Adds the command. */
export function addSpikes(program: Command, io: Io): void {
  const number = (least: number) => (text: string) => wholeNumber(text, least);
  const command = program
    .command("spikes")
    .summary("run a classifier as a network of spikes")
    .description(
      "Runs a classifier as a network of spiking neurons, in whole numbers: features spike once, the sooner the larger they are, and the potential of a filter ends as its response. Makes a page with the class over time, the spikes that an exact early stop saves, and one row in motion.",
    )
    .argument("<model>", "model file")
    .argument("<data>", DATA_ABOUT)
    .option("-o, --out <file>", "where the page goes; - for standard output", "spikes.html")
    .addOption(new Option("--rows <n>", "rows simulated at most").argParser(number(1)).default(1000))
    .addOption(new Option("--row <i>", "the row shown in motion, from 0").argParser(number(0)).default(0))
    .addOption(
      new Option("--image <WxH>", "rows are images of this size; none if they are not").argParser(parseImageSize),
    );
  addCommonOptions(addReadingOptions(command, io)).action((modelPath: string, dataName: string, options: Options) =>
    spikes(modelPath, dataName, options, io),
  );
}

async function spikes(modelPath: string, dataName: string, options: Options, io: Io): Promise<void> {
  const session = new Session(io, options);
  await checkWritable(options.out, io, [modelPath, dataName, options.labels]);
  const [{ simulateSpikes, summarizeSpikes, traceSpikes }, { spikesPage }] = await Promise.all([
    import("@ranksim/export"),
    import("../report/spikes-page.ts"),
  ]);
  const { model, name: modelName } = await readModel(modelPath, io, [dataName]);
  const { set, name } = await openData(dataName, options, session, { model });
  if (set.form !== "matrix") throw usageError(`${dataName}: expected rows of numbers, found text`);
  const rows = Math.min(options.rows, set.x.rows);
  if (options.row >= set.x.rows) {
    throw usageError(`--row: expected a row from 0 below ${set.x.rows}, found ${options.row}`);
  }
  const run = await session.metered("simulating", (meter) =>
    simulateSpikes(model, set.x.slice(0, rows), {
      onProgress: async (share) => {
        session.io.signal.throwIfAborted();
        await meter.onProgress({ stage: "predict", share });
      },
    }),
  );
  const y = set.y === undefined ? undefined : Array.from(set.y as ArrayLike<Label>).slice(0, rows);
  const summary = summarizeSpikes(run, y);
  const { values } = toDense(set.x.slice(options.row, options.row + 1));
  const trace = traceSpikes(model, values);
  const nameOf = labelNamer(set);
  const page = spikesPage({
    modelName,
    dataName: name,
    filters: run.filters,
    rows,
    isLabelled: y !== undefined,
    summary,
    shown: {
      row: options.row,
      values,
      truth: set.y === undefined ? undefined : nameOf(set.y[options.row] as Label),
      given: nameOf(trace.racers[0].label),
      trace,
    },
    imageSize: imageSizeOf(set, set.x.features, options.image),
    nameOf,
  });
  const content = new TextEncoder().encode(page);
  await writeTo(options.out, [content], io);
  if (options.out === "-") return;
  const end = summary.curve[summary.curve.length - 1];
  await session.print("spikes", { out: options.out, byteLength: content.length, rows, ...summary }, () =>
    [
      `${options.out}  ${bytes(content.length)}`,
      `${count(rows)} rows, ${y ? `accuracy ${percent(end.accuracy)}` : "no labels"}; certain after ${percent(summary.spikesNeeded / Math.max(1, summary.spikes))} of their spikes`,
      "",
    ].join("\n"),
  );
}
