/** Workbooks of Excel: the first sheet is read as a CSV file of the same cells would be. */

import { describe, expect, test } from "vitest";
import { Budget, bytesSource, readData, type Table } from "../../src/index.ts";
import { expectRefusal, read } from "../rows.ts";
import { cell, workbook, workbookParts, zipped } from "../xlsx-files.ts";

const { number, date, shared, inline, truth, error } = cell;
const texts = ["<t>size</t>", "<t>when</t>", "<r><t>ki</t></r><r><t>nd</t></r><rPh sb='0'><t>x</t></rPh>"];
const rowsOf = ({ rows, columns }: Table) =>
  Array.from({ length: rows }, (_, r) => columns.map((column, c) => [column.name, tableCell(columns[c], r)]));
const tableCell = (column: Table["columns"][number], r: number) =>
  column.form === "numbers" ? column.values[r] : (column.words[column.codes[r]] ?? null);

describe("a workbook", () => {
  test("has its numbers, texts, dates, truths and errors, gaps and rows that are not there", async () => {
    const bytes = workbook(
      [
        [shared(0), shared(1), inline("flag"), shared(2)],
        [number(1.5), date(45351), truth(true), inline("a &lt; b, &quot;c&quot; &#228;")],
        [],
        [undefined, date(45351.75, 2), truth(false), inline("d")],
        [error("#N/A"), date(59, 1), truth(false), inline("d")],
        [number(-2e-7), date(0.5, 3), undefined, inline("e\nf")],
      ],
      { shared: texts },
    );
    const data = await readData(bytesSource(bytes, "a.xlsx"), { table: true, labelColumn: "kind" });
    expect(data.form).toBe("table");
    expect(data.y).toEqual(['a < b, "c" ä', "d", "d", "e\nf"]);
    expect(rowsOf((data as { table: Table }).table)).toEqual([
      [
        ["size", "1.5"],
        ["when", "2024-02-29"],
        ["flag", "true"],
      ],
      [
        ["size", null],
        ["when", "2024-02-29 18:00:00"],
        ["flag", "false"],
      ],
      [
        ["size", "#N/A"],
        ["when", "1900-02-28"],
        ["flag", "false"],
      ],
      [
        ["size", "-2e-7"],
        ["when", "12:00:00"],
        ["flag", null],
      ],
    ]);
  });

  test("of numbers alone is a matrix, whose dates may count from 1904", async () => {
    const plain = workbook([
      [inline("a"), inline("b")],
      [number(1), number(2)],
      [number(3), number(4)],
    ]);
    expect(await read("n.xlsx", plain)).toMatchObject({ form: "matrix", featureNames: ["a", "b"] });
    const rows = [
      [inline("day"), inline("n")],
      [date(43889), number(1)],
    ];
    const { table } = (await read("d.xlsx", workbook(rows, { is1904: true }), { table: true })) as { table: Table };
    expect(rowsOf(table)[0][0]).toEqual(["day", "2024-02-29"]);
  });

  test("of several sheets says which one is read", async () => {
    const rows = [
      [inline("a"), inline("b")],
      [number(1), number(2)],
    ];
    const { notes } = await read("s.xlsx", workbook(rows, { sheets: ["first", "second"] }));
    expect(notes).toEqual([expect.stringContaining('rows are those of the sheet "first"; others ("second")')]);
  });

  test.each([
    ["no sheet", { "xl/workbook.xml": "<workbook/>" }, "expected a workbook with a sheet"],
    ["no cells", { "xl/worksheets/sheet1.xml": "<sheetData/>" }, "expected cells, found none"],
    ["a text that is not there", { "xl/worksheets/sheet1.xml": '<row><c t="s"><v>7</v></c></row>' }, 'number "7"'],
    ["a number that is none", { "xl/worksheets/sheet1.xml": "<row><c><v>x</v></c></row>" }, "expected a number"],
    ["a column beyond all", { "xl/worksheets/sheet1.xml": '<row><c r="ZZZ1"><v>1</v></c></row>' }, "16384 columns"],
    ["a comment without end", { "xl/worksheets/sheet1.xml": "<row><!-- " }, "expected an end of <!--"],
  ])("with %s is refused", async (_, changed, message) => {
    const parts = { ...workbookParts([[inline("a")]]), ...changed };
    await expectRefusal(read("w.xlsx", zipped(parts)), "bad-file", "w.xlsx", message);
  });

  test("takes what it unpacks from the budget, and no time that grows faster than its text", async () => {
    const wide = `<row><c r="XFD1"><v>1</v></c></row>`.repeat(10_000);
    const bomb = zipped({ ...workbookParts([]), "xl/worksheets/sheet1.xml": wide });
    const small = new Budget(50_000_000);
    await expectRefusal(read("wide.xlsx", bomb, { budget: small }), "bad-file", "wide.xlsx", "memory");
    for (const text of ["<", "<a ", "<a x='", '<a "', "<!", "a=", "&#", '<c r="', "<t>&amp"]) {
      const parts = { ...workbookParts([]), "xl/worksheets/sheet1.xml": text.repeat(400_000) };
      await expectRefusal(read("slow.xlsx", zipped(parts)), "bad-file", "slow.xlsx", "expected cells");
    }
  });
});
