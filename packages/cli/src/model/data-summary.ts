/** What was found in data, and what would be trained on it, in lines for people and as values for programs. */

import type { Label } from "@ranksim/core";
import {
  type AnyRows,
  type DataSet,
  type DetectedColumn,
  type MatrixData,
  rowCount,
  type SourceData,
  TABLE_PARAMETERS,
} from "@ranksim/data";
import { parameterTables } from "../flags/estimator-flags.ts";
import { vectorizerTables } from "../flags/vectorizer-flags.ts";
import { count } from "../terminal/numbers.ts";
import { cut, printable } from "../terminal/style.ts";
import { leftOutText, type Recipe, shownName } from "./recipe.ts";

/** A name and what there is to say under it. */
export type Line = readonly [name: string, value: string | undefined];

const KINDS = [
  ["number", "numbers"],
  ["category", "categories"],
  ["date", "dates"],
  ["boolean", "booleans"],
] as const;

/** One line for each kind of column, and one for those that are left out. */
export function columnLines(columns: readonly DetectedColumn[]): Line[] {
  const used = columns.filter(({ leftOut }) => leftOut === undefined);
  const gone = columns.filter(({ leftOut }) => leftOut !== undefined);
  const list = (names: readonly string[]) => `${count(names.length)}  ${cut(printable(names.join(", ")), 90)}`;
  return [
    ...KINDS.map(([type, name]): Line => {
      const own = used.filter((column) => column.type === type);
      return [name, own.length === 0 ? undefined : list(own.map(nameOf))];
    }),
    ["left out", gone.length === 0 ? undefined : list(gone.map(leftOutText))],
  ];
}

function nameOf(column: DetectedColumn): string {
  const { decimal, order } = column;
  const name = shownName(column);
  if (decimal) return `${name} (decimal comma)`;
  return order ? `${name} (${order === "dmy" ? "day first" : "month first"})` : name;
}

/** The data and the recipe for it. */
export interface DataSummary {
  readonly form: DataSet["form"];
  readonly rows: number;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly leftOut?: string }[];
  readonly features?: number;
  readonly header?: boolean;
  readonly label?: string | number;
  readonly classes?: readonly { readonly label: Label; readonly rows: number }[];
  readonly image?: string;
  readonly recipe: readonly { readonly kind: string; readonly params: object }[];
}

/** Gathers what `--dry-run` shows. */
export function summarize(set: AnyRows, recipe: Recipe): DataSummary {
  const { label } = set.found ?? {};
  const columns = recipe.takes === "table" ? recipe.columns : columnsIn(set);
  const steps = "estimators" in recipe.estimator ? recipe.estimator.estimators : [recipe.estimator];
  return {
    form: isNumbers(set) ? "matrix" : set.form === "text" || set.form === "texts" ? "text" : "table",
    rows: rowCount(set),
    columns: columns.map(({ name, type, leftOut }) => ({ name, type, ...(leftOut ? { leftOut } : {}) })),
    ...(isNumbers(set) ? { features: set.x.features } : {}),
    ...(set.form === "text" || set.form === "texts"
      ? {}
      : { header: columns.some(({ name }) => !/^column \d+$/.test(name)) }),
    ...(label === undefined ? {} : { label }),
    ...(set.y ? { classes: classCounts(set.y.flat() as Label[]) } : {}),
    ...(isNumbers(set) && set.imageSize ? { image: `${set.imageSize.width} × ${set.imageSize.height}` } : {}),
    recipe: steps.map(({ kind, params }) => ({ kind, params: withoutTypes(params) })),
  };
}

const isNumbers = (set: AnyRows): set is MatrixData | SourceData => set.form === "matrix" || set.form === "source";

const columnsIn = (set: AnyRows): readonly DetectedColumn[] =>
  (isNumbers(set) ? (set.featureNames ?? []) : []).map((name) => ({ name, type: "number" }));

function withoutTypes(params: object): object {
  const { types: _, ...rest } = params as { types?: unknown };
  return rest;
}

function classCounts(labels: readonly Label[]): { label: Label; rows: number }[] {
  const counts = new Map<Label, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts].map(([label, rows]) => ({ label, rows })).sort((a, b) => b.rows - a.rows);
}

const SPOKEN: { readonly [form in DataSet["form"]]: string } = {
  matrix: "numbers, taken as they are",
  table: "a table, its columns encoded",
  text: "text",
};

/** The summary in lines. */
export function summaryLines(summary: DataSummary, recipe: Recipe): Line[] {
  const { form, rows, features, header, label, classes, image } = summary;
  const columns = recipe.takes === "table" ? columnLines(recipe.columns) : [];
  const shown = classes?.map((one) => `${one.label} (${count(one.rows)})`).join(", ");
  return [
    ["data", SPOKEN[form]],
    ["rows", count(rows)],
    ["header", header === undefined ? undefined : header ? "yes, columns have names" : "no"],
    ["features", features === undefined ? undefined : `${count(features)}${namesText(summary)}`],
    ["images", image],
    ...columns,
    ["label", label === undefined ? (classes ? "apart from the rows" : "none") : `column ${printable(String(label))}`],
    ["classes", shown && `${count(classes?.length ?? 0)}  ${cut(printable(shown), 90)}`],
    ["recipe", summary.recipe.map(({ kind, params }) => kind + paramsText(params)).join(" → ")],
  ];
}

const namesText = ({ columns }: DataSummary): string =>
  columns.length === 0 ? "" : `  ${cut(printable(columns.map(({ name }) => name).join(", ")), 80)}`;

/** What differs from the defaults. */
function paramsText(params: object): string {
  const tables = [...parameterTables(), ...vectorizerTables(), ...TABLE_PARAMETERS];
  const isUsual = (name: string, value: unknown) =>
    tables.some((info) => info.name === name && JSON.stringify(info.default) === JSON.stringify(value ?? null));
  const own = Object.entries(params).filter(([name, value]) => value !== undefined && !isUsual(name, value));
  if (own.length === 0) return "";
  return ` (${own.map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`).join(", ")})`;
}
