/** What the page has at hand: nothing, data, a model, or both, and never two that do not fit. */

import { describe, expect, it } from "vitest";
import type { DataSummary, ModelSummary, Recipe } from "../src/protocol.ts";
import { NOTHING, type OpenData, type OpenModel, withData, withFindings, withModel } from "../src/state/situation.ts";

const data = (id: number): OpenData => ({
  id,
  summary: { name: `data ${id}`, rows: 3 } as DataSummary,
  imageSize: undefined,
  choices: {},
  files: [],
});

const model = (id: number, recipe?: Recipe): OpenModel => ({
  id,
  summary: { name: `model ${id}` } as ModelSummary,
  imageSize: undefined,
  recipe,
});

const recipe: Recipe = { estimator: "classifier", heldOut: 0, params: {} };

describe("a situation", () => {
  it("holds data and model together only where they fit", () => {
    const withRows = withData(NOTHING, data(1), false);
    expect(withRows).toMatchObject({ is: "data", data: { id: 1 }, browsed: Uint32Array.of(0, 1, 2) });
    expect(withModel(withRows, model(2), true)).toMatchObject({ is: "both", data: { id: 1 }, model: { id: 2 } });
    const alone = withModel(withRows, model(2), false);
    expect(alone).toEqual({ is: "model", model: model(2) });
    expect(withData(alone, data(3), true)).toMatchObject({ is: "both", data: { id: 3 }, model: { id: 2 } });
    expect(withData(alone, data(3), false)).toMatchObject({ is: "data", data: { id: 3 } });
  });

  it("lets a model go that was trained on the data before", () => {
    const both = withModel(withData(NOTHING, data(1), false), model(2, recipe), true);
    expect(withData(both, data(3), true)).toMatchObject({ is: "data", data: { id: 3 } });
  });

  it("takes findings of the model at hand and none of another", () => {
    const both = withModel(withData(NOTHING, data(1), false), model(2), true);
    const judged = { is: "judged", evaluation: undefined } as const;
    expect(withFindings(both, 2, { judged })).toMatchObject({ judged });
    expect(withFindings(both, 7, { judged })).toBe(both);
    const next = withModel(both, model(4), true);
    expect(next).toMatchObject({ judged: { is: "judging" } });
  });
});
