import { describe, expect, test } from "vitest";
import { Budget } from "../../src/budget.ts";
import { categoryOf, isMissing, truthOf } from "../../src/table/cells.ts";
import { ColumnBuilder } from "../../src/table/column-builder.ts";
import { dateOf } from "../../src/table/dates.ts";
import { commaNumber, plainNumber } from "../../src/table/numbers.ts";
import { NO_WORD } from "../../src/table/table.ts";

describe("cells", () => {
  test("without a value", () => {
    for (const text of ["", "NA", "n/a", "NaN", "null", "None", "?"]) expect(isMissing(text)).toBe(true);
    for (const text of ["0", "no", "-", "nano"]) expect(isMissing(text)).toBe(false);
  });

  test("of numbers, with a point or with a comma", () => {
    expect(["1", "-2.5", "+.5", "1e3", "7."].map(plainNumber)).toEqual([1, -2.5, 0.5, 1000, 7]);
    expect(["", "1,5", "0x10", "Infinity", "1e999", "1 2"].map(plainNumber)).toEqual(Array(6).fill(Number.NaN));
    expect(["1,5", "-0,25", ",5", "1,5e2"].map(commaNumber)).toEqual([1.5, -0.25, 0.5, 150]);
    expect(["1", "1.5", "1.234,5", "1,2,3", "a,b"].map(commaNumber)).toEqual(Array(5).fill(Number.NaN));
  });

  test("of categories are known by their number where they spell one", () => {
    expect(["1", "1.0", "01", "-0", "one", " 1"].map(categoryOf)).toEqual(["1", "1", "1", "0", "one", " 1"]);
  });

  test("of truths", () => {
    expect(["yes", "No", "TRUE", "f", "1", "0", "maybe"].map(truthOf)).toEqual([1, 0, 1, 0, 1, 0, Number.NaN]);
  });

  test("of dates, in three orders, with the clock that is written and no other", () => {
    const day = Date.UTC(2024, 1, 29);
    expect(dateOf("2024-02-29", "ymd")).toBe(day);
    expect(dateOf("29.2.2024", "dmy")).toBe(day);
    expect(dateOf("2/29/2024", "mdy")).toBe(day);
    expect(dateOf("2024-02-29T13:45:10.5+02:00", "ymd")).toBe(day + ((13 * 60 + 45) * 60 + 10) * 1000);
    expect(dateOf("2024-02-29 13:45", "ymd")).toBe(dateOf("2024-02-29T13:45Z", "ymd"));
    for (const wrong of ["2023-02-29", "2024-13-01", "2024-02-29 25:00", "20240229", "2024-2", "hello"]) {
      expect(dateOf(wrong, "ymd")).toBeNaN();
    }
    expect(dateOf("0001-01-01", "ymd")).toBe(new Date("0001-01-01T00:00:00Z").getTime());
  });
});

describe("a column", () => {
  const build = (cells: readonly string[]) => {
    const builder = new ColumnBuilder("c", new Budget().of("test"));
    for (const cell of cells) builder.addText(cell);
    const column = builder.finish();
    if (column.form === "numbers") return { ...column, values: [...column.values] };
    return { words: [...column.codes].map((code) => (code === NO_WORD ? null : column.words[code])) };
  };

  test("is one of numbers while all cells are", () => {
    expect(build(["1", "", "2.5"])).toEqual({ form: "numbers", name: "c", values: [1, Number.NaN, 2.5] });
  });

  test("becomes one of words when a word comes, and forgets no cell", () => {
    expect(build(["1.0", "", "07", "red", "2"])).toEqual({ words: ["1", null, "7", "red", "2"] });
  });

  test("has decimal commas where it has no points", () => {
    expect(build(["1,5", "2", "NA", "0,25"])).toMatchObject({ values: [1.5, 2, Number.NaN, 0.25], decimal: "," });
    expect(build(["1,5", "2.5"])).toEqual({ words: ["1,5", "2.5"] });
    expect(build(["2.5", "1,5"])).toEqual({ words: ["2.5", "1,5"] });
  });

  test("keeps cells as they are written where a comma may set thousands apart", () => {
    expect(build(["999", "1,230"])).toEqual({ words: ["999", "1,230"] });
    expect(build(["1,5", "1,230"])).toMatchObject({ values: [1.5, 1.23], decimal: "," });
    expect(build(["0,123", "2"])).toMatchObject({ values: [0.123, 2], decimal: "," });
  });

  test("holds many cells", () => {
    const cells = Array.from({ length: 3000 }, (_, i) => (i === 2500 ? "x" : String(i % 700)));
    expect(build(cells)).toEqual({ words: cells });
  });

  test("takes what it needs from the budget", () => {
    const builder = new ColumnBuilder("c", new Budget(10_000).of("small.csv"));
    expect(() => {
      for (let i = 0; i < 5000; i++) builder.addText(`word ${i}`);
    }).toThrow(/small.csv.*memory/);
  });
});
