import { Csr, Dense, toCsr } from "@ranksim/core";
import { describe, expect, test } from "vitest";
import { detectColumns, looksLikeTable, schemaColumn, Table } from "../../src/index.ts";

const records = (rows: number, cell: (r: number) => unknown) =>
  Table.fromRecords(Array.from({ length: rows }, (_, r) => ({ c: cell(r) })));
const detect = (rows: number, cell: (r: number) => unknown) => detectColumns(records(rows, cell))[0];

describe("columns are told by their cells", () => {
  test.each([
    ["numbers", (r: number) => (r % 7) + 0.5, { type: "number" }],
    ["categories", (r: number) => ["red", "green"][r % 2], { type: "category" }],
    ["booleans", (r: number) => ["Yes", "no"][r % 2], { type: "boolean" }],
    ["truths of a program", (r: number) => r % 2 === 0, { type: "boolean" }],
    ["dates", (r: number) => `2024-01-${10 + (r % 9)}`, { type: "date" }],
    ["dates with the day first", (r: number) => `${10 + r}.01.2024`, { type: "date", order: "dmy" }],
    ["dates with the month first", (r: number) => `1/${10 + (r % 9)}/2024`, { type: "date", order: "mdy" }],
    ["dates that could be either, with slashes", (r: number) => `${1 + r}/2/2024`, { type: "date", order: "mdy" }],
    ["dates that could be either, with points", (r: number) => `1.${1 + r}.2024`, { type: "date", order: "dmy" }],
    ["dates with the month as a word", (r: number) => `${10 + r} Jan 2024`, { type: "date", order: "dmy" }],
    ["the same the American way", (r: number) => `January ${10 + r}, 2024 3:05 PM`, { type: "date", order: "mdy" }],
    ["times of day", (r: number) => `${8 + r}:30`, { type: "time" }],
    ["decimal commas", (r: number) => `${r},25`, { type: "number", decimal: "," }],
    ["points and commas", (r: number) => `1.${r + 100},56`, { type: "number", decimal: ",", thousands: "." }],
    ["currency", (r: number) => `$1,${r + 100}.50`, { type: "number", thousands: ",", unit: "$" }],
    ["currency behind", (r: number) => `${r},50 €`, { type: "number", decimal: ",", unit: "€" }],
    ["percent", (r: number) => `${r} %`, { type: "number", unit: "%" }],
    ["blanks between thousands", (r: number) => `${r + 1} 000`, { type: "number", thousands: " " }],
    ["two currencies, which cannot be compared", (r: number) => ["$5", "€5"][r % 2], { type: "category" }],
    ["numbers and a dash", (r: number) => (r % 3 ? String(r) : "-"), { type: "number", missing: ["-"] }],
    ["dates and #N/A", (r: number) => (r % 3 ? `2024-01-${10 + r}` : "#N/A"), { type: "date", missing: ["#N/A"] }],
    ["signs, of which one is a dash", (r: number) => ["+", "-"][r % 2], { type: "category" }],
    ["numbers and -999", (r: number) => (r % 3 ? r * 1.5 : -999), { type: "number", missing: ["-999"] }],
    ["nines among numbers like them", (r: number) => [99, 98, 40, 150][r % 4], { type: "number" }],
  ])("%s", (_, cell, expected) => {
    expect(schemaColumn(detect(12, cell))).toEqual({ name: "c", ...expected });
  });

  test.each([
    ["one value", () => 5, "always the same"],
    ["one word", () => "red", "always the same"],
    ["no value", () => null, "no values"],
    ["a word for each row", (r: number) => `customer ${r}`, "names almost every row"],
    ["row numbers", (r: number) => r + 1, "numbers the rows"],
  ])("those that tell nothing are left out: %s", (_, cell, why) => {
    expect(detect(30, cell).leftOut).toContain(why);
  });

  test.each([
    ["a long text in each row", (r: number) => `this is what somebody said about row number ${r} of the table`],
    ["short sentences", (r: number) => `where is parcel ${r}`],
  ])("%s", (_, cell) => {
    expect(detect(30, cell)).toEqual({ name: "c", type: "text" });
  });

  test("numbers that count seconds are dates where the name says so", () => {
    const seconds = (name: string) => Table.fromRecords([1_700_000_000, 1_700_086_400].map((t) => ({ [name]: t })));
    expect(detectColumns(seconds("created_at"))[0]).toMatchObject({ type: "date", order: "seconds" });
    expect(detectColumns(seconds("population"))[0]).toEqual({ name: "population", type: "number" });
  });

  test.each([
    ["a dash", (r: number) => (r % 3 ? String(r) : "-"), /^4 cells are "-", taken as missing$/],
    ["nines", (r: number) => (r % 3 ? r * 1.5 : -999), /^4 cells are -999, taken as missing$/],
    ["commas", (r: number) => `${1 + r},234`, /^"1,234" is read as 1234$/],
  ])("what was read as one thing and could be another is noted: %s", (_, cell, note) => {
    expect(detect(12, cell).note).toMatch(note);
  });

  test("what is said of a column goes first", () => {
    expect(
      detectColumns(
        records(30, (r) => (r ? r : -999)),
        { c: "number" },
      )[0],
    ).toEqual({ name: "c", type: "number" });
    const table = records(30, (r) => r);
    expect(detectColumns(table, { c: "number" })[0]).toEqual({ name: "c", type: "number" });
    expect(detectColumns(table, { c: "category" })[0]).toEqual({ name: "c", type: "category" });
    expect(detectColumns(table, { c: "ignore" })[0].leftOut).toBe("as was said");
    expect(detectColumns(table, { c: "date-dmy" })[0]).toEqual({ name: "c", type: "date", order: "dmy" });
    expect(() => detectColumns(table, { d: "number" })).toThrow(/expected one of c, found d/);
    expect(() => detectColumns(table, { c: "colour" as never })).toThrow(/expected number, category/);
  });
});

