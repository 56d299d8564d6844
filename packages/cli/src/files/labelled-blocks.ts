/** DATA block by block with its labels, wherever they are: in the rows, in a file of their own, or in one beside the rows. */

import { resolve } from "node:path";
import { type Model, RanksimError } from "@ranksim/core";
import { type DataSet, joinLabels, type RowLabels, readLabels, rowCount, siblingLabels } from "@ranksim/data";
import { fileSource } from "@ranksim/data/node";
import { type ReadingOptions, readOptions } from "../flags/reading-flags.ts";
import type { Session } from "../session.ts";
import { openBlocks, openLabels } from "./data-argument.ts";
import { dataNames } from "./data-names.ts";

/** Some rows, with labels where they have any. */
interface LabelledBlock {
  readonly data: DataSet;
  readonly y: RowLabels | undefined;
}

/**
 * Reads files in blocks, in order. Labels are read before, all of them: whether those of a table are numbers or words depends on the
 * last row as much as on the first.
 */
export async function* labelledBlocks(
  what: readonly string[],
  options: ReadingOptions,
  session: Session,
  model: Model,
  onRead: (bytes: number, total: number | undefined) => Promise<void>,
): AsyncGenerator<LabelledBlock> {
  const wanted = { model, labelled: true };
  const names = await dataNames(what, session.io.cwd);
  const files = options.labels === undefined ? await labelsOf(names, options, session, wanted, onRead) : undefined;
  const apart = options.labels === undefined ? undefined : await labelsIn(options.labels, options, session);
  const all = apart ?? (files && joinLabels(files.map(({ y }) => y)));
  let first = 0;
  for (const [j, name] of names.entries()) {
    const start = first;
    const own = files?.[j];
    for await (const { data } of openBlocks([name], options, session, wanted, onRead)) {
      const rows = rowCount(data);
      const end = own ? start + own.y.length : (all?.length ?? 0);
      if (all && first + rows > end)
        throw notOneEach(own?.y.length ?? all.length, "more rows", own?.name ?? (options.labels as string));
      yield { data, y: all && (all.slice(first, first + rows) as RowLabels) };
      first += rows;
    }
    if (own && own.y.length > first - start) throw notOneEach(own.y.length, `${first - start} rows`, own.name);
  }
  if (apart && apart.length > first) throw notOneEach(apart.length, `${first} rows`, options.labels as string);
}

/** Labels, and the file that has them. */
interface FileLabels {
  readonly name: string;
  readonly y: RowLabels;
}

/** The labels of each file, beside its rows or in them; undefined where no file has any. */
async function labelsOf(
  names: readonly string[],
  options: ReadingOptions,
  session: Session,
  wanted: { readonly model: Model; readonly labelled: boolean },
  onRead: (bytes: number, total: number | undefined) => Promise<void>,
): Promise<readonly FileLabels[] | undefined> {
  const { budget: _, ...reading } = readOptions(options);
  const found: FileLabels[] = [];
  for (const name of names) {
    const beside = await siblingLabels(await fileSource(resolve(session.io.cwd, name)));
    const y = beside ? await readLabels(beside, reading) : await openLabels(name, options, session, wanted, onRead);
    if (y) found.push({ name: beside?.name ?? name, y });
  }
  if (found.length === 0) return undefined;
  if (found.length === names.length) return found;
  throw new RanksimError(
    "bad-labels",
    `expected labels in all files or in none, found them in ${found.length} of ${names.length}`,
  );
}

async function labelsIn(name: string, options: ReadingOptions, session: Session): Promise<RowLabels> {
  const { budget: _, ...reading } = readOptions(options);
  return readLabels({ ...(await fileSource(resolve(session.io.cwd, name))), name }, reading);
}

function notOneEach(labels: number, rows: string, name: string): RanksimError {
  return new RanksimError("bad-file", `${name}: expected one label for each row, found ${labels} labels for ${rows}`);
}
