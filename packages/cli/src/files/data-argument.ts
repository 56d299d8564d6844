/**
 * The argument DATA: a file, a folder, standard input or the name of a data set becomes rows with their labels, and what a
 * command needs of them is checked here, with words about the flags that would help.
 */

import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { type Model, RanksimError, schemaOf } from "@ranksim/core";
import {
  catalogue,
  type DataSet,
  fileSource,
  findDataSet,
  loadDataSet,
  locateDataSet,
  openPath,
  type ReadDataOptions,
  readData,
  readLabels,
  stdinSource,
  withLabels,
} from "@ranksim/data/node";
import { type ReadingOptions, readOptions } from "../flags/reading-flags.ts";
import { stepsOf, takesText } from "../model/parts.ts";
import type { Session } from "../session.ts";
import { bytes } from "../terminal/numbers.ts";
import { readTextLines } from "./text-lines.ts";

/** What a command needs of the data. */
export interface Wanted {
  /** The model that will be asked: says whether text is wanted, and how many features. */
  readonly model?: Model;
  /** Whether text is wanted, where there is no model yet. */
  readonly text?: boolean;
  /** Whether rows must have labels; false where labels are of no use and may be wrong. */
  readonly labelled?: boolean;
}

/** Data and what to call it. */
export interface OpenedData {
  readonly set: DataSet;
  readonly name: string;
}

/** Reads DATA. */
export async function openData(
  what: string,
  options: ReadingOptions,
  session: Session,
  wanted: Wanted,
): Promise<OpenedData> {
  const text = wanted.model ? takesText(wanted.model) : wanted.text === true;
  const schema = wanted.model && schemaOf(wanted.model);
  const features = wanted.model && !text ? (stepsOf(wanted.model)[0] as { features?: number }).features : undefined;
  const reading: ReadDataOptions = {
    ...(features === undefined ? {} : { features }),
    ...(schema ? { schema, ...(wanted.labelled === false ? { labelColumn: null } : {}) } : {}),
    ...readOptions(options),
  };
  let set = await read(what, reading, text, session);
  if (options.labels !== undefined) {
    const source = await fileSource(resolve(session.io.cwd, options.labels));
    set = withLabels(set, await readLabels(source, reading), options.labels);
  }
  session.io.signal.throwIfAborted();
  for (const note of set.notes ?? []) await session.note(note);
  if (wanted.labelled && set.y === undefined) {
    throw new RanksimError(
      "bad-labels",
      `${what}: expected labels, found none; name their column with --label-column or their file with --labels`,
    );
  }
  if (features !== undefined && set.form === "matrix") checkWidth(what, set.x.features, features);
  return { set, name: nameOf(what) };
}

async function read(what: string, options: ReadDataOptions, text: boolean, { io }: Session): Promise<DataSet> {
  if (what === "-") {
    const source = stdinSource(io.stdin);
    return text && isPlain(options) ? readTextLines(source, options) : readData(source, withTextColumn(options, text));
  }
  const path = resolve(io.cwd, what);
  const found = await stat(path).catch(() => undefined);
  const choice = found ? undefined : findDataSet(what);
  if (choice) {
    const env = io.env;
    if (await locateDataSet(what, { env })) return loadDataSet(what, { ...options, env });
    const size = choice.sources[0].files.reduce((sum, file) => sum + (file.byteLength ?? Number.NaN), 0);
    throw new RanksimError(
      "bad-file",
      `${what} is not on this machine${Number.isNaN(size) ? "" : ` (${bytes(size)})`}; download it with: ranksim data fetch ${what}`,
    );
  }
  if (!found) {
    const names = catalogue.map((entry) => entry.name).join(", ");
    throw new RanksimError("bad-file", `${what}: no file, no folder and no data set of that name (${names})`);
  }
  if (text && found.isFile() && /\.txt$/i.test(what) && isPlain(options)) {
    return readTextLines(await fileSource(path), options);
  }
  // Errors name the data as the user did.
  const source = { ...(await openPath(path)), name: what };
  return readData(source, found.isFile() ? withTextColumn(options, text) : options);
}

/** Whether nothing says that the source is a table. */
const isPlain = ({ format, textColumn }: ReadDataOptions): boolean => format === undefined && textColumn === undefined;

/** Tables of text have it in the column "text", unless another is named. */
function withTextColumn(options: ReadDataOptions, text: boolean): ReadDataOptions {
  const known = options.textColumn ?? options.schema?.text;
  return text && known === undefined ? { ...options, textColumn: "text" } : options;
}

function checkWidth(what: string, found: number, expected: number): void {
  if (found === expected) return;
  const hint = found === expected + 1 ? "; if one column holds the labels, name it with --label-column" : "";
  throw new RanksimError("wrong-width", `${what}: the model has ${expected} features, the data has ${found}${hint}`);
}

function nameOf(what: string): string {
  return what === "-" ? "standard input" : basename(what);
}
