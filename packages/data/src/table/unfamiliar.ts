/** Cells of later rows that are unlike those of training: words that were not there, values far beyond all, columns that are empty. */

import { knownBy } from "./cells.ts";
import { type ColumnCode, numbersOf, textsOf } from "./column-code.ts";
import type { Table, TableColumn } from "./table.ts";

/** What is strange in a column, over all rows so far. */
interface Strange {
  rows: number;
  missing: number;
  unknown: number;
  far: number;
  example?: string;
}

/** Shares of the rows from which on a person is told. */
const MANY = 0.5;
const SOME = 0.1;
/** Fewer rows show nothing. */
const FEWEST = 20;

/** Takes in the rows that a model is asked about, block by block. */
export class UnfamiliarTally {
  readonly #codes: readonly ColumnCode[];
  readonly #found: readonly Strange[];

  /** `codes` are those of the columns, in their order. */
  constructor(codes: readonly ColumnCode[]) {
    this.#codes = codes;
    this.#found = codes.map(() => ({ rows: 0, missing: 0, unknown: 0, far: 0 }));
  }

  /** Adds rows, whose columns are those of the model. */
  add(table: Table): void {
    for (const [c, code] of this.#codes.entries()) {
      const found = this.#found[c];
      found.rows += table.rows;
      if (code.type === "category") addWords(table.columns[c], code, found);
      else if (code.type === "number") addNumbers(table.columns[c], code, found);
      else found.missing += textsOf(table.columns[c]).filter((text) => text === undefined).length;
    }
  }

  /** A sentence for each column that is strange. */
  notes(): string[] {
    return this.#codes.flatMap(({ name, other, gaps }, c) => {
      const { rows, missing, unknown, far, example } = this.#found[c];
      const column = `column ${JSON.stringify(name)}`;
      const of = (count: number) => `${count} of ${rows} cells`;
      if (rows < FEWEST) return [];
      if (missing === rows || (!gaps && missing > MANY * rows))
        return [
          `${column}: ${of(missing)} are empty, in training ${gaps ? "not all" : "none"} were; look whether the data has it`,
        ];
      // Rare words of training are not known either.
      if (unknown > (other ? SOME * rows : 0))
        return [
          `${column}: ${of(unknown)} hold words that training rows had rarely or never, such as ${JSON.stringify(example)}; they say little of the class`,
        ];
      if (far > MANY * rows)
        return [`${column}: ${of(far)} are far beyond the values of training; look whether its unit is the same`];
      return [];
    });
  }
}

function addWords(column: TableColumn, code: ColumnCode, found: Strange): void {
  const { words } = code;
  const wordOf = knownBy(code);
  const known = new Set(words.map(wordOf));
  for (const text of textsOf(column)) {
    if (text === undefined) found.missing++;
    else if (words.length > 0 && !known.has(wordOf(text))) {
      found.unknown++;
      found.example ??= text;
    }
  }
}

/** A value is far that lies beyond the outer knots by more than these are apart. */
function addNumbers(column: TableColumn, code: ColumnCode, found: Strange): void {
  const [knots] = code.parts;
  const [low, high] = [knots[0], knots[knots.length - 1]];
  const common = code.words.map(Number);
  for (const value of numbersOf(column, code)) {
    if (Number.isNaN(value)) found.missing++;
    else if (knots.length > 1 && (value > 2 * high - low || value < 2 * low - high) && !common.includes(value))
      found.far++;
  }
}