describe("rows of numbers", () => {
  const matrix = (features: number, cell: (r: number, c: number) => number, rows = 50) =>
    Dense.fromRows(Array.from({ length: rows }, (_, r) => Array.from({ length: features }, (_, c) => cell(r, c))));
  const wave = (r: number, c: number) => 1 + Math.abs(Math.sin(r * 12.9898 + c * 78.233));
  const named = (features: number, name: (c: number) => string) => Array.from({ length: features }, (_, c) => name(c));

  test.each([
    ["few columns", matrix(4, wave), undefined, true],
    ["columns with names of their own", matrix(13, wave), named(13, (c) => "abcdefghijklm"[c]), true],
    ["columns of different scales", matrix(13, (r, c) => wave(r, c) * 10 ** (c % 4)), undefined, true],
    [
      "numbered columns of different scales",
      matrix(13, (r, c) => wave(r, c) * 10 ** (c % 4)),
      named(13, (c) => `f${c}`),
      true,
    ],
    [
      "numbered columns of one unit, of which some vary little",
      matrix(13, (r, c) => wave(r, c) * (c % 4 === 0 ? 1 : 20)),
      named(13, (c) => `f${c}`),
      false,
    ],
    ["pixels by name", matrix(64, (r, c) => Math.round(wave(r, c) * 16)), named(64, (c) => `pixel${c}`), false],
    ["a spectrum by name", matrix(40, wave), named(40, (c) => `${400 + 2 * c} nm`), false],
    ["an embedding", matrix(32, wave), undefined, false],
    [
      "pixels without names, the corners of which are dark",
      matrix(64, (r, c) => Math.round(wave(r, c) * (c % 9))),
      undefined,
      false,
    ],
    [
      "counts of words",
      matrix(20, (r, c) => ((r * 7 + c * 3) % 5 === 0 ? 2 : 0)),
      named(20, (c) => `w${"abcdefghijklmnopqrst"[c]}`),
      false,
    ],
    [
      "very many columns",
      matrix(200, wave),
      named(200, (c) => `c${String.fromCharCode(97 + (c % 26))}${"x".repeat(c)}`),
      false,
    ],
  ])("%s", async (_, x, names, expected) => {
    expect(await looksLikeTable(x, names)).toBe(expected);
  });

  test("with means far apart in no order are a table, those of a spectrum are not", async () => {
    const offsets = (c: number) => 20 * Math.sin(7 * c * c);
    const bands = (c: number) => 20 * Math.sin(c / 8);
    const counted = Array.from({ length: 32 }, (_, c) => `x${c}`);
    for (const names of [undefined, counted]) {
      expect(
        await looksLikeTable(
          matrix(32, (r, c) => wave(r, c) + offsets(c)),
          names,
        ),
      ).toBe(true);
      expect(
        await looksLikeTable(
          matrix(32, (r, c) => wave(r, c) + bands(c)),
          names,
        ),
      ).toBe(false);
      expect(
        await looksLikeTable(
          matrix(32, (r, c) => wave(r, c) + offsets(c) / 20),
          names,
        ),
      ).toBe(false);
      expect(
        await looksLikeTable(
          matrix(32, (r, c) => Math.round(wave(r, c) + 9 + offsets(c))),
          names,
        ),
      ).toBe(false);
    }
  });

  test("that are sparse are a table where they have few zeros and would be one with them", async () => {
    expect(await looksLikeTable(Csr.fromRows([[[0, 1]]], 3))).toBe(false);
    expect(await looksLikeTable(toCsr(matrix(4, wave)))).toBe(true);
    const units = matrix(12, (r, c) => wave(r, c) * 10 ** (c % 4));
    expect(await Promise.all([units, toCsr(units)].map((x) => looksLikeTable(x)))).toEqual([true, true]);
    expect(await Promise.all([matrix(32, wave), toCsr(matrix(32, wave))].map((x) => looksLikeTable(x)))).toEqual([
      false,
      false,
    ]);
  });
});
