/**
 * Results: one JSON file a table, a line for each row, with the commit it was measured at. Of several runs the median and the
 * range are kept. A row is found again by everything that decides its result.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A figure of all runs: one number where they agree, the median and the range where they do not. */
export type Figure = number | readonly [median: number, low: number, high: number];

/** What one run found. */
export interface Measured {
  readonly figures: { readonly [name: string]: number };
  readonly facts?: { readonly [name: string]: number | string | boolean };
  /** Curves by name. */
  readonly curves?: { readonly [name: string]: readonly number[] };
  /** Images and the filters that answer to them. */
  readonly pictures?: readonly unknown[];
}

/** What a row is. */
export interface RowName {
  readonly name: string;
  /** What decides the result, where the name is not all. */
  readonly spec?: unknown;
}

/** A row of a table. */
export interface Row extends RowName, Omit<Measured, "figures"> {
  readonly commit: string;
  readonly runs: number;
  readonly figures: { readonly [name: string]: Figure };
  /** Why there are no figures. */
  readonly failure?: string;
}

/** A table, as its file has it. */
export interface Table {
  readonly title: string;
  /** Where its last row was measured. */
  readonly machine?: string;
  readonly rows: readonly Row[];
}

/** What tells rows apart, the same for equal specifications whatever the order of their keys. */
export function keyOf({ name, spec }: RowName): string {
  if (spec === undefined) return name;
  return JSON.stringify(spec, (_key, value: unknown) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** The tables of a folder. A row that another table has measured is found too. */
export class Results {
  readonly folder: string;
  readonly #tables = new Map<string, Table>();
  readonly #rows = new Map<string, Row>();

  constructor(folder: string) {
    this.folder = folder;
    for (const file of existsSync(folder) ? readdirSync(folder) : []) {
      if (!file.endsWith(".json")) continue;
      const table = JSON.parse(readFileSync(join(folder, file), "utf8")) as Table;
      this.#tables.set(file.slice(0, -".json".length), table);
      for (const row of table.rows) this.#rows.set(keyOf(row), row);
    }
  }

  /** The rows of a table. */
  rows(table: string): readonly Row[] {
    return this.#tables.get(table)?.rows ?? [];
  }

  /** Where the last row of a table was measured. */
  machine(table: string): string | undefined {
    return this.#tables.get(table)?.machine;
  }

  /** What was measured under this name or specification, in any table. */
  find(row: RowName): Row | undefined {
    return this.#rows.get(keyOf(row));
  }

  /** Writes a table: what is known of its rows, in their order. */
  write(table: string, title: string, rows: readonly RowName[], machine: string | undefined): void {
    const found = rows.flatMap((row) => {
      const known = this.find(row);
      return known ? [{ ...known, name: row.name }] : [];
    });
    if (found.length === 0) return;
    const head = { title, ...(machine === undefined ? {} : { machine }) };
    this.#tables.set(table, { ...head, rows: found });
    const lines = found.map((row) => JSON.stringify(row, rounded));
    const text = `${JSON.stringify(head).slice(0, -1)},"rows":[\n${lines.join(",\n")}\n]}\n`;
    writeWhole(join(this.folder, `${table}.json`), text);
  }

  /** Keeps a row, for tables to be written. */
  put(row: Row): void {
    this.#rows.set(keyOf(row), row);
  }
}

/** One row of several runs; what is no figure is that of the first. */
export function summarize(row: RowName, commit: string, runs: readonly Measured[]): Row {
  const names = [...new Set(runs.flatMap(({ figures }) => Object.keys(figures)))];
  const figures = names.map((name) => [name, figureOf(runs.flatMap((run) => run.figures[name] ?? []))] as const);
  return {
    ...runs[0],
    name: row.name,
    spec: row.spec,
    commit,
    runs: runs.length,
    figures: Object.fromEntries(figures),
  };
}

function figureOf(values: readonly number[]): Figure {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high ? low : [median(values), low, high];
}

/** The median of a figure; undefined where it was not measured. */
export function medianOf(row: Row | undefined, figure: string): number | undefined {
  const found = row?.figures[figure];
  return typeof found === "object" ? found[0] : found;
}

/** Middle value; the mean of the two middle ones for an even count. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** Six digits are more than any clock here can tell. */
export function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;
}

/** Writes a file whole or not at all. */
export function writeWhole(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.tmp`, text);
  renameSync(`${path}.tmp`, path);
}
