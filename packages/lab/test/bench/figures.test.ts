import { describe, expect, it } from "vitest";
import { withTables } from "../../src/bench/readme.ts";
import { median } from "../../src/bench/results.ts";
import { megabytes, number, percent, spread, table } from "../../src/bench/show.ts";

describe("median", () => {
  it("is the middle value, or the mean of the two middle ones", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([])).toBeUndefined();
  });
});

describe("figures", () => {
  it("keep three digits that count", () => {
    expect([0, 0.0123456, 0.5, 1.2345, 12.345, 123.45, 12345.6].map(number)).toEqual([
      "0",
      "0.0123",
      "0.500",
      "1.23",
      "12.3",
      "123",
      "12,346",
    ]);
    expect(megabytes(123_456_789)).toBe("123");
    expect(percent(0.9876)).toBe("98.8 %");
  });

  it("show the median, then the range if there is one", () => {
    expect(spread([1, 3, 2])).toBe("2.00 (1.00–3.00)");
    expect(spread([2, 2.0001])).toBe("2.00");
    expect(spread([])).toBe("–");
  });

  it("make tables without columns that nobody has", () => {
    const made = table(
      ["a", "b", "c"],
      [
        ["x", "–", "1"],
        ["y", "–", "–"],
      ],
    );
    expect(made).toBe("| a | c |\n| --- | ---: |\n| x | 1 |\n| y | – |");
  });
});

describe("tables in a README", () => {
  it("replace what stands between the marks and nothing else", () => {
    const text = "above\n<!-- bench:start -->\nold\n<!-- bench:end -->\nbelow\n";
    const made = "above\n<!-- bench:start -->\n\nnew\n\n<!-- bench:end -->\nbelow\n";
    expect(withTables(text, "new")).toBe(made);
    expect(withTables(made, "new")).toBe(made);
    expect(withTables("no marks", "new")).toBeUndefined();
  });
});
