/** The options for reading DATA, and the reader options they stand for. */

import { Budget, type ColumnChoice, type Format, type ImageSize, type ReadOptions, type TextPart } from "@ranksim/data";
import type { Command } from "commander";
import type { Io } from "../io.ts";
import { addColumnFlags, READING_ROLES, type Role } from "./columns.ts";
import { SETTINGS } from "./parameters.ts";
import { addOwnFlags, addSet } from "./settings.ts";

/** What DATA may be; the same words in every command's help. */
export const DATA_ABOUT =
  "a file, a folder, - for standard input, or a data set by name (digits, fashion-mnist:test); several files and patterns ('part-*.csv', '*.png') are read as one";

/** The reading options as commander gives them. */
export interface ReadingOptions {
  readonly labels?: string;
  readonly metadata?: string;
  readonly layer?: string;
  readonly labelColumn?: ColumnChoice;
  readonly textColumn?: ColumnChoice;
  readonly ignoreColumns?: readonly ColumnChoice[];
  readonly groupColumn?: ColumnChoice;
  readonly timeColumn?: ColumnChoice;
  readonly weightColumn?: ColumnChoice;
  readonly columns?: ReadOptions["columns"];
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
  /** Whether the data is a table, where that is said. */
  readonly table?: boolean;
}

/** The heading of flags about DATA. */
export const DATA = "Data:";

const GROUPS = ["reading"] as const;

/** Options of readers that are passed on as they are given. */
const PASSED = [
  ...SETTINGS.filter(({ group, name }) => group === "reading" && !["labels", "metadata", "memory"].includes(name)).map(
    ({ name }) => name,
  ),
  ...["labelColumn", "textColumn", "ignoreColumns", "groupColumn", "timeColumn", "weightColumn", "columns"],
] as (keyof ReadingOptions)[];

/** Adds the flags of DATA. */
export function addReadingOptions(command: Command, io: Io, roles: readonly Role[] = READING_ROLES): Command {
  addColumnFlags(command, roles, { group: DATA });
  return addSet(addOwnFlags(command, "reading", DATA, io), GROUPS, DATA, io);
}

/** The options in the form the readers take, without those that were not given. */
export function readOptions(options: ReadingOptions): ReadOptions {
  const given = PASSED.filter((name) => options[name] !== undefined);
  const budget = options.memory === undefined ? {} : { budget: new Budget(options.memory) };
  return { ...Object.fromEntries(given.map((name) => [name, options[name]])), ...budget };
}
