/** Flags about tables: what their columns are, whether rows are one, and the parameters of the encoder. */

import { COLUMN_KINDS, type ColumnKind, TABLE_PARAMETERS } from "@ranksim/data";
import { type Command, InvalidArgumentError, Option } from "commander";
import { aboutParameter, addFlags, flagOf } from "./parameter-flags.ts";

/** What --columns says: the kind of a column, or that it holds labels or text. */
export type ColumnsGiven = { readonly [name: string]: ColumnKind | "label" | "text" };

/** The options about tables as commander gives them. */
export interface TableOptions {
  readonly columns?: ColumnsGiven;
  readonly table?: boolean;
}

const GROUP = "Tables:";
const KINDS: readonly string[] = [...COLUMN_KINDS, "label", "text"];

/** Adds --columns, --table and a flag for each parameter of the encoder. */
export function addTableFlags(command: Command): Command {
  command.addOption(
    new Option(
      "--columns <list>",
      `what columns are, petal:number,species:label,id:ignore (default: detected from the cells). Kinds: ${KINDS.join(", ")}`,
    )
      .argParser(columnsGiven)
      .helpGroup(GROUP),
  );
  command.addOption(
    new Option(
      "--table",
      "columns have units of their own and are encoded (default: detected from names and cells)",
    ).helpGroup(GROUP),
  );
  command.addOption(new Option("--no-table", "columns have one unit and stay as they are").helpGroup(GROUP));
  addFlags(command, TABLE_PARAMETERS, GROUP, (info) => aboutParameter(info));
  return command;
}

/** The parameters of the encoder that were given. */
export function givenTableParams(options: { readonly [name: string]: unknown }): { readonly [name: string]: unknown } {
  return Object.fromEntries(
    TABLE_PARAMETERS.filter(({ name }) => options[name] !== undefined).map(({ name }) => [name, options[name]]),
  );
}

/** The flags of the encoder among the options, for a refusal where there is no table. */
export function givenTableFlags(options: { readonly [name: string]: unknown }): string[] {
  return Object.keys(givenTableParams(options)).map(flagOf);
}

function columnsGiven(text: string): ColumnsGiven {
  return Object.fromEntries(
    text.split(",").map((part) => {
      const colon = part.lastIndexOf(":");
      const [name, kind] = [part.slice(0, colon), part.slice(colon + 1)];
      if (colon < 1 || !KINDS.includes(kind)) {
        throw new InvalidArgumentError(`Expected name:kind with a kind among ${KINDS.join(", ")}, found ${part}.`);
      }
      return [name, kind as ColumnKind];
    }),
  );
}
