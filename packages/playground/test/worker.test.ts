/** The worker's own parts, run in Node: the gate, the study of features, and the views of filters and rows. */

import { Csr, Dense, RankSimilarityClassifier, trainTestSplit } from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import { describe, expect, it } from "vitest";
import { loadedData, splitRows, summarize, viewRow } from "../src/worker/data.ts";
import { Gate } from "../src/worker/gate.ts";
import { viewFilter } from "../src/worker/pictures.ts";
import { Session } from "../src/worker/session.ts";
import { studyFeatures } from "../src/worker/study.ts";

describe("the gate", () => {
  it("lets a run take one step at a time", async () => {
    const gate = new Gate("step");
    let steps = 0;
    const run = (async () => {
      for (let j = 0; j < 3; j++) {
        await gate.pass();
        steps++;
      }
    })();
    const turn = () => new Promise((resolve) => setTimeout(resolve, 30));
    await turn();
    expect(steps).toBe(0);
    gate.go("step");
    await turn();
    expect(steps).toBe(1);
    gate.go("full");
    await run;
    expect(steps).toBe(3);
    gate.close();
  });
});

describe("data", () => {
  it("is told in a few words", () => {
    const x = Dense.fromRows([
      [0, 1.5],
      [-2, 4],
    ]);
    const data = loadedData("t.csv", { form: "matrix", x, y: ["b", "a"], featureNames: ["u", "v"] });
    expect(summarize(data)).toEqual({
      name: "t.csv",
      form: "dense",
      rows: 2,
      features: 2,
      classes: ["a", "b"],
      multilabel: false,
      low: -2,
      high: 4,
      whole: false,
      featureNames: ["u", "v"],
    });
    expect(viewRow(data, 1)).toEqual({ row: 1, label: "a", sample: { form: "dense", values: Float64Array.of(-2, 4) } });
  });

  it("takes whole numbers in a square for pictures, unless the columns have names", () => {
    const x = Dense.of(new Uint8Array(2 * 49), 2, 49);
    expect(summarize(loadedData("a", { form: "matrix", x })).imageSize).toEqual({ width: 7, height: 7 });
    const featureNames = Array.from({ length: 49 }, (_, j) => `gene ${String.fromCharCode(97 + (j % 26))}`);
    expect(summarize(loadedData("a", { form: "matrix", x, featureNames })).imageSize).toBeUndefined();
    const halves = Dense.of(new Float32Array(98).fill(0.5), 2, 49);
    expect(summarize(loadedData("a", { form: "matrix", x: halves })).imageSize).toBeUndefined();
  });

  it("is held out in the share asked for, each class alike, and by the seed", () => {
    const y = Array.from({ length: 100 }, (_, r) => r % 4);
    const data = loadedData("a", { form: "matrix", x: Dense.of(new Uint8Array(1000), 100, 10), y });
    const split = (seed: number) => splitRows(data, { estimator: "classifier", heldOut: 0.2, params: { seed } });
    const { train, test } = split(0);
    expect([train.length, test.length]).toEqual([80, 20]);
    for (const label of [0, 1, 2, 3]) expect(test.filter((row) => y[row] === label).length).toBe(5);
    expect(split(0)).toEqual({ train, test });
    expect(split(1).test).not.toEqual(test);
  });

  it("keeps wide sparse rows sparse", () => {
    const x = Csr.fromRows([[[70_000, 2]], []], 100_000);
    const { sample } = viewRow(loadedData("a", { form: "matrix", x }), 0);
    expect(sample).toEqual({ form: "sparse", indices: Uint32Array.of(70_000), values: Float64Array.of(2) });
  });
});

describe("views of filters", () => {
  it("show the largest weight as full ink and name the heaviest features", () => {
    const bank = {
      form: "dense",
      filters: 1,
      features: 4,
      weights: Uint16Array.of(2, 8, 4, 6),
      norm: Float64Array.of(20),
    } as const;
    const view = viewFilter(bank, 0, { filter: 0, shares: [], rows: 3 }, ["a", "b", "c", "d"]);
    expect(Array.from(view.picture ?? [])).toEqual([0, 255, 85, 170]);
    expect(view.top.map(({ feature }) => feature)).toEqual([1, 3, 2, 0]);
    expect(view.top.map(({ name }) => name)).toEqual(["b", "d", "c", "a"]);
  });
});

