/** Messages of the library in the words of the page: what is said of columns is said at their heads. */

import { RanksimError } from "@ranksim/core";

const ROLES: { readonly [option: string]: string } = {
  labelColumn: "label",
  textColumn: "text",
  ignoreColumns: "ignore",
  groupColumn: "group",
  timeColumn: "time",
  weightColumn: "weight",
};

/** What went wrong, as a person reads it who sees columns and buttons. */
export function inPageWords(error: unknown): string {
  if (!(error instanceof RanksimError)) return error instanceof Error ? error.message : String(error);
  return error.messageWith((name, value) => {
    const role = ROLES[name];
    if (role) return `“${role}” at the head of ${value === undefined ? "a column" : `column ${value}`}`;
    return value === undefined ? name : `${name} ${value}`;
  });
}
