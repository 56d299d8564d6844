/** Tables of text: columns aligned by spaces, a thin line under the head. Cells may carry colour codes. */

import { displayWidth, type Style } from "./style.ts";

/** A column of a table. */
export interface Column {
  readonly head: string;
  /** Numbers stand right, everything else left (default). */
  readonly align?: "left" | "right";
}

const GAP = "  ";

/** The table as lines, each ended. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[], style: Style): string {
  const widths = columns.map(({ head }, c) =>
    Math.max(displayWidth(head), ...rows.map((row) => displayWidth(row[c] ?? ""))),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, c) => {
        const space = " ".repeat(Math.max(0, widths[c] - displayWidth(cell)));
        return columns[c].align === "right" ? space + cell : cell + space;
      })
      .join(GAP)
      .trimEnd();
  const head = line(columns.map((column) => column.head));
  const rule = widths.map((width) => "─".repeat(width)).join(GAP);
  return [style.strong(head), style.faint(rule), ...rows.map(line)].map((text) => `${text}\n`).join("");
}

/** Names and values in two columns, without a head. Pairs of an undefined value are left out. */
export function pairs(entries: readonly (readonly [name: string, value: string | undefined])[], style: Style): string {
  const shown = entries.filter((entry): entry is readonly [string, string] => entry[1] !== undefined);
  const width = Math.max(0, ...shown.map(([name]) => displayWidth(name)));
  return shown
    .map(([name, value]) => {
      const indent = " ".repeat(width + GAP.length);
      return `${style.faint(name)}${" ".repeat(width - displayWidth(name))}${GAP}${value.replaceAll("\n", `\n${indent}`)}\n`;
    })
    .join("");
}
