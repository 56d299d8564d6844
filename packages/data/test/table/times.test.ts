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
    ["months in words", ["5 Mar 2023", "1 Apr 2023", "2 Jan 2024"]],
    ["other texts by their characters", ["2023-Q4", "2024-Q1", "2024-Q2"]],
  ])("%s", (_, texts) => {
    expect(ordered(...texts.toReversed())).toEqual(texts);
    expect(ordered(...texts.slice(1), texts[0])).toEqual(texts);
  });

  test("equal texts are one moment, and every text has one, whatever they spell", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom("1", "2.5", "01.02.2024", "2024-02-01"))), (texts) => {
        const times = timesOf(texts);
        expect(times.every(Number.isFinite)).toBe(true);
        for (const [r, text] of texts.entries()) expect(times[r]).toBe(times[texts.indexOf(text)]);
      }),
    );
  });
});
