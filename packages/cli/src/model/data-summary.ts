/** What was found in data, and what would be trained on it, in lines for people and as values for programs. */

import { type Label, Pipeline } from "@ranksim/core";
import { type AnyRows, type DataSet, type DetectedColumn, rowCount } from "@ranksim/data";
import { leftOutText, type Recipe, shownName } from "@ranksim/learn";
import { SETTINGS } from "../flags/parameters.ts";
import { quoted } from "../provenance.ts";
import { count } from "../terminal/numbers.ts";
import { cut, printable } from "../terminal/style.ts";

/** A name and what there is to say under it. */
export type Line = readonly [name: string, value: string | undefined];

const KINDS = [
  ["number", "numbers"],
  ["category", "categories"],
  ["date", "dates"],
  ["boolean", "booleans"],
  ["time", "times of day"],
  ["text", "texts"],
] as const;

/** Columns left out that are named, each on its own line. */
const MOST_NAMED = 20;

/** One line for each kind of column, and one for each column that is left out. */
export function columnLines(columns: readonly DetectedColumn[]): Line[] {
  const used = columns.filter(({ leftOut }) => leftOut === undefined);
  const gone = columns.filter(({ leftOut }) => leftOut !== undefined);
  const list = (names: readonly string[]) => `${count(names.length)}  ${cut(printable(names.join(", ")), 90)}`;
  return [
    ...KINDS.map(([type, name]): Line => {
      const own = used.filter((column) => column.type === type);
      return [name, own.length === 0 ? undefined : list(own.map(nameOf))];
    }),
    ...gone
      .slice(0, MOST_NAMED)
      .map((column): Line => ["left out", printable(`${leftOutText(column)}${cureOf(column)}`)]),
    ["left out", gone.length > MOST_NAMED ? `and ${count(gone.length - MOST_NAMED)} more` : undefined],
  ];
}

/** How a column is kept that is left out by its looks. */
function cureOf(column: DetectedColumn): string {
  const kinds: { readonly [reason: string]: string } = {
    "it names almost every row": "text",
    "it numbers the rows": "number",
  };
  const kind = kinds[column.leftOut ?? ""];
  return kind === undefined ? "" : `; --columns ${quoted(`${shownName(column)}:${kind}`)} keeps it`;
}

const ORDERS = {
  dmy: "day first",
  mdy: "month first",
  seconds: "seconds from 1970",
  milliseconds: "milliseconds from 1970",
};

function nameOf(column: DetectedColumn): string {
  const { decimal, thousands, unit, order } = column;
  const name = shownName(column);
  const facts = [
    ...(decimal ? ["decimal comma"] : []),
    ...(thousands ? [`thousands set apart by ${JSON.stringify(thousands)}`] : []),
    ...(unit ? [`in ${unit}`] : []),
    ...(order ? [ORDERS[order]] : []),
  ];
  return facts.length === 0 ? name : `${name} (${facts.join(", ")})`;
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
  const columns = recipe.columns ?? columnsIn(set);
  const { estimator } = recipe;
  const steps = estimator instanceof Pipeline ? estimator.estimators : [estimator];
  return {
    form: set.form,
    rows: rowCount(set),
    columns: columns.map(({ name, type, leftOut }) => ({ name, type, ...(leftOut ? { leftOut } : {}) })),
    ...(set.form === "matrix" ? { features: set.x.features } : {}),
    ...(set.form === "text" ? {} : { header: columns.some(({ name }) => !/^column \d+$/.test(name)) }),
    ...(label === undefined ? {} : { label }),
    ...(set.y ? { classes: classCounts(set.y.flat() as Label[]) } : {}),
    ...(set.form === "matrix" && set.imageSize ? { image: `${set.imageSize.width} × ${set.imageSize.height}` } : {}),
    recipe: steps.map(({ kind, params }) => ({ kind, params: withoutTypes(params) })),
  };
}

const columnsIn = (set: AnyRows): readonly DetectedColumn[] =>
  (set.form === "matrix" ? (set.featureNames ?? []) : []).map((name) => ({ name, type: "number" }));

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
  const columns = recipe.columns ? columnLines(recipe.columns) : [];
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
  const isUsual = (name: string, value: unknown) =>
    SETTINGS.some((info) => info.name === name && JSON.stringify(info.default) === JSON.stringify(value ?? null));
  const own = Object.entries(params).filter(([name, value]) => value !== undefined && !isUsual(name, value));
  if (own.length === 0) return "";
  return ` (${own.map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`).join(", ")})`;
}
