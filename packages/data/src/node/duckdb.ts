/**
 * Parquet through DuckDB, where its package is installed: it decodes columns several times as fast. The rows are those of our own reader,
 * which reads what DuckDB would give in another form (dates, decimals, lists).
 */

import { asBadFile } from "../bad-file.ts";
import { Budget, budgetOf } from "../budget.ts";
import type { DataSet } from "../data-set.ts";
import type { ReadDataOptions } from "../read.ts";
import { TableBuilder } from "../readers/table.ts";
import { expecting } from "../schema.ts";
import type { ByteSource } from "../source.ts";

/** Cells of a block. */
const BLOCK_CELLS = 1 << 22;
/** Bytes that DuckDB may take at least: it reads a row group at a time. */
const LEAST_MEMORY = 1 << 28;

/** What is used of the package. */
interface DuckDb {
  readonly DuckDBInstance: {
    create(path: string, options: { readonly [name: string]: string }): Promise<Instance>;
  };
}
interface Instance {
  connect(): Promise<Connection>;
  closeSync(): void;
}
interface Connection {
  stream(query: string): Promise<{
    columnNames(): readonly string[];
    columnTypes(): readonly unknown[];
    fetchChunk(): Promise<{ readonly rowCount: number; getColumnValues(column: number): readonly unknown[] } | null>;
  }>;
  closeSync(): void;
}

/** Types whose values are the same from both readers. */
const PLAIN = /^(BOOLEAN|U?(TINY|SMALL|BIG)INT|U?INTEGER|FLOAT|DOUBLE|VARCHAR)$/;

let loading: Promise<DuckDb | undefined> | undefined;

/** The package that RANKSIM_DUCKDB names, else @duckdb/node-api; undefined where it does not load. */
function loadDuckDb(): Promise<DuckDb | undefined> {
  const name = process.env.RANKSIM_DUCKDB ?? "@duckdb/node-api";
  // Not installed, or not for this machine: our own reader reads the same rows.
  loading ??= (import(/* @vite-ignore */ name) as Promise<DuckDb>).catch(() => undefined);
  return loading;
}

/** The rows of a Parquet file in blocks; undefined where it is another file, DuckDB is not here, or the columns are not plain. */
export async function duckDbBlocks(
  { name, path }: ByteSource,
  given: ReadDataOptions,
): Promise<AsyncGenerator<DataSet> | undefined> {
  // In its patterns of names nothing can be quoted.
  if (path === undefined || !/\.parquet$/i.test(path) || /[*?[\]{}]/.test(path)) return undefined;
  const duckDb = await loadDuckDb();
  if (!duckDb) return undefined;
  const options = { ...given, ...expecting(given) };
  const { bytes } = budgetOf(options);
  const memory = `${Math.ceil(Math.max(LEAST_MEMORY, bytes / 4) / 1e6)}MB`;
  const settings = { threads: "1", memory_limit: memory, autoinstall_known_extensions: "false" };
  const instance = await duckDb.DuckDBInstance.create(":memory:", settings);
  const connection = await instance.connect();
  const close = () => {
    connection.closeSync();
    instance.closeSync();
  };
  try {
    const all = await connection.stream(`SELECT * FROM ${tableOf(path)} LIMIT 0`);
    const names = all.columnNames();
    const { needed } = new TableBuilder(name, names, options);
    if (names.length > 0 && needed.every((column) => PLAIN.test(String(all.columnTypes()[column])))) {
      return blocksOf(connection, path, name, names, { ...options, budget: new Budget(bytes) }, close);
    }
  } catch (error) {
    close();
    throw asBadFile(name, "Parquet", error);
  }
  close();
  return undefined;
}

const tableOf = (path: string): string => `read_parquet('${path.replaceAll("'", "''")}', hive_partitioning = false)`;

async function* blocksOf(
  connection: Connection,
  path: string,
  name: string,
  names: readonly string[],
  options: ReadDataOptions & { readonly budget: Budget },
  close: () => void,
): AsyncGenerator<DataSet> {
  const make = () => new TableBuilder(name, names, { ...options, budget: new Budget(options.budget.bytes) });
  try {
    const { needed } = make();
    const columns = needed.map((column) => `"${names[column].replaceAll('"', '""')}"`);
    const rows = await connection.stream(`SELECT ${columns.join(", ")} FROM ${tableOf(path)}`);
    let builder = make();
    let taken = 0;
    for (;;) {
      const chunk = await rows.fetchChunk();
      if (!chunk || chunk.rowCount === 0) break;
      const cells = new Map(needed.map((column, j) => [column, chunk.getColumnValues(j)]));
      builder.add(chunk.rowCount, (column) => {
        const values = cells.get(column) as readonly unknown[];
        return (row) => values[row];
      });
      taken += chunk.rowCount;
      if (taken * needed.length < BLOCK_CELLS) continue;
      yield await builder.finish();
      builder = make();
      taken = 0;
    }
    if (taken > 0) yield await builder.finish();
  } catch (error) {
    throw asBadFile(name, "Parquet", error);
  } finally {
    close();
  }
}
