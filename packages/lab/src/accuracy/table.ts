/** What a table of accuracy is: rows that are measured once for each seed, what they have to reach, and how they are shown. */

import type { Backend } from "@ranksim/core";
import type { Workshop } from "../runner/process.ts";
import { medianOf, type Results, type Row } from "../runner/results.ts";
import { spread, table } from "../runner/show.ts";
import type { Shelf } from "./shelf.ts";

/** Figures of one seed by name; those in processor seconds end in "Cpu". */
export type Figures = { readonly [name: string]: number };

/** What a measurement may use. */
export interface Bench {
  readonly shelf: Shelf;
  readonly backend: Backend;
  readonly workshop: Workshop;
  /** A folder with node_modules in which peers from npm are. */
  readonly peers?: string;
  /** Whether small parts of the data are enough, to see that everything runs. */
  readonly quick: boolean;
}

/** One row. */
export interface AccuracyRow {
  readonly name: string;
  /** How many seeds, where not all that are asked for. */
  readonly runs?: number;
  measure(seed: number, bench: Bench): Promise<Figures>;
  /** What is kept beside the figures, to be drawn. */
  pictures?(bench: Bench): Promise<readonly unknown[]>;
  /** What medians have to reach, or must not exceed: a number, or another figure of the row. */
  readonly least?: { readonly [figure: string]: number | string };
  readonly most?: { readonly [figure: string]: number | string };
}

/** One table, in a file of results/accuracy and between marks of a page. */
export interface AccuracyTable {
  readonly name: string;
  readonly title: string;
  /** BEYOND.md where absent. */
  readonly page?: "TABLES.md" | "NEIGHBOURS.md";
  /** Titles of figures. */
  readonly columns: { readonly [figure: string]: string };
  readonly rows: readonly AccuracyRow[];
  /** What stands in the place of the columns. */
  show?(results: Results): string;
  /** Pictures beside the results, by file name. */
  pictures?(results: Results): { readonly [file: string]: string };
}

/** The table as Markdown. */
export function shownTable(one: AccuracyTable, results: Results): string {
  const rows = one.rows.flatMap((row) => results.find(row) ?? []).filter(({ pictures }) => !pictures);
  if (rows.length === 0) return "Not measured yet.";
  if (one.show) return one.show(results);
  const figures = Object.keys(one.columns);
  const cells = (row: Row) => figures.map((figure) => spread(row.figures[figure], (value) => shown(figure, value)));
  return table(
    ["", ...Object.values(one.columns), "seeds", "commit"],
    rows.map((row) => [row.name, ...cells(row), String(row.runs), row.commit]),
  );
}

/** What rows had to reach, and whether they did. */
export function shownGoals(tables: readonly AccuracyTable[], results: Results): string {
  const lines = tables.flatMap(({ columns, rows }) =>
    rows.flatMap((row) => {
      const found = results.find(row);
      const goal = (figure: string, wanted: number | string, sign: "≥" | "≤") => {
        const value = medianOf(found, figure) ?? Number.NaN;
        const bound = typeof wanted === "number" ? wanted : (medianOf(found, wanted) ?? Number.NaN);
        const isMet = sign === "≥" ? value >= bound : value <= bound;
        const against = typeof wanted === "number" ? "" : ` (${columns[wanted]})`;
        const cells = [`${sign} ${shown(figure, bound)}${against}`, shown(figure, value), isMet ? "met" : "**missed**"];
        return [`${row.name}: ${columns[figure]}`, ...cells];
      };
      if (found === undefined) return [];
      return [
        ...Object.entries(row.least ?? {}).map(([figure, wanted]) => goal(figure, wanted, "≥")),
        ...Object.entries(row.most ?? {}).map(([figure, wanted]) => goal(figure, wanted, "≤")),
      ];
    }),
  );
  return table(["goal", "wanted", "median", "verdict"], lines);
}

/** Scores with four digits, seconds with one or two. */
function shown(figure: string, value: number): string {
  if (figure.endsWith("Cpu")) return value.toFixed(value < 10 ? 2 : 1);
  return Number.isInteger(value) ? value.toLocaleString("en-US") : value.toFixed(4);
}
