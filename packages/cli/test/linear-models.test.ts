/** Models of planes, unions, pairs and blends, as `train` makes them by default: explained, inspected and reported by names, and refused with the cure. */

import { readFileSync, writeFileSync } from "node:fs";
import {
  Blend,
  type Estimator,
  LinearClassifier,
  type Model,
  PairTransform,
  Pipeline,
  RankSimilarityClassifier,
  RankSimilarityTransform,
  saveModel,
  Union,
} from "@ranksim/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { strongestWeights } from "../src/model/strongest-weights.ts";
import { misfits } from "./output-schema.ts";
import { makeWorld } from "./world.ts";

const world = makeWorld();

/** Red fruit are apples, whatever they weigh; of the others the heavy ones are melons. */
const FRUIT = Array.from({ length: 120 }, (_, r) => {
  const [colour, weight] = [["red", "green", "blue"][r % 3], (r * 37) % 101];
  return [colour, weight, colour === "red" ? "apple" : weight > 50 ? "melon" : "plum"] as const;
});
/** Alike or not: what one number says alone is nothing. */
const CROSSED = Array.from({ length: 60 }, (_, r) => {
  const [a, b] = [r % 2, (r >> 1) % 2];
  return [a, b, (r >> 2) % 2] as const;
});
const TOGETHER = CROSSED.map(([a, b]) => (a === b ? "alike" : "apart"));

beforeAll(async () => {
  writeFileSync(world.path("fruit.csv"), `colour,weight,kind\n${FRUIT.map((row) => row.join(",")).join("\n")}\n`);
  writeFileSync(world.path("crossed.csv"), `a,b,c\n${CROSSED.map((row) => row.join(",")).join("\n")}\n`);
  await world.ranksim("train fruit.csv --label kind --preset fast -m fruit.ranksim");
});
afterAll(() => world.remove());

/** What a command prints for programs, which fits the schema. */
async function told(line: string) {
  const { code, stdout, stderr } = await world.ranksim(`${line} --json`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const found = JSON.parse(stdout);
  expect(misfits(found)).toEqual([]);
  return found;
}

/** Fits an estimator to the crossed rows, and saves its model. */
async function saved(name: string, estimator: Estimator<never, Model>): Promise<void> {
  const model = await estimator.fit(CROSSED.map((row) => [...row]) as never, TOGETHER);
  writeFileSync(world.path(name), saveModel(model));
}

test("inspect names the classes of planes, and the features that weigh most for each", async () => {
  const { stdout } = await world.ranksim("inspect fruit.ranksim");
  expect(stdout).toMatch(/^apple +colour = red \+/m);
  expect(stdout).toMatch(/^plum +.*weight/m);
  const { steps } = await told("inspect fruit.ranksim");
  expect(steps[1].classes.map(({ label }: { label: string }) => label)).toEqual(["apple", "melon", "plum"]);
  expect(steps[1].classes[0].strongest[0]).toMatchObject({ name: "colour = red" });
});

test("the strongest weights are those that come first of all sorted, equal ones by feature", async () => {
  const values = Array.from({ length: 24 }, (_, r) => Array.from({ length: 12 }, (_, i) => (r * (i % 5) + i) % 7));
  const model = await new LinearClassifier().fit(values, TOGETHER.slice(0, 24));
  for (const code of [0, 1]) {
    const sorted = Array.from({ length: 12 }, (_, feature) => ({ feature, weight: model.weightOf(code, feature) }))
      .filter(({ weight }) => weight !== 0)
      .sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight) || a.feature - b.feature);
    for (const most of [1, 5, 12, 20]) expect(strongestWeights(model, code, most)).toEqual(sorted.slice(0, most));
  }
});

test("explain says the probabilities that predict gives, and the features that decided", async () => {
  const { labels, classes, probabilities } = await told("predict fruit.ranksim fruit.csv --probabilities");
  for (const row of [0, 1, 2]) {
    const found = await told(`explain fruit.ranksim fruit.csv --row ${row}`);
    expect(found).toMatchObject({ row, truth: FRUIT[row][2], label: labels[row], filters: [] });
    for (const one of found.classes) expect(one.probability).toBe(probabilities[row][classes.indexOf(one.label)]);
  }
  const { contributions } = await told("explain fruit.ranksim fruit.csv --row 0");
  expect(contributions[0].name).toBe("colour = red");
  expect(contributions[0].contribution).toBeGreaterThan(0);
  const { stdout } = await world.ranksim("explain fruit.ranksim fruit.csv --row 0");
  expect(stdout).toMatch(/^predicted +apple$/m);
  expect(stdout).toMatch(/^colour = red +red +for +\d/m);
});

