import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { timesOf } from "../../src/index.ts";

/** The texts in the order of time. */
const ordered = (...texts: string[]) => {
  const times = timesOf(texts);
  return texts
    .map((_, r) => r)
    .sort((a, b) => times[a] - times[b])
    .map((r) => texts[r]);
};

describe("the order of rows in time", () => {
  test.each([
    ["numbers by size", ["900", "1000", "1e4"]],
    ["dates with the year first", ["2023-12-31", "2024-1-2", "2024-01-10 08:00", "2024-01-10 17:30"]],
    ["day first, where one day is above 12", ["07.05.2023", "14.05.2023", "04.06.2023", "01.01.2024"]],
    ["month first, where one day is above 12", ["4/30/2023", "5/1/2023", "6/2/2023"]],
    ["moments by their time zones", ["2024-01-01T10:00+05:00", "2024-01-01T06:00Z", "2024-01-01 02:00-08:00"]],
    ["months before their year", ["12.2022", "2.2023", "11.2023", "01.2024"]],
    ["months before their year, with a stroke", ["12/2022", "02/2023", "11/2023", "01/2024"]],
    ["numbers, of which some could be months", ["0.5", "1.2024", "3.25", "12.2023"]],
    ["months in words", ["5 Mar 2023", "1 Apr 2023", "2 Jan 2024"]],
    ["other texts by their characters", ["2023-Q4", "2024-Q1", "2024-Q2"]],
  ])("%s", (_, texts) => {
    expect(ordered(...texts.toReversed())).toEqual(texts);
    expect(ordered(...texts.slice(1), texts[0])).toEqual(texts);
  });

  test("equal texts are one moment, in whatever order they come", () => {
    const cells = [
      fc.integer({ min: 0, max: 99 }).map(String),
      fc
        .date({ min: new Date("2000-01-01"), max: new Date("2030-01-01"), noInvalidDate: true })
        .map((d) => d.toISOString()),
      fc.integer({ min: 1, max: 4 }).map((quarter) => `2024-Q${quarter}`),
    ];
    fc.assert(
      fc.property(fc.oneof(...cells.map((cell) => fc.array(cell))), (texts) => {
        const times = timesOf(texts);
        expect(times.every(Number.isFinite)).toBe(true);
        for (const [r, text] of texts.entries()) expect(times[r]).toBe(times[texts.indexOf(text)]);
      }),
    );
  });

  test.each([
    ["a word among dates", ["07.05.2023", "unknown", "04.06.2023"], 1, "07.05.2023"],
    ["a month that is none", ["12.2023", "01.2024", "13.2024"], 2, "12.2023"],
    ["a word among numbers, first", ["later", "900", "1000"], 0, "900"],
    ["another way to write dates", ["11.04.2020", "12.04.2020", "2022-01-17"], 2, "11.04.2020"],
    ["days that are first and days that are second", ["30/4/2023", "5/31/2023", "29/4/2023"], 1, "30/4/2023"],
    ["words of which only some are dates", ["week 12", "week 9", "week 13"], 1, "week 12"],
    ["a day that is none", ["2023-02-28", "2023-02-29", "2023-03-01"], 1, "2023-02-28"],
    ["a day that is none, the year last", ["01.03.2023", "30.02.2023", "02.01.2024"], 1, "01.03.2023"],
    ["months with one digit and with two", ["2023-9", "2023-10", "2023-11"], 0, "2023-10"],
    ["months in another language", ["5 Mai 2023", "6 Mai 2023", "1 April 2023"], 2, "5 Mai 2023"],
  ])("refuses %s: by their characters they would be in another order", (_, texts, row, usual) => {
    expect(() => timesOf(texts, (r) => ({ where: `t.csv, row ${r}` }))).toThrow(
      `t.csv, row ${row}: expected a time in the form of "${usual}" as in other rows, found "${texts[row]}"; correct it`,
    );
  });

  test.each(["Q1 2024", "13/2024", "w07-2024"])("refuses %s, whose year is not first", (text) => {
    const message = `row 0: expected times that begin with the year, found "${text}"; write all of them as dates such as 2024-05-31`;
    expect(() => timesOf([text, text.replace("2024", "2023")])).toThrow(message);
  });

  test.each(["2024-W07", "week 07", "20:15:00"])("takes %s", (text) => {
    expect(timesOf([text, text])).toEqual(Float64Array.of(0, 0));
  });
});
