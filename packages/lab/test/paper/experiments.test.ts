/** All tables and figures: chosen by name, without a result they say so, and no claim is judged that was not measured. */

import { describe, expect, it } from "vitest";
import { idOf, judge } from "../../src/paper/experiment.ts";
import { chooseExperiments, EXPERIMENTS } from "../../src/paper/experiments/all.ts";
import { keyOf } from "../../src/runner/results.ts";

describe("chooseExperiments", () => {
  it("takes panels, beginnings of panels, or everything", () => {
    expect(chooseExperiments([])).toBe(EXPERIMENTS);
    expect(chooseExperiments(["figure-3c"]).map(idOf)).toEqual(["figure-3c"]);
    expect(chooseExperiments(["figure-2b", "table-1"]).map(idOf)).toEqual(["figure-2ab", "table-1"]);
    expect(chooseExperiments(["Figure-2"]).map(idOf)).toEqual(["figure-2ab", "figure-2cd", "figure-2e"]);
  });

  it("refuses what it does not know, naming what there is", () => {
    expect(() => chooseExperiments(["figure-7"])).toThrow(
      /no table or figure figure-7; there are figure-1a, .*table-1/,
    );
  });
});

describe.each(EXPERIMENTS.map((experiment) => [idOf(experiment), experiment] as const))("%s", (_id, experiment) => {
  it.each([false, true])("has points of different names and specifications (quick: %s)", (quick) => {
    const points = experiment.points(quick);
    expect(new Set(points.map(({ name }) => name)).size).toBe(points.length);
    expect(new Set(points.map(keyOf)).size).toBe(points.length);
  });

  it("makes a section without any result, in which nothing that needs measuring is judged", () => {
    const { text, plots, claims } = experiment.section({
      quick: false,
      find: () => undefined,
      source: () => undefined,
    });
    expect(text).not.toMatch(/NaN|undefined/);
    for (const { svg } of plots) expect(svg).not.toMatch(/NaN|undefined/);
    expect(claims.length).toBeGreaterThan(0);
    if (experiment.points(false).length === 0) return;
    expect(claims.map(({ verdict }) => verdict)).toEqual(claims.map(() => "not measured"));
  });
});

describe("judge", () => {
  it("needs every part to be measured, unless parts already differ", () => {
    expect(judge([true, undefined])).toBe("not measured");
    expect(judge([false, undefined])).toBe("not measured");
    expect(judge([true, undefined, false])).toBe("holds in part");
    expect(judge([])).toBe("not measured");
  });

  it("holds, holds in part or does not", () => {
    expect(judge([true, true])).toBe("holds");
    expect(judge([false, true])).toBe("holds in part");
    expect(judge([false, false])).toBe("does not hold");
  });
});
