/** The choice of a recipe: by held-out rows, the same wherever rows come from, kept in the model; blends; purposes; whole folds. */

import {
  BlendModel,
  type Label,
  loadModel,
  type Model,
  type PredictingModel,
  saveModel,
  schemaOf,
} from "@ranksim/core";
import { loadDigits, Table, tableReader } from "@ranksim/data";
import { expect, test } from "vitest";
import { crossTrain, judge, plan, predictAll, train } from "../src/index.ts";

const draw = (r: number, c: number) => (((r * 7919 + c * 104729 + r * r * 31) % 1009) + 1009) % 1009 / 1009; // biome-ignore format: one line
const rows = (count: number) => Array.from({ length: count }, (_, r) => [0, 1, 2, 3].map((c) => draw(r, c)));
const table = (x: number[][]) =>
  Table.fromRecords(x.map(([a, b, c, d]) => ({ a, b, c, colour: d > 0.5 ? "red" : "blue" })));
/** Which class it is, two columns say together, and neither by itself. */
const crossed = (x: number[][]) => x.map(([a, b]) => (a > 0.5 === b > 0.5 ? "alike" : "apart"));
const added = (x: number[][]) => x.map(([a, b]) => (a + b > 1 ? "much" : "little"));
const addedRoughly = (x: number[][]) => x.map(([a, b], r) => (a + b + 0.2 * draw(r, 11) > 1.1 ? "much" : "little"));
const known = rows(300);
const others = rows(400).slice(300);

test("pairs of columns are chosen where columns say something together, and single ones where they add up", async () => {
  for (const [labels, wanted, least] of [
    [crossed, ["pairs of columns, linear"], 0.9],
    [addedRoughly, ["columns as straight lines, linear", "columns, linear"], 0.85],
  ] as const) {
    const { model, recipe } = await train({ table: table(known), y: labels(known) });
    expect(wanted).toContain(recipe.tried?.find(({ weight }) => weight === 1)?.name);
    expect(await model.score(table(others), labels(others))).toBeGreaterThan(least);
    expect(schemaOf(loadModel(saveModel(model), { readers: [tableReader] }) as Model)?.recipe).toEqual({
      preset: "balanced",
      about: recipe.about,
      tried: recipe.tried,
    });
  }
});

test("fast tries nothing", async () => {
  const { recipe } = await train({ table: table(known), y: added(known) }, { preset: "fast" });
  expect([recipe.name, recipe.tried]).toEqual(["columns as straight lines, linear", undefined]);
  const more = rows(400);
  const { recipe: bins } = await train({ table: table(more), y: added(more) }, { preset: "fast" });
  expect(bins.name).toBe("columns, linear");
});

test("a blend is judged as it answers", async () => {
  const y = known.map(([a, b, c], r) => (a + b * c + draw(r, 9) > 1.3 ? "much" : "little"));
  const { model, recipe } = await train({ table: table(known), y }, { preset: "best" });
  const parts = recipe.tried?.filter(({ weight }) => weight !== undefined) ?? [];
  expect(parts.reduce((sum, { weight = 0 }) => sum + weight, 0)).toBeCloseTo(1);
  const data = { form: "table", table: table(others), y: added(others) } as const;
  const { predicted } = await predictAll(model, data, {});
  expect(predicted).toEqual(await model.predict(data.table));
  expect((await judge(model, data)).judgement.report.accuracy).toBe(await model.score(data.table, data.y));
  // One recipe by itself that decides in another way is a blend as well.
  const rare = known.map(([a], r) => (a + draw(r, 9) > 1.6 ? "rare" : "usual"));
  const balanced = (await train({ table: table(known), y: rare }, { preset: "fast", decide: "balanced" })).model;
  expect(balanced).toBeInstanceOf(BlendModel);
  const asked = { form: "table", table: table(others) } as const;
  const found = (await predictAll(balanced, asked, {})).predicted;
  expect(found).toEqual(await (balanced as PredictingModel<unknown>).predict(asked.table));
  expect(found.filter((label) => label === "rare").length).toBeGreaterThan(others.length / 10);
});

test("a purpose leaves what does not serve it untried, and is refused where nothing does", async () => {
  const { trials } = await plan({ x: known, y: added(known) }, { purpose: "onnx", preset: "best" });
  expect(trials.map(({ name }) => name)).toEqual(["numbers, refined filters", "numbers, the paper's filters"]);
  await expect(plan({ table: table(known), y: added(known) }, { purpose: "onnx" })).rejects.toThrow("there is none");
  const balanced = train({ x: known, y: added(known) }, { purpose: "onnx", decide: "balanced" });
  await expect(balanced).rejects.toThrow("is good for onnx");
});

test("every fold chooses by its own rows, and asks about all others once", async () => {
  const y = crossed(known);
  const folds = await crossTrain(await plan({ table: table(known), y }), { folds: 3 });
  expect(folds.flatMap(({ truth }) => truth as readonly Label[])).toHaveLength(300);
  for (const { truth, predicted } of folds) {
    expect(predicted.filter((label, r) => label === truth[r]).length / truth.length).toBeGreaterThan(0.85);
  }
});

test("rows of pixels are trained as the images that they are; what is too dear is left out, but never the first", async () => {
  const { x, y } = await loadDigits();
  const some = Uint32Array.from({ length: 320 }, (_, r) => r);
  const data = { x: x.gather(some), y: Array.from(some, (r) => y[r]) };
  const flat = await train(data, { testShare: 0.2 });
  const told = await train({ ...data, imageSize: { width: 8, height: 8 } }, { testShare: 0.2 });
  expect(flat.recipe.name).toBe("windows of images, refined filters");
  expect(flat.heldOut?.judgement.report.accuracy).toBe(told.heldOut?.judgement.report.accuracy);
  const { tried = [] } = flat.recipe;
  const untried = tried.filter(({ reason }) => reason !== undefined).map(({ name }) => name);
  expect(untried).toEqual(["pairs of columns, linear"]);
  expect(tried[0].rows).toBeGreaterThanOrEqual(50);
});
