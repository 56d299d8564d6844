/** Drawings: sheets that are well-formed, spreads as numbers. */

import { parseHTML } from "linkedom";
import { describe, expect, it } from "vitest";
import { chart } from "../../src/paper/drawing/chart.ts";
import { sheet } from "../../src/paper/drawing/plot.ts";
import { meanAndDeviation, pointOf, summarize } from "../../src/paper/drawing/spread.ts";

describe("sheet", () => {
  const axis = { label: "x & y < z" };
  const panel = chart({
    x: { ...axis, log: true },
    y: axis,
    lines: [
      {
        name: "",
        color: "#000",
        sign: "star",
        points: [
          { x: 1, y: 2, low: 1, high: 3 },
          { x: 10, y: 3 },
        ],
      },
    ],
    named: [
      { x: 2, y: 2, name: "one", color: "#111", sign: "circle" },
      { x: 2, y: 2, name: "two", color: "#222", sign: "square" },
    ],
  });
  const { svg } = sheet(
    "a.svg",
    "what it shows",
    [panel, { ...panel, title: "second" }],
    [{ name: "l", color: "#000" }],
  );

  it("is well-formed, with its own text escaped", () => {
    const { document } = parseHTML(svg);
    expect(document.querySelectorAll("svg > g > svg").length).toBe(2);
    expect(svg).toContain("x &amp; y &lt; z");
    expect(svg).not.toMatch(/NaN|undefined/);
  });

  it("does not write one name over another", () => {
    const [one, two] = ["one", "two"].map((name) =>
      new RegExp(`<text x="([\\d.]+)" y="([\\d.]+)"[^>]*>${name}<`).exec(svg),
    );
    expect(one?.slice(1)).not.toEqual(two?.slice(1));
  });
});

describe("spread", () => {
  it("has the mean and the sample deviation", () => {
    expect(summarize([1, undefined, 2, 3])).toEqual({ mean: 2, deviation: 1, count: 3 });
    expect(summarize([undefined])).toBeUndefined();
    expect(meanAndDeviation(summarize([0.5]))).toBe("0.5000");
    expect(meanAndDeviation(summarize([1, 3]), 2)).toBe("2.00 ± 1.41");
  });

  it("gives a point from the lowest to the highest run", () => {
    expect(pointOf(7, [3, 1, undefined])).toEqual([{ x: 7, y: 2, low: 1, high: 3 }]);
    expect(pointOf(7, [])).toEqual([]);
  });
});
