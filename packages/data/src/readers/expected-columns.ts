/**
 * The columns a model was trained on, found in another table: by name where both have names, else by position (columns that had
 * none at training are called "column 0", "column 1" and so on). A silent
 * mistake here would give wrong answers, so what does not fit is refused, by name.
 */

import { RanksimError, type Schema } from "@ranksim/core";
import { didYouMean } from "../did-you-mean.ts";
import type { Columns } from "./columns.ts";

/** Columns as a model knows them. */
type KnownColumns = Pick<Columns, "label" | "text" | "features" | "ignored" | "notes">;

/**
 * Finds the columns of `schema`. `given` is the number of the label's column, null where labels are not read, undefined
 * where the schema decides; `called`, or -1, the column that is called as labels are, for a schema that names none.
 */
export function expectedColumns(
  name: string,
  names: readonly string[] | undefined,
  count: number,
  schema: Schema,
  given: number | null | undefined,
  called: number,
): KnownColumns {
  const named = schema.columns?.some(({ name: column }) => !/^column \d+$/.test(column));
  if (names !== undefined && named) return byName(name, names, schema, given, called);
  const found = byPosition(name, names, count, schema, given, called);
  const note = `${name}: no line of column names, so columns are taken in the order of training: ${columns(
    (schema.columns ?? []).map((column) => column.name),
  )}`;
  return named ? { ...found, notes: [note] } : found;
}

function byName(
  name: string,
  names: readonly string[],
  schema: Schema,
  given: number | null | undefined,
  called: number,
): KnownColumns {
  const wanted = (schema.columns ?? []).map((column) => column.name);
  const place = new Map(names.map((column, c) => [column, c]));
  const lacking = wanted.filter((column) => !place.has(column));
  const own = new Set([...wanted, ...keysOf(schema)]);
  const found = given ?? (schema.label === undefined ? called : (place.get(String(schema.label)) ?? -1));
  const extra = names.filter((column, c) => !own.has(column) && c !== found);
  if (lacking.length > 0) {
    throw new RanksimError(
      "wrong-width",
      `${name}: the model was trained with ${columns(lacking)}, which the data lacks${
        extra.length === 0
          ? ""
          : `; the data has ${columns(extra)} as well, renamed perhaps${didYouMean(lacking[0], extra)}`
      }`,
    );
  }
  const features = wanted.map((column) => place.get(column) as number);
  if (given !== undefined && features.includes(found)) {
    throw new RanksimError("bad-params", {
      parameter: "labelColumn",
      expected: "a column that the model takes as no feature",
      found: columns([names[found]]),
    });
  }
  const label = given === null || features.includes(found) ? -1 : found;
  const notes = extra.length === 0 ? {} : { notes: [`${name}: ${columns(extra)} not known to the model, left out`] };
  return { label, text: -1, features, ignored: [], ...notes };
}

/** Without names, columns are where they were: with the labels and what was ignored, without the labels, or alone. */
function byPosition(
  name: string,
  names: readonly string[] | undefined,
  count: number,
  schema: Schema,
  given: number | null | undefined,
  called: number,
): KnownColumns {
  const width = schema.width as number;
  const all = Array.from({ length: count }, (_, c) => c);
  const named = (key: string | number | undefined) =>
    typeof key === "string" ? (names?.indexOf(key) ?? -1) : (key ?? -1);
  if (typeof given === "number") return checked(name, names, schema, count, given, without(all, [given]));
  const label = schema.label === undefined ? called : named(schema.label);
  const ignored = (schema.ignored ?? []).map(named).filter((c) => c >= 0);
  const hidden = label < 0 ? ignored : [label, ...ignored];
  if (count === width + hidden.length) {
    return checked(name, names, schema, count, given === null ? -1 : label, without(all, hidden));
  }
  if (label >= 0 && count === width + ignored.length) {
    const left = ignored.map((c) => (c > label ? c - 1 : c));
    return checked(name, names, schema, count, -1, without(all, left));
  }
  return checked(name, names, schema, count, -1, all);
}

function checked(
  name: string,
  names: readonly string[] | undefined,
  { width = 0, columns: known }: Schema,
  count: number,
  label: number,
  features: readonly number[],
): KnownColumns {
  if (features.length === width) return { label, text: -1, features, ignored: [] };
  const why = known !== undefined && names === undefined ? " and no line of column names to find them by" : "";
  throw new RanksimError("wrong-width", {
    file: name,
    expected: `${width} columns, as the model takes`,
    found: `${count}${why}`,
    ...(features.length === width + 1
      ? { cure: (called) => `if one holds the labels, name it by ${called("labelColumn")}` }
      : {}),
  });
}

const without = (all: readonly number[], hidden: readonly number[]): number[] => all.filter((c) => !hidden.includes(c));

/** The columns of a schema that are no features. */
function keysOf({ label, text, ignored = [] }: Schema): string[] {
  return [label, text, ...ignored].filter((key) => typeof key === "string");
}

/** Columns by name, the first few of many. */
function columns(names: readonly string[]): string {
  const shown = names.slice(0, 8).map((column) => JSON.stringify(column));
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : "";
  return `${names.length === 1 ? "column" : "columns"} ${shown.join(", ")}${more}`;
}
