/** What tables say of cells: the columns of the file itself, and those of another table whose rows are found by the barcode. */

import { RanksimError } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import { CsvRecords } from "../readers/csv-records.ts";
import type { Reading } from "../readers/options.ts";
import { scan, skipByteOrderMark } from "../readers/scan.ts";
import { type ByteSource, openSource } from "../source.ts";

/** Columns of text that say something of each cell. */
export interface CellTable {
  readonly barcodes: readonly string[];
  readonly columns: readonly string[];
  /** What a column says of each cell, "" for nothing. */
  column(name: string): readonly string[] | Promise<readonly string[]>;
  readonly notes?: readonly string[];
}

/** The table with the columns of another one, whose own go first. Cells that it does not name have nothing in its columns. */
export async function withMetadata(own: CellTable, source: ByteSource, options: Reading): Promise<CellTable> {
  const { names, cells } = await readTexts(source, options);
  const { name } = source;
  const wanted = new Map<string, number>();
  for (const [row, barcode] of own.barcodes.entries()) {
    if (wanted.has(barcode)) {
      throw badFile(
        name,
        "",
        `expected different barcodes to find rows by, the cells have ${JSON.stringify(barcode)} twice`,
      );
    }
    wanted.set(barcode, row);
  }
  const hits = names.map((_, c) => cells.reduce((sum, row) => sum + (wanted.has(row[c]) ? 1 : 0), 0));
  const key = hits.indexOf(Math.max(...hits));
  if (hits[key] === 0) {
    throw new RanksimError("bad-file", {
      file: name,
      expected: `a column of barcodes such as ${JSON.stringify(own.barcodes[0])}`,
      found: `none among ${names.slice(0, 20).join(", ")}`,
      cure: () => "barcodes must be written as in the file of counts",
    });
  }
  const rowOf = new Map<string, readonly string[]>();
  for (const row of cells) {
    if (!wanted.has(row[key])) continue;
    if (rowOf.has(row[key]))
      throw badFile(name, "", `expected each barcode once, found ${JSON.stringify(row[key])} twice`);
    rowOf.set(row[key], row);
  }
  const missing = own.barcodes.length - rowOf.size;
  const note = `${name}: ${missing} of ${own.barcodes.length} cells are not in the table`;
  const columns = [...names.filter((_, c) => c !== key), ...own.columns.filter((column) => !names.includes(column))];
  return {
    barcodes: own.barcodes,
    columns,
    column(wish) {
      const c = names.indexOf(wish);
      if (c < 0 || c === key) return own.column(wish);
      return own.barcodes.map((barcode) => rowOf.get(barcode)?.[c] ?? "");
    },
    notes: [...(own.notes ?? []), ...(missing === 0 ? [] : [note])],
  };
}

/** A table of text: the names of its columns, and its cells row by row. R leaves out the name of a first column of row names. */
async function readTexts(source: ByteSource, options: Reading) {
  const { name, stream, head } = await openSource(source);
  const account = options.budget.of(name);
  const first = new TextDecoder().decode(head).split(/\r?\n/, 1)[0];
  const counts = [",", "\t", ";"].map((delimiter) => first.split(delimiter).length);
  const delimiter = [",", "\t", ";"][counts.indexOf(Math.max(...counts))];
  const records = new CsvRecords(name, delimiter.charCodeAt(0), account);
  let names: string[] | undefined;
  const cells: string[][] = [];
  const consume = (window: Uint8Array, final: boolean, limit: number): number => {
    records.open(window, final, names === undefined ? skipByteOrderMark(window) : 0);
    while (records.used < limit && records.next()) {
      const row = Array.from({ length: records.fields }, (_, c) => records.text(c));
      for (const text of row) account.takeText(2 * text.length);
      if (names === undefined) names = row;
      else cells.push(row);
      const width: number = names.length;
      if (cells.length === 1 && row.length === width + 1) names = ["", ...names];
      else if (row.length !== width) {
        throw badFile(name, `line ${records.line}`, `expected ${width} fields, found ${row.length}`);
      }
    }
    return records.used;
  };
  for await (const _ of scan(name, stream, account, consume));
  if (names === undefined || cells.length === 0)
    throw badFile(name, "", "expected a line of names and rows, found none");
  return { names: names as string[], cells };
}
