/** The options for reading DATA, and the reader options they stand for. */

import {
  Budget,
  type ColumnChoice,
  FORMATS,
  type Format,
  type ImageSize,
  parseBytes,
  type ReadOptions,
  type TextPart,
} from "@ranksim/data";
import { type Command, InvalidArgumentError, Option } from "commander";
import { wholeNumber } from "./parameter-flags.ts";
import type { ColumnsGiven, TableOptions } from "./table-flags.ts";

/** What DATA may be; the same words in every command's help. */
export const DATA_ABOUT =
  "a file, a folder, - for standard input, or a data set by name (digits, fashion-mnist:test); several files and patterns ('part-*.csv', '*.png') are read as one";

/** The reading options as commander gives them. */
export interface ReadingOptions {
  readonly labels?: string;
  readonly labelColumn?: ColumnChoice;
  readonly textColumn?: ColumnChoice;
  readonly ignoreColumns?: readonly ColumnChoice[];
  readonly format?: Format;
  readonly header?: boolean;
  readonly delimiter?: string;
  readonly missing?: "refuse" | "mean" | number;
  readonly multilabel?: boolean;
  readonly arrays?: { readonly x?: string; readonly y?: string };
  readonly features?: number;
  readonly firstFeature?: 0 | 1;
  readonly encoding?: "utf-8" | "latin1";
  readonly remove?: readonly TextPart[];
  readonly under?: string;
  readonly colour?: boolean;
  readonly resize?: ImageSize;
  readonly images?: ImageSize | "square";
  readonly memory?: number;
}

/** The names of the options, as the readers' messages use them. */
export const READING_NAMES = [
  "labels",
  "labelColumn",
  "textColumn",
  "ignoreColumns",
  "format",
  "header",
  "delimiter",
  "missing",
  "multilabel",
  "arrays",
  "features",
  "firstFeature",
  "encoding",
  "remove",
  "under",
  "colour",
  "resize",
  "images",
] as const satisfies readonly (keyof ReadingOptions)[];

const GROUP = "Reading DATA:";

/** Adds the reading options. `dividesMemory`: whether processes of one machine divide what it has. */
export function addReadingOptions(command: Command, { dividesMemory = false } = {}): Command {
  const add = (flags: string, about: string, parse?: (text: string) => unknown, choices?: readonly string[]) => {
    const option = new Option(flags, about).helpGroup(GROUP);
    if (choices) option.choices(choices);
    if (parse) option.argParser(parse);
    command.addOption(option);
  };
  add("--labels <file>", "labels in a file of their own, one for each row");
  add("--label-column <c>", "column that holds the labels, by name or number from 0, negative from the end", column);
  add("--text-column <c>", "column that holds text", column);
  add("--ignore-columns <list>", "columns to leave out, separated by commas", (text) => text.split(",").map(column));
  add("--format <name>", "format (default: detected from name and content)", undefined, FORMATS);
  add("--header", "the first line names the columns (default: detected)");
  add("--no-header", "the first line is data");
  add("--delimiter <character>", "what separates columns (default: detected)", delimiter);
  add("--missing <refuse|mean|n>", "missing values: refuse (default), fill with the mean or a number", missing);
  add("--multilabel", "rows have several labels, separated by commas");
  add("--arrays <x[,y]>", "NPZ: names of the arrays with rows and labels", arrays);
  add("--features <n>", "svmlight: number of features (default: the largest that occurs)", (text) =>
    wholeNumber(text, 1),
  );
  add("--first-feature <n>", "svmlight: number of the first feature, 0 or 1 (default: detected)", firstFeature);
  add("--encoding <name>", "how text is stored: utf-8 (default) or latin1", undefined, ["utf-8", "latin1"]);
  add("--remove <parts>", "newsgroup posts: headers, footers, quotes, separated by commas", textParts);
  add("--under <path>", "folders and archives: only files below this path");
  add("--colour", "image folders: keep red, green and blue (default: colours become grey)");
  add("--resize <WxH>", "image folders: make all images this size", imageSize);
  add("--images <WxH|square>", "rows of numbers are images of this size", (text) =>
    text === "square" ? text : imageSize(text),
  );
  add(
    "--memory <size>",
    `memory that reading may take, such as 2GB (default: half of the free memory${dividesMemory ? ", divided by the processes of a machine" : ""})`,
    memory,
  );
  return command;
}

/** The options in the form the readers take, without those that were not given. */
export function readOptions(options: ReadingOptions & TableOptions): ReadOptions {
  const given = READING_NAMES.filter((name) => name !== "labels" && options[name] !== undefined);
  const budget = options.memory === undefined ? {} : { budget: new Budget(options.memory) };
  return {
    ...rolesGiven(options.columns),
    ...Object.fromEntries(given.map((name) => [name, options[name]])),
    ...budget,
  };
}

/** The columns of labels and text, and those to leave out, that --columns names. */
function rolesGiven(columns: ColumnsGiven = {}): ReadOptions {
  const of = (role: string) => Object.keys(columns).filter((name) => columns[name] === role);
  const [[label], [text], ignored] = [of("label"), of("text"), of("ignore")];
  return {
    ...(label === undefined ? {} : { labelColumn: label }),
    ...(text === undefined ? {} : { textColumn: text }),
    ...(ignored.length === 0 ? {} : { ignoreColumns: ignored }),
  };
}

/** A column by number where the text is one, else by name. */
export function column(text: string): ColumnChoice {
  return /^-?\d+$/.test(text) ? Number(text) : text;
}

function delimiter(text: string): string {
  const named: { readonly [name: string]: string } = { tab: "\t", "\\t": "\t", comma: ",", semicolon: ";", space: " " };
  const character = named[text] ?? text;
  if (character.length !== 1)
    throw new InvalidArgumentError("Expected one character, or tab, comma, semicolon, space.");
  return character;
}

function missing(text: string): "refuse" | "mean" | number {
  if (text === "refuse" || text === "mean") return text;
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value))
    throw new InvalidArgumentError("Expected refuse, mean or a number.");
  return value;
}

function arrays(text: string): { x?: string; y?: string } {
  const [x, y] = text.split(",");
  return { ...(x ? { x } : {}), ...(y ? { y } : {}) };
}

function firstFeature(text: string): 0 | 1 {
  if (text !== "0" && text !== "1") throw new InvalidArgumentError("Expected 0 or 1.");
  return Number(text) as 0 | 1;
}

function imageSize(text: string): ImageSize {
  const found = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/i.exec(text);
  if (!found) throw new InvalidArgumentError("Expected WIDTHxHEIGHT in pixels, each from 1 to 99999, such as 28x28.");
  return { width: Number(found[1]), height: Number(found[2]) };
}

function memory(text: string): number {
  const bytes = parseBytes(text);
  if (bytes === undefined) throw new InvalidArgumentError("Expected a size such as 500MB, 2GB or 1.5GiB.");
  return bytes;
}

function textParts(text: string): TextPart[] {
  return text.split(",").map((part) => {
    if (part !== "headers" && part !== "footers" && part !== "quotes") {
      throw new InvalidArgumentError("Expected headers, footers, quotes, separated by commas.");
    }
    return part;
  });
}
