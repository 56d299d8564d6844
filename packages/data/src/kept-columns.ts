/** Columns of a table that are passed on with its rows, as text. */

import { RanksimError } from "@ranksim/core";
import { Budget } from "./budget.ts";
import { didYouMean } from "./did-you-mean.ts";
import type { CsvLayout } from "./readers/csv.ts";
import { CsvRecords } from "./readers/csv-records.ts";
import type { ColumnChoice } from "./readers/options.ts";
import { skipByteOrderMark } from "./readers/scan.ts";

/** What the kept columns hold in each record, the header left out. */
export function keptOfRecords(
  name: string,
  text: Uint8Array,
  layout: CsvLayout,
  keep: readonly ColumnChoice[],
): string[][] {
  if (keep.length === 0) return [];
  const places = keep.map((choice) => placeOf(name, layout, choice));
  const records = new CsvRecords(name, layout.delimiter, new Budget().of(name));
  records.open(text, true, skipByteOrderMark(name, text));
  if (layout.names !== undefined) records.next();
  const kept: string[][] = [];
  while (records.next()) kept.push(places.map((column) => records.text(column)));
  return kept;
}

function placeOf(name: string, { names, count }: CsvLayout, choice: ColumnChoice): number {
  const place = typeof choice === "string" ? (names?.indexOf(choice) ?? -1) : choice < 0 ? count + choice : choice;
  if (place >= 0 && place < count) return place;
  const known = names ? `columns ${names.slice(0, 20).join(", ")}` : `columns 0 to ${count - 1}`;
  const hint = typeof choice === "string" ? didYouMean(choice, names ?? []) : "";
  throw new RanksimError("bad-params", `keep: ${name} has ${known}; found ${JSON.stringify(choice)}${hint}`);
}

/** What the kept keys hold in each object. */
export function keptOfObjects(name: string, bytes: Uint8Array, keep: readonly ColumnChoice[]): string[][] {
  if (keep.length === 0) return [];
  const lines = new TextDecoder().decode(bytes).split("\n");
  return lines
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const row = JSON.parse(line) as { readonly [key: string]: unknown };
      return keep.map((key) => {
        if (!Object.hasOwn(row, key)) {
          throw new RanksimError("bad-params", `keep: ${name} has a row without ${JSON.stringify(key)}`);
        }
        const value = row[key];
        return typeof value === "string" ? value : JSON.stringify(value);
      });
    });
}
