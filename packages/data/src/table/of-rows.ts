/** Rows of numbers as tables. */

import type { MatrixData, MatrixRows, TableRows } from "../data-set.ts";
import { Table } from "./table.ts";

/** Rows of numbers as a table, its gaps open. */
export function tableOf({ x, featureNames, gaps }: MatrixData): Table {
  const table = Table.fromMatrix(x, featureNames);
  for (const gap of gaps ?? []) {
    const column = table.columns[gap % x.features];
    if (column.form === "numbers") column.values[Math.floor(gap / x.features)] = Number.NaN;
  }
  return table;
}

/** Rows of numbers as those of a table, with what a schema says of them. */
export async function asTable(data: MatrixRows): Promise<TableRows> {
  const { y, found } = data;
  const table = data.asTable ? await data.asTable() : tableOf(data as MatrixData);
  return { form: "table", table, ...(y ? { y } : {}), ...(found ? { found } : {}) };
}
