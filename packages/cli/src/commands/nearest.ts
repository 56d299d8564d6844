/** `ranksim nearest`: the rows of one file that are most like those of another, as a model sees both. */

import type { Label } from "@ranksim/core";
import type { DataSet } from "@ranksim/data";
import { inputOf, labelNamer } from "@ranksim/learn";
import { asCompared, type KeptRowsModel, RankIndex, SIMILARITIES, type Similarity } from "@ranksim/vq";
import { type Command, Option } from "commander";
import { openData } from "../files/data-argument.ts";
import { checkWritable, writeTo } from "../files/output.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import { wholeNumber } from "../flags/values.ts";
import type { Io } from "../io.ts";
import { type Found, neighboursOf } from "../model/neighbours.ts";
import { readModel } from "../model/store.ts";
import type { ResultOf } from "../output.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { field } from "./answers.ts";

type Options = ComputeOptions &
  ReadingOptions & {
    readonly among?: string;
    readonly k: number;
    readonly similarity?: Similarity;
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
      "Finds, for each row, the rows most like it that the model keeps (keep-rows) or that --among names, as the model sees them: words of texts, codes of tables, patches of images. A table with a line for each of them; rows are counted from 0, and have their labels if there are any.",
    )
    .argument("<model>", "model file")
    .argument("<data...>", DATA_ABOUT)
    .option(
      "--among <data>",
      "the rows to look among, such as those the model was trained on (default: the rows it keeps)",
    )
    .addOption(new Option("--k <n>", "rows to find").argParser(number).default(5))
    .addOption(
      new Option("--similarity <name>", "what alike means")
        .choices(SIMILARITIES)
        .default(undefined, "spearman, or what the rows are kept for"),
    )
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
      const { model, kept } = await readModel(modelPath, io, dataName);
      const { among, similarity, k, probes } = options;
      if (among === undefined && !kept)
        throw usageError(
          `${modelPath} keeps no rows: name some with --among, or make a model that does with keep-rows`,
        );
      if (among === undefined && kept && similarity !== undefined && similarity !== kept.index.similarity)
        throw usageError(`--similarity: the rows are kept for ${kept.index.similarity}, found ${similarity}`);
      const { set } = await openData(dataName, options, session, { model, labelled: false });
      const { labels: _, ...unlabelled } = options;
      const known = among === undefined ? undefined : (await openData(among, unlabelled, session, { model })).set;
      const found = await session.compute("comparing", options, async (run): Promise<Found> => {
        const asked = { ...run, ...(probes === undefined ? {} : { probes }) };
        if (!known) return (kept as KeptRowsModel<unknown>).nearest(inputOf(model, set), k, asked);
        const at = (data: DataSet) => asCompared(model, inputOf(model, data), { backend: run.backend });
        const index = await new RankIndex(similarity ? { similarity } : {}).fit(await at(known), undefined, run);
        const near = await index.search(await at(set), k, asked);
        const { y } = known;
        return y ? { ...near, labels: Array.from(near.rows, (row) => y[row] as Label) } : near;
      });
      if (session.json) return session.print("nearest", asJson(found), () => "");
      await writeTo(options.out, [new TextEncoder().encode(asCsv(found, labelNamer(known ?? set)))], io);
    },
  );
}

function asCsv({ k, rows, similarities, labels }: Found, nameOf: (label: Label) => string): string {
  const names = (e: number) => [labels?.[e] ?? []].flat().map((label) => nameOf(label as Label));
  const lines = Array.from(rows, (row, e) => {
    const cells = [Math.floor(e / k), (e % k) + 1, row, similarities[e], ...(labels ? [names(e).join(",")] : [])];
    return cells.map((cell) => field(String(cell))).join(",");
  });
  return `${["row,place,neighbour,similarity", ...(labels ? ["label"] : [])].join(",")}\n${lines.map((line) => `${line}\n`).join("")}`;
}

function asJson(found: Found): ResultOf<"nearest"> {
  const { k, rows } = found;
  return { k, neighbours: Array.from({ length: rows.length / k }, (_, r) => neighboursOf(found, r)) };
}
