/** `ranksim nearest`: the rows of one file that are most like those of another, as a model sees both. */

import type { Label } from "@ranksim/core";
import type { DataSet } from "@ranksim/data";
import { labelNamer, passThrough } from "@ranksim/learn";
import { type Neighbours, RankIndex, SIMILARITIES, type Similarity } from "@ranksim/vq";
import { type Command, Option } from "commander";
import { openData } from "../files/data-argument.ts";
import { checkWritable, writeTo } from "../files/output.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import { wholeNumber } from "../flags/values.ts";
import type { Io } from "../io.ts";
import { readModel } from "../model/store.ts";
import type { ResultOf } from "../output.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { field } from "./answers.ts";

type Options = ComputeOptions &
  ReadingOptions & {
    readonly among: string;
    readonly k: number;
    readonly similarity: Similarity;
    readonly probes?: number;
    readonly out: string;
  };

/** Adds the command. */
export function addNearest(program: Command, io: Io): void {
  const number = (text: string) => wholeNumber(text, 1);
  const command = program
    .command("nearest")
    .summary("find the rows most like others")
    .description(
      "Finds, for each row, the rows of --among that are most like it, as the model sees them: words of texts, codes of tables, patches of images. A table with a line for each of them; rows are counted from 0, and have the labels of --among if it has any.",
    )
    .argument("<model>", "model file")
    .argument("<data...>", DATA_ABOUT)
    .requiredOption("--among <data>", "the rows to look among, such as those the model was trained on")
    .addOption(new Option("--k <n>", "rows to find").argParser(number).default(5))
    .addOption(new Option("--similarity <name>", "what alike means").choices(SIMILARITIES).default("spearman"))
    .addOption(
      new Option("--probes <n>", "look in the lists of so many filters only: faster, and most are found").argParser(
        number,
      ),
    )
    .option("-o, --out <file>", "where the table goes, as CSV", "-");
  addCommonOptions(addComputeOptions(addReadingOptions(command, io))).action(
    async (modelPath: string, dataName: string[], options: Options) => {
      const session = new Session(io, options);
      await checkWritable(options.out, io, [modelPath, ...dataName, options.among, options.labels]);
      const { model } = await readModel(modelPath, io, dataName);
      const { set } = await openData(dataName, options, session, { model, labelled: false });
      const { labels: _, ...unlabelled } = options;
      const { set: known } = await openData(options.among, unlabelled, session, { model, labelled: false });
      const { similarity, k, probes } = options;
      const found = await session.compute("comparing", options, async (run) => {
        const at = async (data: DataSet) => (await passThrough(model, data, { backend: run.backend })).atFilters;
        const index = await new RankIndex({ similarity }).fit(await at(known), undefined, run);
        return index.search(await at(set), k, { ...run, ...(probes === undefined ? {} : { probes }) });
      });
      if (session.json) return session.print("nearest", asJson(found, known), () => "");
      await writeTo(options.out, [new TextEncoder().encode(asCsv(found, known))], io);
    },
  );
}

function asCsv({ k, rows, similarities }: Neighbours, known: DataSet): string {
  const names = known.y && namesOf(known);
  const lines = Array.from(rows, (row, e) => {
    const cells = [Math.floor(e / k), (e % k) + 1, row, similarities[e], ...(names ? [names(row)] : [])];
    return cells.map((cell) => field(String(cell))).join(",");
  });
  return `${["row,place,neighbour,similarity", ...(names ? ["label"] : [])].join(",")}\n${lines.map((line) => `${line}\n`).join("")}`;
}

/** The label of a row by its name, several of them with commas between. */
function namesOf(known: DataSet): (row: number) => string {
  const nameOf = labelNamer(known);
  return (row) =>
    [known.y?.[row] ?? []]
      .flat()
      .map((label) => nameOf(label as Label))
      .join(",");
}

function asJson({ k, rows, similarities }: Neighbours, known: DataSet): ResultOf<"nearest"> {
  const neighbours = Array.from({ length: rows.length / k }, (_, r) =>
    Array.from(rows.subarray(r * k, (r + 1) * k), (row, j) => ({
      row,
      similarity: similarities[r * k + j],
      ...(known.y ? { label: known.y[row] } : {}),
    })),
  );
  return { k, neighbours };
}
