/** DATA block by block with its labels, wherever they are: in the rows, in a file of their own, or in one beside the rows. */

import { resolve } from "node:path";
import { type Model, RanksimError } from "@ranksim/core";
import { type DataSet, type RowLabels, readLabels, rowCount, siblingLabels } from "@ranksim/data";
import { fileSource } from "@ranksim/data/node";
import { type ReadingOptions, readOptions } from "../flags/reading-flags.ts";
import type { Session } from "../session.ts";
import { openBlocks } from "./data-argument.ts";
import { dataNames } from "./data-names.ts";

/** Some rows, with labels where they have any. */
interface LabelledBlock {
  readonly data: DataSet;
  readonly y: RowLabels | undefined;
}

/** Reads files in blocks, in order. Labels of a file of their own are read whole. */
export async function* labelledBlocks(
  what: readonly string[],
  options: ReadingOptions,
  session: Session,
  model: Model,
  onRead: (bytes: number, total: number | undefined) => Promise<void>,
): AsyncGenerator<LabelledBlock> {
  const { cwd } = session.io;
  const apart = options.labels && { ...(await fileSource(resolve(cwd, options.labels))), name: options.labels };
  const { budget: _, ...reading } = readOptions(options);
  const all = apart && (await readLabels(apart, reading));
  let first = 0;
  for (const name of await dataNames(what, cwd)) {
    const beside = apart ? undefined : await siblingLabels(await fileSource(resolve(cwd, name)));
    const own = beside && (await readLabels(beside, reading));
    let row = 0;
    for await (const { data } of openBlocks([name], options, session, { model, labelled: true }, onRead)) {
      const rows = rowCount(data);
      const y = all ? slice(all, first, rows) : own ? slice(own, row, rows) : data.y;
      if (y && y.length < rows) throw notOneEach((all ?? own ?? y).length, "more rows", options.labels ?? name);
      yield { data, y };
      first += rows;
      row += rows;
    }
    if (own && own.length > row) throw notOneEach(own.length, `${row} rows`, beside.name);
  }
  if (all && all.length > first) throw notOneEach(all.length, `${first} rows`, options.labels as string);
}

const slice = (y: RowLabels, from: number, rows: number): RowLabels => y.slice(from, from + rows) as RowLabels;

function notOneEach(labels: number, rows: string, name: string): RanksimError {
  return new RanksimError("bad-file", `${name}: expected one label for each row, found ${labels} labels for ${rows}`);
}