describe("the study of features", () => {
  it("finds equal features alike and separate ones never mistaken", () => {
    // Columns: 0 or 1; the same again; 8 or 9.
    const x = Dense.fromRows(Array.from({ length: 40 }, (_, r) => [r % 2, (r + 1) % 2, 8 + (r % 2)]));
    const rows = Array.from({ length: 40 }, (_, r) => r);
    const study = studyFeatures(x, rows, 20, true);
    expect(Array.from(study.features)).toEqual([0, 1, 2]);
    expect(Array.from(study.means)).toEqual([0.5, 0.5, 8.5]);
    expect(Array.from(study.discriminability)).toEqual([0.5, 0.5, 1, 0.5, 0.5, 1, 1, 1, 0.5]);
    expect(Array.from(study.cumulated)).toEqual([0, 0, 1]);
    expect(Array.from(study.grid)).toEqual(Array.from({ length: 10 }, (_, g) => g));
  });
});

describe("a session", () => {
  it("trains the model that the library trains, tells of it, and judges it as the library does", async () => {
    const told: number[] = [];
    const session = new Session(({ share }) => told.push(share));
    const { x, y } = await loadDigits();
    expect(await session.openDigits()).toMatchObject({ rows: 1797, features: 64, imageSize: { width: 8, height: 8 } });
    const recipe = { estimator: "classifier", heldOut: 0, params: { filters: 20 } } as const;
    const model = await session.train({ recipe, pace: "full" });
    const own = await new RankSimilarityClassifier({ filters: 20 }).fit(x, y);
    expect(model.filters).toBe(own.bank.filters);
    expect(model.filtersPerClass.reduce((a, b) => a + b)).toBe(own.bank.filters);
    expect(model.history.length).toBeGreaterThanOrEqual(20);
    expect(told.length).toBeGreaterThan(0);
    expect(await session.evaluate()).toBeNull();
    const [view] = session.gallery({ group: 3, from: 0, count: 1 });
    expect(view.shares).toEqual([{ label: "3", share: 1 }]);
  });

  it("compares filters before and after refinement, on the rows held out", async () => {
    const session = new Session(() => {});
    await session.openDigits();
    const recipe = { estimator: "classifier", heldOut: 0.25, params: { filters: 30, refine: true } } as const;
    const view = await session.refinement({ recipe });
    const { x, y } = await loadDigits();
    const { train, test } = trainTestSplit(x, y, { testShare: 0.25, seed: 0, stratify: true });
    const plain = await new RankSimilarityClassifier({ filters: 30 }).fit(train.x, train.y);
    const taught = await new RankSimilarityClassifier({ filters: 30, refine: true }).fit(train.x, train.y);
    expect(view).toMatchObject({ rows: test.x.rows, heldOut: true, filters: plain.bank.filters });
    expect(view.before.accuracy).toBe(await plain.score(test.x, test.y));
    expect(view.after.accuracy).toBe(await taught.score(test.x, test.y));
    expect(view.refined).toBe(taught.report.refinement?.refined);
    const right = (accuracy: number) => Math.round(accuracy * view.rows);
    expect(view.corrected - view.spoiled).toBe(right(view.after.accuracy) - right(view.before.accuracy));
    expect(view.classes).toHaveLength(10);
    expect(view.pairs.every(({ before, after }) => before.filter === after.filter)).toBe(true);
    expect(view.pairs.length).toBe(Math.min(12, view.changed));
    const transform = { estimator: "transform", heldOut: 0, params: { filters: 9 } } as const;
    await expect(session.refinement({ recipe: transform })).rejects.toThrow(/Only a classifier/);
  });

  it("says what is missing instead of failing", async () => {
    const session = new Session(() => {});
    expect(() => session.rows({ rows: [0] })).toThrow(/no data yet/);
    await expect(session.explain({ sample: { form: "text", text: "" } })).rejects.toThrow(/no model yet/);
  });
});
