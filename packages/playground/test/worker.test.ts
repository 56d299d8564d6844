/** The worker's own parts, run in Node: the gate, the study of features, and the views of filters and rows. */

import {
  Blend,
  type ClassifierModel,
  Csr,
  Dense,
  LinearClassifier,
  RankSimilarityClassifier,
  saveModel,
} from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import { ConformalClassifier, FilterWords } from "@ranksim/learn";
import { describe, expect, it } from "vitest";
import type { ReadChoices } from "../src/protocol.ts";
import { loadedData, splitRows, summarize, viewRow } from "../src/worker/data.ts";
import { Gate } from "../src/worker/gate.ts";
import { viewFilter } from "../src/worker/pictures.ts";
import { Session } from "../src/worker/session.ts";
import { studyFeatures } from "../src/worker/study.ts";

const QUIET = () => {};

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
    const slope = Dense.of(
      Float32Array.from({ length: 98 }, (_, j) => (j % 49) / 49),
      2,
      49,
    );
    expect(summarize(loadedData("a", { form: "matrix", x: slope })).imageSize).toEqual({ width: 7, height: 7 });
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

describe("tables", () => {
  const file = (name: string, text: string) => ({ path: name, file: new File([text], name) });
  const rows = Array.from({ length: 40 }, (_, r) => `${r},${(r * 7) % 11},${r % 2 ? "red" : "blue"},${r % 3}`);
  const opened = async (name: string, text: string, choices: ReadChoices = {}) => {
    const { data, refused } = await new Session(QUIET).openFiles({ files: [file(name, text)], choices });
    return {
      data,
      refused,
      roles: (data?.preview ?? refused?.preview)?.columns.map(({ key, role }) => `${key} ${role}`),
    };
  };

  it("show their first rows, with what the readers took each column for", async () => {
    const { data, roles } = await opened("t.csv", `id,size,class,count\n${rows.join("\n")}\n`);
    expect(roles).toEqual(["id ignore", "size feature", "class label", "count feature"]);
    expect(data?.preview?.columns[2].cells.slice(0, 2)).toEqual(["blue", "red"]);
    const said = await opened("t.csv", `${rows.join("\n")}\n`, { labelColumn: "-1", ignoreColumns: ["2"] });
    expect(said.roles).toEqual(["0 ignore", "1 feature", "2 ignore", "3 label"]);
  });

  it("have words, gaps and numbers for columns, and a cell that was missed is null", async () => {
    const session = new Session(QUIET);
    const text = `size,town,class\n${rows.map((_, r) => `${r % 5 ? r : ""},${["York", "Leeds"][r % 2]},${"ab"[r % 2]}`).join("\n")}\n`;
    const { data } = await session.openFiles({ files: [file("t.csv", text)], choices: {} });
    expect(data).toMatchObject({ form: "table", features: 2, classes: ["a", "b"] });
    expect(data?.columns).toEqual([
      { name: "size", low: 1, high: 39 },
      { name: "town", words: ["York", "Leeds"] },
    ]);
    expect(session.rows({ rows: [5] })[0].sample).toEqual({ form: "table", cells: [null, "Leeds"] });
  });

  it("of several likely labels are refused with their first rows, so that one can be named", async () => {
    const { data, refused, roles } = await opened(
      "t.csv",
      `label,size,class\n${rows.map((_, r) => `${r % 2},${r},${r % 3}`).join("\n")}\n`,
    );
    expect(data).toBeUndefined();
    expect(refused?.message).toMatch(/label.*class/);
    expect(roles).toEqual(["label feature", "size feature", "class feature"]);
  });

  it("of one column of texts are texts, also where only the beginning of a large file was looked at", async () => {
    const lines = Array.from({ length: 3000 }, (_, r) =>
      JSON.stringify({
        note: `this is the remark of visitor ${r} about the ${["museum", "garden"][r % 2]} and its ${"many ".repeat(20)}rooms`,
        class: r % 2 ? "a" : "b",
      }),
    );
    const { data, roles } = await opened("notes.jsonl", lines.join("\n"));
    expect(data).toMatchObject({ form: "text", rows: 3000, classes: ["a", "b"] });
    expect(roles).toEqual(["note text", "class label"]);
    expect((await opened("torn.csv", "a,b\n1\n").catch((error: Error) => error)).toString()).toMatch(/line 2/);
  });

  it("train the command's recipe, are judged, and say why a row with words is decided as it is", async () => {
    const session = new Session(QUIET);
    const lines = Array.from(
      { length: 120 },
      (_, r) => `${(r * 7) % 30},${["red", "green", "blue"][r % 3]},${["rose", "leaf", "sky"][r % 3]}`,
    );
    await session.openFiles({ files: [file("t.csv", `size,colour,class\n${lines.join("\n")}\n`)], choices: {} });
    const recipe = { estimator: "chosen", heldOut: 0.25, params: { preset: "fast" } } as const;
    const model = await session.train({ recipe, pace: "full" });
    expect(model.about).toMatch(/^fast, for a table of 90 rows and 2 columns/);
    expect(await session.evaluate()).toMatchObject({ rows: 30, basis: "held-out", accuracy: 1 });
    const sample = { form: "table", cells: [12, "blue"] } as const;
    const { labels, names, parts } = await session.explain({ sample });
    expect(labels).toEqual(["sky"]);
    expect(names?.[0]).toMatch(/colour/);
    expect(parts[0]).toBeGreaterThan(0);
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
    const view = viewFilter(bank, 0, { filter: 0, shares: [], rows: 3 }, undefined);
    expect(Array.from(view.picture ?? [])).toEqual([0, 255, 85, 170]);
    expect(view.top.map(({ feature }) => feature)).toEqual([1, 3, 2, 0]);
  });

  it("name the words that set a filter apart, not those that are heavy everywhere", () => {
    const bank = {
      form: "dense",
      filters: 2,
      features: 3,
      weights: Uint16Array.of(9, 5, 1, 9, 1, 5),
      norm: Float64Array.of(1, 1),
    } as const;
    const words = new FilterWords(bank, (feature) => ["the", "cat", "dog"][feature]);
    const names = [0, 1].map((filter) => viewFilter(bank, filter, { filter, shares: [], rows: 1 }, words).top[0].name);
    expect(names).toEqual(["cat", "dog"]);
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
    expect(await session.openDigits()).toMatchObject({
      data: { rows: 1797, features: 64, imageSize: { width: 8, height: 8 }, inkBlocks: 4 },
      fits: false,
    });
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

  it("lights the wall by the responses that the model itself gives", async () => {
    const session = new Session(QUIET);
    await session.openDigits();
    const recipe = { estimator: "classifier", heldOut: 0.25, params: { filters: 35 } } as const;
    await session.train({ recipe, pace: "full" });
    const wall = session.wall({ most: 60 });
    const [row] = session.rows({ rows: [17] });
    const { responses, strongest } = await session.explain({ sample: row.sample });
    expect(responses?.length).toBe(wall.length);
    for (const { filter, response } of strongest) {
      const at = wall.findIndex((view) => view.filter === filter);
      expect(responses?.[at]).toBeCloseTo(response, 9);
    }
    expect(Math.max(...(responses ?? []))).toBeCloseTo(strongest[0].response, 9);
  });

  it("sets data aside that a model does not take, and closes a model that does not take the data", async () => {
    const session = new Session(QUIET);
    await session.openDigits();
    const x = Dense.fromRows(Array.from({ length: 20 }, (_, r) => Array.from({ length: 5 }, (_, i) => (r * i) % 7)));
    const y = Array.from({ length: 20 }, (_, r) => r % 2);
    const bytes = saveModel(await new RankSimilarityClassifier({ filters: 4 }).fit(x, y));
    const file = (name: string, content: Uint8Array<ArrayBuffer>) => ({ path: name, file: new File([content], name) });
    const opened = await session.openFiles({ files: [file("other.model", bytes)], choices: {} });
    expect(opened).toMatchObject({ model: { inputs: 5 }, fits: false });
    expect(() => session.rows({ rows: [0] })).toThrow(/no data yet/);
    expect((await session.openDigits()).fits).toBe(false);
    await expect(session.explain({ sample: { form: "text", text: "" } })).rejects.toThrow(/no model yet/);
    const together = [file("other.model", bytes), file("rows.csv", new TextEncoder().encode("1,2,3\n4,5,6\n"))];
    await expect(session.openFiles({ files: together, choices: {} })).rejects.toThrow(
      /does not take the rows of rows\.csv/,
    );
    expect(session.rows({ rows: [0] })).toHaveLength(1);
  });

  it("names the classes that the pixels speak for by the vote, not by the strongest filter", async () => {
    const { x, y } = await loadDigits();
    const voters = await new RankSimilarityClassifier({ filters: 200, voters: 25 }).fit(
      x.slice(0, 600),
      y.slice(0, 600),
    );
    const session = new Session(QUIET);
    await session.openFiles({
      files: [{ path: "m.model", file: new File([saveModel(voters)], "m.model") }],
      choices: {},
    });
    let outvoted = 0;
    for (let row = 600; row < 900; row++) {
      const values = Float64Array.from(x.row(row));
      const { labels, between, strongest } = await session.explain({ sample: { form: "dense", values } });
      expect(between?.[0]).toBe(labels[0]);
      expect(between?.[1]).not.toBe(labels[0]);
      if (strongest[0].shares[0].label !== labels[0]) outvoted++;
    }
    expect(outvoted).toBeGreaterThan(0);
  });

  it("opens a model that was trained to give sets of classes", async () => {
    const session = new Session(QUIET);
    await session.openDigits();
    const { x, y } = await loadDigits();
    const recipe = new RankSimilarityClassifier({ filters: 30, seed: 1 });
    const model = await new ConformalClassifier(recipe, { seed: 1 }).fit(x.slice(0, 400), y.slice(0, 400));
    const file = { path: "sets.model", file: new File([saveModel(model)], "sets.model") };
    const opened = await session.openFiles({ files: [file], choices: {} });
    expect(opened).toMatchObject({
      model: { inputs: 64, filters: (model.model as ClassifierModel).bank.filters },
      fits: true,
    });
  });

  it.each([
    ["planes", new LinearClassifier()],
    ["a blend", new Blend([["planes", new LinearClassifier()]])],
  ])("opens a model without filters, and says why it answers: %s", async (_, estimator) => {
    const session = new Session(QUIET);
    const x = Dense.fromRows(Array.from({ length: 20 }, (_, r) => Array.from({ length: 5 }, (_, i) => (r * i) % 7)));
    const y = Array.from({ length: 20 }, (_, r) => (r % 2 ? "odd" : "even"));
    const model = await estimator.fit(x, y);
    const file = { path: "a.model", file: new File([saveModel(model)], "a.model") };
    const opened = await session.openFiles({ files: [file], choices: {} });
    expect(opened.model).toMatchObject({ kind: "linear", filters: 0, inputs: 5, classes: ["even", "odd"] });
    expect(session.wall({ most: 9 })).toEqual([]);
    const { labels, parts } = await session.explain({ sample: { form: "dense", values: Float64Array.from(x.row(3)) } });
    expect(labels).toEqual((await model.predict(x.slice(3, 4))).map(String));
    expect(parts.length).toBeGreaterThan(0);
  });

  it("says what is missing instead of failing", async () => {
    const session = new Session(QUIET);
    expect(() => session.rows({ rows: [0] })).toThrow(/no data yet/);
    await expect(session.explain({ sample: { form: "text", text: "" } })).rejects.toThrow(/no model yet/);
  });

  it("lists rows that no filter responds to among the mistakes", async () => {
    const session = new Session(QUIET);
    const x = Dense.fromRows(Array.from({ length: 20 }, (_, r) => Array.from({ length: 5 }, (_, i) => (r * i) % 7)));
    const model = await new RankSimilarityClassifier({ filters: 4 }).fit(
      x,
      Array.from({ length: 20 }, (_, r) => (r % 2 ? "a" : "b")),
    );
    const file = (name: string, content: Uint8Array<ArrayBuffer> | string) => ({
      path: name,
      file: new File([content], name),
    });
    const rows = "y,v,w,x,y2,z\na,0,0,0,0,0\nb,0,0,0,0,0\na,1,2,3,4,5\nb,5,4,3,2,1\n";
    const choices = { labelColumn: "y" };
    await session.openFiles({ files: [file("m.model", saveModel(model)), file("rows.csv", rows)], choices });
    const { total, shown } = await session.mistakes({ truth: 1, answer: 0, from: 0, count: 9 });
    const blank = shown.find(({ row }) => row.row === 1);
    expect(total).toBe(shown.length);
    expect(blank).toBeDefined();
    expect(blank).not.toHaveProperty("strongest");
  });
});
