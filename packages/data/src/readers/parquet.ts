/**
 * Parquet, one row group at a time, only the columns that are needed. hyparquet reads the footer and the page headers; the
 * pages are decoded here, because its own decoder makes room by the word of a damaged page.
 */

import { RanksimError } from "@ranksim/core";
import type { AsyncBuffer, RowGroup } from "hyparquet";
import { asBadFile, badFile, quoted } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import { type Opened, readAll } from "../source.ts";
import type { Reading } from "./options.ts";
import type { RowBlocks } from "./reader.ts";
import { type Cells, TableBuilder } from "./table.ts";

/** Rows in one group that are still believed: the largest group that a common writer makes by itself. */
const MOST_GROUP_ROWS = 2 ** 26;

/** Reads Parquet, a row group in a block. Without random access to the bytes the whole file is held in memory. */
export async function* readParquet(opened: Opened, options: Reading): RowBlocks {
  const { name } = opened;
  try {
    const { parquetMetadataAsync, parquetSchema } = await import("hyparquet");
    const account = options.budget.of(name);
    const file = await bufferOf(opened, account);
    const metadata = await parquetMetadataAsync(file);
    const columns = parquetSchema(metadata).children;
    const names = columns.map((column) => column.element.name);
    const builder = new TableBuilder(name, names, options);
    for (const [number, group] of metadata.row_groups.entries()) {
      const rows = Number(group.num_rows);
      if (!(rows >= 0 && rows <= MOST_GROUP_ROWS)) {
        throw badFile(name, `row group ${number}`, `expected fewer rows than are claimed: ${rows}`);
      }
      await account.during(async (passing) => {
        const cells = new Map<number, Cells>();
        for (const needed of builder.needed) {
          const values = await readColumn(name, file, group, columns[needed], rows, passing);
          cells.set(needed, (row) => values[row]);
        }
        builder.add(rows, (column) => cells.get(column) as Cells);
      });
      yield* builder.take();
    }
    return yield* builder.finish();
  } catch (error) {
    throw asBadFile(name, "Parquet", error);
  }
}

async function readColumn(
  name: string,
  file: AsyncBuffer,
  group: RowGroup,
  column: Parameters<typeof import("./parquet-column.ts").leafOf>[0],
  rows: number,
  account: Account,
): Promise<unknown[]> {
  const { leafOf, readPages } = await import("./parquet-column.ts");
  const { compressors } = await import("hyparquet-compressors");
  const columnName = column.element.name;
  try {
    const leaf = leafOf(column);
    const path = leaf.tree.path.join(".");
    const chunk = group.columns.find((candidate) => candidate.meta_data?.path_in_schema.join(".") === path)?.meta_data;
    if (chunk === undefined) throw new Error("expected its data in every row group, found none");
    const from = Number(chunk.dictionary_page_offset || chunk.data_page_offset);
    account.take(Number(chunk.total_compressed_size));
    const bytes = new Uint8Array(await file.slice(from, from + Number(chunk.total_compressed_size)));
    return readPages(bytes, chunk, leaf, rows, compressors, account);
  } catch (error) {
    if (error instanceof RanksimError) throw error;
    throw badFile(name, `column ${quoted(columnName)}`, error instanceof Error ? error.message : String(error), error);
  }
}

async function bufferOf(opened: Opened, account: Account): Promise<AsyncBuffer> {
  const { slice } = opened;
  const bytes =
    slice === undefined || opened.byteLength === undefined ? await readAll(opened.stream, account) : undefined;
  const byteLength = bytes?.byteLength ?? (opened.byteLength as number);
  return {
    byteLength,
    async slice(from, to = byteLength) {
      if (!(from >= 0 && to >= from && to <= byteLength)) {
        throw new Error(`expected bytes within ${byteLength}, found a claim to ${from} to ${to}`);
      }
      // A copy, because the library needs a buffer of its own.
      return new Uint8Array(bytes?.subarray(from, to) ?? (await slice!(from, to))).buffer;
    },
  };
}