test("features behind pairs and unions are called by what they are made of", async () => {
  const head = ["head", new LinearClassifier()] as const;
  await saved("pairs.ranksim", new Pipeline([["pairs", new PairTransform({ least: 1 })], head]) as never);
  // Row 3 has both: what decides is the two together.
  const [first] = (await told("explain pairs.ranksim crossed.csv --row 3")).contributions;
  expect(first).toMatchObject({ name: "a and b", feature: 3 });
  expect(first.contribution).toBeGreaterThan(0);
  const similar = new RankSimilarityTransform({ filters: 4, nBest: 2 });
  const both = new Union([["similar", similar]], { rows: true });
  await saved("union.ranksim", new Pipeline([["both", both], head]) as never);
  const { contributions } = await told("explain union.ranksim crossed.csv --row 3");
  for (const { feature, name } of contributions) {
    expect(name).toBe(feature < 3 ? ["a", "b", "c"][feature] : `likeness to filter ${feature - 3}`);
  }
  expect(contributions.some(({ feature }: { feature: number }) => feature >= 3)).toBe(true);
});

test("a blend is explained by the model that counts most, and says so where that one names another class", async () => {
  const filters = new RankSimilarityClassifier({ filters: 4 });
  const parts = [["filters", filters] as const, ["planes", new LinearClassifier()] as const];
  await saved("blend.ranksim", new Blend(parts, { weights: [1, 3] }) as never);
  const { labels } = await told("predict blend.ranksim crossed.csv");
  for (const row of [0, 3]) {
    const { label, notes, classes } = await told(`explain blend.ranksim crossed.csv --row ${row}`);
    expect(label).toBe(labels[row]);
    expect(notes[0]).toContain('explained is "planes", which counts 75.0 % of the blend');
    expect(notes[0].includes("by itself")).toBe(classes[0].label !== label);
  }
  await saved("other.ranksim", new Blend(parts, { weights: [3, 1] }) as never);
  expect((await told("explain other.ranksim crossed.csv --row 3")).filters.length).toBeGreaterThan(0);
  expect((await world.ranksim("inspect blend.ranksim")).stdout).toContain("blend of classifier; linear");
});

test("a report shows what weighs most for each class, and scores of rows held out before those of all rows", async () => {
  await world.ranksim("train fruit.csv --label kind --preset fast --test-share 0.25 -m judged.ranksim");
  const page = async (line: string) => {
    expect(await world.ranksim(`report ${line} -o page.html`), line).toMatchObject({ code: 0 });
    return readFileSync(world.path("page.html"), "utf8");
  };
  const judged = await page("judged.ranksim fruit.csv");
  expect(judged).toMatch(/<h3>apple<\/h3>.*?for it<\/span> colour = red/s);
  expect(judged.indexOf("<dt>Held-out accuracy</dt>")).toBeGreaterThan(0);
  expect(judged.indexOf("<dt>Held-out accuracy</dt>")).toBeLessThan(judged.indexOf("<dt>Accuracy</dt>"));
  expect(judged).toContain("on 30 rows held out of training");
  expect(judged).toMatch(
    /<blockquote>colour red, weight \d+<\/blockquote><p[^>]*><span class="right">for it<\/span> colour = red/,
  );
  expect(await page("pairs.ranksim crossed.csv")).toContain("a and b");
  expect(await page("blend.ranksim crossed.csv")).toContain("<h3>alike</h3>");
});

test.each([
  ["fruit.ranksim", "a table-encoder cannot be exported"],
  ["pairs.ranksim", "a pairs cannot be exported"],
  ["blend.ranksim", "a blend cannot be exported"],
])("export of %s is refused with the cure", async (model, message) => {
  const { code, stderr } = await world.ranksim(`export ${model} --to onnx -o a.onnx`);
  expect(code).toBe(1);
  expect(stderr).toContain(message);
  expect(stderr).toContain("--for onnx");
});
