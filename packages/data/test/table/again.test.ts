/** A table that is read again for the model that was trained on it holds the same cells, whole and in blocks, whatever its columns spell. */

import type { Csr } from "@ranksim/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  Budget,
  bytesSource,
  describeData,
  detectColumns,
  readBlocks,
  readData,
  rowCount,
  SeenTally,
  schemaColumn,
  Table,
  TableEncoder,
} from "../../src/index.ts";

/** Ways in which columns are spelled. */
const COLUMNS = [
  fc.nat(40).map(String),
  fc.nat(999).map((n) => (n / 100).toFixed(2)),
  fc.nat(30).map((n) => `0${n}`),
  fc.constantFrom("+1", "-0", "1e3", "1.50", "2.0", "-3.10", ".5", "7."),
  fc.nat(999).map((n) => (n / 100).toFixed(2).replace(".", ",")),
  fc.integer({ min: 100, max: 140 }).map((n) => `1,${n}`), // thousands, or a little more than one
  fc.constantFrom("1", "2.0", "01", "1.50", "x"),
  fc.constantFrom("0,50", "1,5", "2", "3,00"),
  fc.constantFrom("red", "blue", "NA", ""),
  fc.constantFrom("yes", "no"),
  fc.nat(27).map((n) => `${1 + n}.2.2023`),
  fc.nat(27).map((n) => `${1 + n} Feb 2023`),
  fc.nat(1439).map((n) => `${Math.floor(n / 60)}:${String(n % 60).padStart(2, "0")}`),
  fc.nat(99_999).map((n) => `$${n.toLocaleString("en-US")}.50`),
  fc.nat(99_999_999).map((n) => n.toLocaleString("de-DE")),
  fc.constantFrom("12 %", "3.5 %", "7%", "0"),
  fc.constantFrom("12.000", "1.200", "3.456", "1.234,56"),
  fc.constantFrom("1", "2.5", "-", "#N/A", "-999", "3", "4", "5"),
  fc.array(fc.constantFrom("red", "green", "blue"), { minLength: 3, maxLength: 9 }).map((words) => words.join(" ")),
];
/** What the last rows of a column may hold instead: it turns into words late. */
const LATE = fc.option(fc.constantFrom("x", "2,5", "7", "", "-", "1.234,5"), { nil: undefined });
const ROWS = 300;

const tables = fc
  .array(fc.tuple(fc.constantFrom(...COLUMNS), LATE), { minLength: 2, maxLength: 4 })
  .chain((columns) =>
    fc.tuple(
      ...columns.map(([cell, late]) =>
        fc
          .array(cell, { minLength: 17, maxLength: 17 })
          .map((cells) =>
            Array.from({ length: ROWS }, (_, r) => (late !== undefined && r >= ROWS - 9 ? late : cells[(r * r) % 17])),
          ),
      ),
    ),
  )
  .map((columns) => [
    [...columns.map((_, c) => `c${c}`), "kind"].join(";"),
    ...Array.from({ length: ROWS }, (_, r) => [...columns.map((cells) => cells[r]), r % 2 ? "a" : "b"].join(";")),
  ]);

test("is the same", async () => {
  await fc.assert(
    fc.asyncProperty(tables, async (lines) => {
      const file = () => bytesSource(new TextEncoder().encode(`${lines.join("\n")}\n`), "a.csv");
      const found = await readData(file(), { table: true, labelColumn: "kind", delimiter: ";" });
      if (found.form === "text") throw new Error("text");
      const all = found.form === "table" ? found.table : Table.fromMatrix(found.x, found.featureNames);
      const columns = detectColumns(all).filter(({ leftOut }) => leftOut === undefined);
      fc.pre(columns.length > 0);
      const names = columns.map(({ name }) => name);
      const table = all.select(names);
      const ignored = all.columns.map(({ name }) => name).filter((name) => !names.includes(name));
      const set = {
        form: "table" as const,
        table,
        ...(found.y ? { y: found.y } : {}),
        found: { label: "kind", ignored },
      };
      const { training, ...known } = describeData(set, { columns, options: { delimiter: ";" } });
      // Rows of few cells are often alike by chance; here it matters that each is known again.
      const { repeats: _, ...kept } = training as NonNullable<typeof training>;
      const schema = { ...known, training: kept };
      const types = Object.fromEntries(columns.map((column) => [column.name, schemaColumn(column)]));
      const model = await new TableEncoder({ types }).fit(table);
      const encoded = async (rows: Table) => entriesOf((await model.transform(rows)) as Csr);
      const expected = await encoded(table);

      const [whole, blocks] = [new SeenTally(schema), new SeenTally(schema)];
      const again = await readData(file(), { schema });
      whole.add(again);
      expect(whole.seen()).toBe(ROWS);
      expect(await encoded(tableOf(again, names))).toEqual(expected);
      let [rows, count] = [0, 0];
      // Blocks of 16 KB, so that the padding makes several.
      const padded = bytesSource(
        new TextEncoder().encode(
          `${lines.map((line, r) => line + (r === 0 ? ";pad" : `;${"p".repeat(150)}`)).join("\n")}\n`,
        ),
        "a.csv",
      );
      for await (const data of readBlocks(padded, { schema, budget: new Budget(2 ** 20) })) {
        blocks.add(data);
        expect(await encoded(tableOf(data, names))).toEqual(expected.slice(rows, rows + rowCount(data)));
        rows += rowCount(data);
        count++;
      }
      expect([rows, blocks.seen()]).toEqual([ROWS, ROWS]);
      expect(count).toBeGreaterThan(1);
    }),
    { numRuns: Number(process.env.RUNS ?? 60) },
  );
});

type Data = Awaited<ReturnType<typeof readData>>;

function tableOf(data: Data, names: readonly string[]): Table {
  if (data.form === "table") return data.table;
  if (data.form === "matrix") return Table.fromMatrix(data.x, names);
  throw new Error("text");
}

/** The entries of each row. */
function entriesOf({ offsets, indices, values, rows }: Csr): unknown[] {
  return Array.from({ length: rows }, (_, r) =>
    Array.from(indices.subarray(offsets[r], offsets[r + 1]), (i, e) => [i, values[offsets[r] + e]]),
  );
}
