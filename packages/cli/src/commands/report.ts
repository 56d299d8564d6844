/** `ranksim report`: one page that shows what a model has learned and how well it does. */

import { isClassifier } from "@ranksim/core";
import { type ImageSize, rowCount } from "@ranksim/data";
import { filterPart, inputOf } from "@ranksim/learn";
import { asCompared, RankMap } from "@ranksim/vq";
import { type Command, Option } from "commander";
import { openData } from "../files/data-argument.ts";
import { checkWritable, writeTo } from "../files/output.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import { wholeNumber } from "../flags/values.ts";
import type { Io } from "../io.ts";
import { imageSizeOf, parseImageSize } from "../model/image-size.ts";
import { seenIn, seenNotes } from "../model/seen-rows.ts";
import { readModel } from "../model/store.ts";
import { provenanceOf } from "../provenance.ts";
import { makeReport } from "../report/make.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { bytes } from "../terminal/numbers.ts";

type Options = ComputeOptions &
  ReadingOptions & {
    readonly out: string;
    readonly title?: string;
    readonly image?: ImageSize | "none";
    readonly samples: number;
  };

/** Adds the command. */
export function addReport(program: Command, io: Io): void {
  const command = program
    .command("report")
    .summary("make a page that shows a model at work")
    .description(
      "Makes one HTML page, complete in itself: scores, confusion matrix, reliability of probabilities, the filters of each class as pictures or words, rows with their strongest filters, the mistakes made with most confidence, the rows most like them if the model keeps rows, a map of the rows, training and parameters.",
    )
    .argument("<model>", "model file")
    .argument("<data...>", DATA_ABOUT)
    .option("-o, --out <file>", "where the page goes; - for standard output", "report.html")
    .option("--title <text>", "title of the page")
    .addOption(
      new Option("--image <WxH>", "rows are images of this size; none if they are not").argParser(parseImageSize),
    )
    .addOption(
      new Option("--samples <n>", "rows and mistakes shown at most")
        .argParser((text: string) => wholeNumber(text, 0))
        .default(10),
    );
  addCommonOptions(addComputeOptions(addReadingOptions(command, io))).action(
    async (modelPath: string, dataName: string[], options: Options, own: Command) => {
      const session = new Session(io, options);
      await checkWritable(options.out, io, [modelPath, ...dataName, options.labels]);
      const stored = await readModel(modelPath, io, dataName);
      const data = await openData(dataName, options, session, { model: stored.model });
      const isJudged = isClassifier(stored.model) && data.set.y !== undefined;
      const notes = isJudged ? seenNotes(seenIn(stored.model, data.set), rowCount(data.set)) : [];
      for (const note of notes) await session.note(note);
      const { page, content } = await session.compute("reporting", options, (run) =>
        makeReport(
          {
            ...stored,
            modelName: stored.name,
            data: data.set,
            dataName: data.name,
            imageSize: imageSizeOf(data.set, filterPart(stored.model)?.part.features, options.image),
            samples: options.samples,
            notes,
            layOut: async (rows, own) => {
              const x = await asCompared(stored.model, inputOf(stored.model, rows), own);
              return new RankMap().fitTransform(x, undefined, own);
            },
            provenance: provenanceOf(own, io),
            ...(options.title === undefined ? {} : { title: options.title }),
          },
          run,
        ),
      );
      const bytesOfPage = new TextEncoder().encode(page);
      await writeTo(options.out, [bytesOfPage], io);
      if (options.out === "-") return;
      const scores = content.judgement && {
        accuracy: content.judgement.report.accuracy,
        macroF1: content.judgement.report.macro.f1,
      };
      await session.print(
        "report",
        { out: options.out, byteLength: bytesOfPage.length, ...scores },
        () => `${options.out}  ${bytes(bytesOfPage.length)}\n`,
      );
    },
  );
}
