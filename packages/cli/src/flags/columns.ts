/** `--label` and `--columns name:role`: what the columns of DATA are. */

import { COLUMN_KINDS, type ColumnChoice, type ColumnKind } from "@ranksim/data";
import { type Command, InvalidArgumentError, Option } from "commander";
import { noteFor } from "./notes.ts";

/** What a column is for where it is no feature, and the option that readers and splits know it by. */
const ROLES = {
  label: "labelColumn",
  text: "textColumn",
  ignore: "ignoreColumns",
  group: "groupColumn",
  time: "timeColumn",
  weight: "weightColumn",
  id: "idColumn",
} as const;

/** What a column is for. */
export type Role = keyof typeof ROLES;

const ABOUT: { readonly [role in Role]: string } = {
  label: "label (what is to be learned)",
  text: "text",
  ignore: "ignore",
  group: "group (rows of one group, say a patient, are never on both sides of a split)",
  time: "time (the latest rows are those to judge by)",
  weight: "weight (a number above 0: how much each row counts in training)",
  id: "id (names the rows of the answers)",
};

const isRole = (text: string): text is Role => Object.hasOwn(ROLES, text);

/** Roles that every command with DATA knows. */
export const READING_ROLES: readonly Role[] = ["label", "text", "ignore"];

/** Adds --label and --columns, with these roles and, where columns are encoded, the kinds of columns. */
export function addColumnFlags(command: Command, roles: readonly Role[], { kinds = false, group = "" } = {}): Command {
  const known = [...roles, ...(kinds ? COLUMN_KINDS.filter((kind) => kind !== "ignore") : [])];
  const given = new Map<string, string>();
  const about = [
    ...roles.map((role) => ABOUT[role]),
    ...(kinds ? [`or a kind: ${COLUMN_KINDS.filter((kind) => kind !== "ignore").join(", ")}`] : []),
  ].join(", ");
  return command
    .addOption(
      new Option("-l, --label <column>", "column of labels, by name or number from 0, negative from the end")
        .argParser((text: string) => {
          assign(command, given, text, "label");
          return text;
        })
        .helpGroup(group),
    )
    .addOption(
      new Option("--columns <name:role>", `what a column is; repeatable. Roles: ${about}`)
        .argParser((text: string) => {
          for (const [name, role] of columnsIn(text, known)) assign(command, given, name, role);
          return kindsOf(given);
        })
        .helpGroup(group),
    );
}

/** One column and its role, or several separated by commas. */
function columnsIn(text: string, known: readonly string[]): [name: string, role: string][] {
  const parted = (part: string): [string, string] => {
    const colon = part.lastIndexOf(":");
    return [part.slice(0, colon), part.slice(colon + 1)];
  };
  const isOne = ([name, role]: [string, string]) => name !== "" && known.includes(role);
  const list = text.split(",").map(parted);
  if (list.every(isOne)) return list;
  // The name of a column may have commas.
  if (isOne(parted(text))) return [parted(text)];
  const wrong = text.split(",").find((part) => !isOne(parted(part)));
  throw new InvalidArgumentError(`Expected name:role with a role among ${known.join(", ")}, found ${wrong}.`);
}

/** The last one counts: of a column, and of a role that one column alone can have. */
function assign(command: Command, given: Map<string, string>, name: string, role: string): void {
  const isOther = (other: string, its: string) =>
    other === name ? its !== role : its === role && isRole(role) && role !== "ignore";
  for (const [other, its] of [...given]) {
    if (!isOther(other, its)) continue;
    given.delete(other);
    noteFor(command, `--columns ${name}:${role} takes the place of ${other}:${its}`);
  }
  given.set(name, role);
  for (const [each, option] of Object.entries(ROLES)) {
    const names = [...given].filter(([, its]) => its === each).map(([other]) => column(other));
    const value = each === "ignore" ? names : names[0];
    command.setOptionValueWithSource(option, names.length === 0 ? undefined : value, "cli");
  }
  command.setOptionValueWithSource("columns", kindsOf(given), "cli");
}

const kindsOf = (given: ReadonlyMap<string, string>) =>
  Object.fromEntries([...given].filter(([, role]) => !isRole(role))) as { readonly [name: string]: ColumnKind };

/** A column by number where the text is one, else by name. */
export function column(text: string): ColumnChoice {
  return /^-?\d+$/.test(text) ? Number(text) : text;
}
