/** Files as a table that is read: the columns that reading the whole files gives, wherever a column shows that it is one of words. */

import { RanksimError } from "@ranksim/core";
import { describe, expect, it } from "vitest";
import {
  type ByteSource,
  bytesSource,
  describeData,
  detectColumns,
  detectTable,
  hashesOf,
  joinData,
  looksLikeTable,
  openData,
  type ReadDataOptions,
  readData,
  Table,
  TableEncoder,
  type TableRows,
  type TableSource,
} from "../../src/node.ts";

/** A file whose lines come some at a time, so that each few are a block of their own. */
function dripping(text: string, name: string, lines = 3): ByteSource {
  const parts = text.match(new RegExp(`(?:.*\n){1,${lines}}`, "g")) as string[];
  return {
    name,
    async *stream() {
      for (const part of parts) {
        yield new TextEncoder().encode(part);
        await new Promise((resume) => setTimeout(resume, 8));
      }
    },
  };
}

const whole = async (text: string, name: string, options: ReadDataOptions = {}) =>
  readData(bytesSource(new TextEncoder().encode(text), name), { table: true, ...options });

const CELLS = [
  "1",
  "-0",
  "007",
  "1.5",
  "2,5",
  "1,234",
  "12,345",
  "",
  "NA",
  "red",
  "blue",
  "yes",
  "3.2.2020",
  "1e3",
  "0,50",
];
const ROWS = 24;

