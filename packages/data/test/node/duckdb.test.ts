/** Parquet through DuckDB: the rows, labels and names of our own reader. Skipped by name where its package is missing. */

import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DataSet } from "../../src/data-set.ts";
import { duckDbBlocks } from "../../src/node/duckdb.ts";
import { fileSource, openRows, type ReadDataOptions, readData } from "../../src/node.ts";

const isHere = await import(process.env.RANKSIM_DUCKDB ?? "@duckdb/node-api").then(
  () => true,
  () => false,
);
const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ranksim-duckdb-"));
  const rows = Array.from({ length: 5000 }, (_, r) => r);
  const columnData = [
    { name: "a", data: rows.map((r) => r % 200), type: "INT32" as const },
    { name: 'it\'s "b"', data: rows.map((r) => (r * 37) / 7), type: "DOUBLE" as const },
    { name: "big", data: rows.map((r) => BigInt(r * 3)), type: "INT64" as const },
    { name: "on", data: rows.map((r) => r % 3 === 0), type: "BOOLEAN" as const },
    { name: "label", data: rows.map((r) => `kind ${r % 4}`), type: "STRING" as const },
  ];
  writeFileSync(join(folder, "it's.parquet"), new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 1700 })));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function rowsOf(blocks: AsyncIterable<DataSet>) {
  const values: number[] = [];
  const y: unknown[] = [];
  const names = new Set<string>();
  for await (const block of blocks) {
    if (block.form !== "matrix") throw new Error("expected numbers");
    for (let r = 0; r < block.x.rows; r++) values.push(...(block.x as unknown as { row(r: number): number[] }).row(r));
    y.push(...(block.y ?? []));
    names.add(JSON.stringify([block.featureNames, block.found]));
  }
  return { values, y, names: [...names] };
}

describe.skipIf(!isHere)("DuckDB (@duckdb/node-api, or the package that RANKSIM_DUCKDB names)", () => {
  it.each<[string, ReadDataOptions]>([
    ["all columns", { labelColumn: "label" }],
    ["without some", { labelColumn: "label", ignoreColumns: ["on", "big"] }],
    ["a number as label", { labelColumn: "a", ignoreColumns: ["label"] }],
  ])("reads what our own reader reads: %s", async (_, options) => {
    const file = await fileSource(join(folder, "it's.parquet"));
    const blocks = await duckDbBlocks(file, options);
    expect(blocks).toBeDefined();
    const whole = await readData(file, options);
    expect(await rowsOf(blocks as AsyncIterable<DataSet>)).toEqual(await rowsOf(once(whole)));
  });

  it("a source of rows has the same rows", async () => {
    const file = await fileSource(join(folder, "it's.parquet"));
    const options = { labelColumn: "label", room: 100_000, scratch: folder };
    const fast = await openRows([file], options);
    const { path: _, ...plain } = file;
    const own = await openRows([plain], options);
    expect(fast.y).toEqual(own.y);
    const every = Uint32Array.from({ length: 5000 }, (_, r) => r);
    expect((await fast.x.gather(every)).values).toEqual((await own.x.gather(every)).values);
  });

  it("leaves other forms of values, other files and patterns of names to our own reader", async () => {
    expect(await duckDbBlocks(await fileSource(fixture("list.parquet")), {})).toBeUndefined();
    expect(await duckDbBlocks(await fileSource(fixture("list.arrow")), {})).toBeUndefined();
    copyFileSync(join(folder, "it's.parquet"), join(folder, "part-[1].parquet"));
    expect(await duckDbBlocks(await fileSource(join(folder, "part-[1].parquet")), {})).toBeUndefined();
  });

  it("refuses a damaged file by its name", async () => {
    writeFileSync(join(folder, "bad.parquet"), "PAR1 nothing PAR1");
    const refused = duckDbBlocks(await fileSource(join(folder, "bad.parquet")), {});
    await expect(refused).rejects.toMatchObject({ code: "bad-file", message: expect.stringMatching(/bad\.parquet/) });
  });
});

async function* once(data: DataSet): AsyncGenerator<DataSet> {
  yield data;
}
