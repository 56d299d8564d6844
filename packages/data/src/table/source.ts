/** Tables that do not fit in memory: they are read one column at a time, or some rows at a time, and rows made of them are kept. */

import type { Csr, RowSource, Run, Values } from "@ranksim/core";
import { turns } from "@ranksim/core/internal";
import { type ColumnKinds, checkKinds, type DetectedColumn, detectColumns } from "./detect.ts";
import { Table, type TableColumn } from "./table.ts";

/** A table whose cells are read when they are asked for. `openTable` makes one of files. */
export interface TableSource {
  readonly form: "tables";
  readonly rows: number;
  readonly columns: readonly { readonly name: string }[];
  /** All cells of one column: as much as is ever in memory of it. */
  column(c: number): Promise<TableColumn>;
  /** The rows in order, some at a time. */
  blocks(): AsyncIterable<Table>;
  /** The columns of these names, in this order. */
  select(names: readonly string[]): TableSource;
  /** A copy of the listed rows in that order. */
  pick(rows: Uint32Array): Promise<TableSource>;
  /** Keeps rows that come in order, and of which this is known. `like` is an empty array of their element type. */
  keep(
    blocks: AsyncIterable<Csr>,
    shape: { readonly rows: number; readonly features: number; readonly like: Values },
  ): Promise<RowSource>;
}

/** Whether a table is read when it is needed. */
export const isTableSource = (x: unknown): x is TableSource => (x as TableSource | null)?.form === "tables";

/** A column of any table. */
export const tableColumn = async (table: Table | TableSource, c: number): Promise<TableColumn> =>
  table instanceof Table ? table.columns[c] : table.column(c);

/** `detectColumns` of any table. */
export async function detectTable(
  table: Table | TableSource,
  kinds: ColumnKinds = {},
  run: Run = {},
): Promise<readonly DetectedColumn[]> {
  const pause = turns(run);
  const names = table.columns.map(({ name }) => name);
  checkKinds(names, kinds);
  const found: DetectedColumn[] = [];
  for (const [c, name] of names.entries()) {
    await pause();
    const told = Object.hasOwn(kinds, name) ? { [name]: kinds[name] } : {};
    found.push(...detectColumns(Table.of([await tableColumn(table, c)]), told));
  }
  return found;
}