/** Columns of all kinds of cells in all orders. */
function anyTable(columns: number): string {
  let state = 7;
  const draw = (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
  const list = Array.from({ length: columns }, (_, c) => {
    const few = Array.from({ length: 1 + (c % 4) }, () => CELLS[draw(CELLS.length)]);
    const late = CELLS[draw(CELLS.length)];
    const turn = draw(2 * ROWS);
    return Array.from({ length: ROWS }, (_, r) => (r >= turn ? late : few[draw(few.length)]));
  });
  const lines = Array.from({ length: ROWS }, (_, r) => list.map((cells) => cells[r]).join(";"));
  return `${list.map((_, c) => `c${c}`).join(";")}\n${lines.join("\n")}\n`;
}

const cellsOf = ({ rows, columns }: Table, c: number) => {
  const column = columns[c];
  return Array.from({ length: rows }, (_, r) =>
    column.form === "numbers" ? column.values[r] + 0 : column.words[column.codes[r]],
  );
};

const opened = async (
  files: readonly ByteSource[],
  options: ReadDataOptions = {},
): Promise<TableRows & { table: TableSource }> => {
  const data = await openData(files, { room: 5e4, table: true, ...options });
  if (data.form !== "table" || data.table instanceof Table) throw new Error("expected a table that is read");
  return { ...data, table: data.table };
};

async function expectSame(x: TableSource, table: Table): Promise<void> {
  expect([x.rows, x.columns.map(({ name }) => name)]).toEqual([table.rows, table.columns.map(({ name }) => name)]);
  for (const [c, column] of table.columns.entries()) {
    const found = await x.column(c);
    expect([found.name, found.form, "decimal" in found]).toEqual([column.name, column.form, "decimal" in column]);
    const values = found.form === "numbers" ? Array.from(found.values, (v) => v + 0) : [];
    const words = found.form === "words" ? Array.from(found.codes, (code) => found.words[code]) : [];
    expect([column.name, ...values, ...words]).toEqual([column.name, ...cellsOf(table, c)]);
  }
  expect(await detectTable(x)).toEqual(detectColumns(table));
  let first = 0;
  for await (const block of x.blocks()) {
    for (let c = 0; c < block.columns.length; c++) {
      expect(cellsOf(block, c)).toEqual(cellsOf(table, c).slice(first, first + block.rows));
    }
    first += block.rows;
  }
  expect(first).toBe(table.rows);
}

describe("a table that is read", () => {
  it("has the columns that it has in memory, whatever the blocks show of them", async () => {
    const text = anyTable(150);
    const data = await whole(text, "any.csv");
    if (data.form !== "table") throw new Error("expected a table");
    const source = await opened([dripping(text, "any.csv")]);
    await expectSame(source.table, data.table);
    const columns = detectColumns(data.table);
    expect(describeData(source, { columns }, await hashesOf(source, columns))).toEqual(describeData(data, { columns }));
    const rows = Uint32Array.of(1, 2, 5, 11, 23);
    await expectSame(await source.table.pick(rows), data.table.gather(rows));
    const some = ["c7", "c3", "c120"];
    await expectSame(source.table.select(some) as TableSource, data.table.select(some));
  });

  it("takes types and order of columns of later files from the first", async () => {
    const one = "colour,size,flag,label\nred,1,yes,a\n7,,no,b\nblue,2.5,yes,a\n";
    const two = "label,flag,size,colour\na,no,3,9\nb,yes,NA,red\n";
    const first = await whole(one, "one.csv");
    const schema = describeData(first, { rows: false });
    const joined = joinData([first, await whole(two, "two.csv", { schema })]);
    const source = await opened([dripping(one, "one.csv", 1), dripping(two, "two.csv", 1)]);
    expect(source.y).toEqual(joined.y);
    await expectSame(source.table, (joined as typeof joined & { form: "table" }).table);
    const bad = two.replace("NA", "large");
    await expect(opened([dripping(one, "one.csv"), dripping(bad, "two.csv")])).rejects.toThrow(
      /two\.csv, line 3.*expected a number as at training, found "large"/,
    );
  });

  it("is coded as in memory", async () => {
    const text = anyTable(40);
    const data = await whole(text, "any.csv");
    if (data.form !== "table") throw new Error("expected a table");
    const source = await opened([dripping(text, "any.csv")]);
    const [here, read] = [await new TableEncoder().fit(data.table), await new TableEncoder().fit(source.table)];
    expect(read.save()).toEqual(here.save());
    const expected = await here.transform(data.table);
    const coded = await (await read.transform(source.table)).gather(Uint32Array.from({ length: ROWS }, (_, r) => r));
    expect(coded.values).toEqual(expected.values);
    expect((coded as typeof expected).indices).toEqual(expected.indices);
  });

  it("stays rows of numbers where there is nothing else, which may be made a table", async () => {
    const lines = Array.from({ length: 30 }, (_, r) => `${r % 7},${r * 1000},${r / 8}`);
    const text = `a,b,c\n${lines.join("\n")}\n`;
    const data = await openData([dripping(text, "numbers.csv", 7)], { room: 5e4, table: true });
    if (data.form !== "matrix" || !data.asTable) throw new Error("expected rows of numbers");
    expect(await looksLikeTable(data.x, data.featureNames)).toBe(true);
    const numbers = await whole(text, "numbers.csv");
    const table: TableRows = { form: "table", table: await data.asTable() };
    const columns = await detectTable(table.table);
    expect(describeData(table, { columns }, await hashesOf(table))).toEqual({
      ...describeData(numbers, { columns }),
      ...{ form: "table", width: 3, columns },
    });
  });

  it("has the zeros of sparse rows", async () => {
    const line = (r: number) => [`${r % 2}`, `1:${r + 1}.5`, ...(r % 3 === 0 ? [] : [`2:${r * 1000}`]), `3:${-r / 8}`];
    const text = Array.from({ length: 40 }, (_, r) => `${line(r).join(" ")}\n`).join("");
    const read = await readData(bytesSource(new TextEncoder().encode(text), "rows.svmlight"), {});
    if (read.form !== "matrix") throw new Error("expected rows of numbers");
    for (const room of [3000, 5e4]) {
      const data = await openData([dripping(text, "rows.svmlight", 7)], { room, table: true });
      if (data.form !== "matrix" || !data.asTable) throw new Error("expected rows of numbers");
      expect(await looksLikeTable(data.x, data.featureNames)).toBe(true);
      await expectSame(await data.asTable(), Table.fromMatrix(read.x));
    }
  });

  it("refuses gaps where that was said, and images", async () => {
    const text = "a,b,label\nred,1,x\nblue,,y\n";
    const open = (options: ReadDataOptions) => opened([dripping(text, "gaps.csv")], options);
    await expect(open({ missing: "refuse" })).rejects.toThrow(/line 3.*missing value/);
    await expect(open({ images: "square" })).rejects.toThrow(/rows of numbers for images/);
    await expect(open({})).resolves.toMatchObject({ form: "table", y: ["x", "y"] });
    await expect(opened([dripping(text, "gaps.csv")], { labels: dripping("x\n", "few.txt") })).rejects.toThrow(
      RanksimError,
    );
  });
});
