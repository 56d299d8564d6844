/** What --json prints fits its schema, for every command and every kind of error. */

import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { misfits, outputSchema } from "./output-schema.ts";
import { EXAMPLE_CONTENTS, makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = makeWorld();
  for (const [name, content] of Object.entries(EXAMPLE_CONTENTS)) writeFileSync(world.path(name), content);
  writeFileSync(world.path("bare.csv"), "1,2,3\n4,5,6\n");
  writeFileSync(world.path("sets.svm"), "a,b 1:3 2:2 3:1\nb 1:1 2:2 3:3\na 1:3 2:2 3:2\nb,a 1:2 2:1 3:2\n");
  writeFileSync(world.path("few.svm"), `${"a 1:3 2:2 3:1\nb 1:1 2:2 3:3\n".repeat(4)}`);
});
afterAll(() => world.remove());

const LINES: readonly (readonly [command: string, line: string])[] = [
  [
    "train",
    "train --estimator classifier digits:train -m digits.ranksim --filters 20 --set refine=true --set refineEpochs=2 --set calibrate=isotonic",
  ],
  ["train", "train --estimator classifier digits:train -m growing.ranksim --filters 20 --keep-sums"],
  ["train", "train digits:train -m features.ranksim --filters 10 --estimator transform"],
  ["train", "train sets.svm -m sets.ranksim --filters 2 --estimator probabilistic"],
  ["train", "train few.svm -m few.ranksim --estimator classifier --filters 2 --set refine=true"],
  ["train", "train bare.csv --label 2 --dry-run"],
  ["train", "train digits:train --dry-run"],
  ["train", "train bare.csv --label 2 -m table.ranksim"],
  ["train", "train --estimator classifier reviews.csv --text --columns review:text --label stars -m reviews.ranksim"],
  ["update", "update growing.ranksim digits:test"],
  ["predict", "predict digits.ranksim digits:test"],
  ["predict", "predict digits.ranksim digits:test --probabilities"],
  ["predict", "predict sets.ranksim sets.svm"],
  ["evaluate", "evaluate digits.ranksim digits:test"],
  ["evaluate", "evaluate sets.ranksim sets.svm"],
  ["explain", "explain digits.ranksim digits:test --row 3"],
  ["explain", "explain features.ranksim digits:test --row 3"],
  ["explain", "explain reviews.ranksim new-reviews.txt --row 0"],
  ["report", "report digits.ranksim digits:test -o digits.html"],
  ["transform", "transform features.ranksim digits:test -o features.npz"],
  ["nearest", "nearest digits.ranksim digits:test --among digits:train --k 2"],
  ["keep-rows", "keep-rows digits.ranksim digits:train -m kept.ranksim"],
  ["nearest", "nearest kept.ranksim digits:test --k 2"],
  ["explain", "explain kept.ranksim digits:test --row 3"],
  ["inspect", "inspect kept.ranksim"],
  ["map", "map digits.ranksim digits:test -o map.html"],
  ["cross-validate", "cross-validate digits:test --folds 2 --filters 20"],
  ["tune", "tune digits:test --try filters=10,20 --folds 2 --baselines"],
  ["tune", "tune digits:test --try filters=5,10 --folds 2"],
  ["export", "export digits.ranksim --to onnx -o digits.onnx"],
  ["export", "export digits.ranksim --to c --check digits:test -o digits.h"],
  ["spikes", "spikes digits.ranksim digits:test --rows 50 -o spikes.html"],
  ["inspect", "inspect reviews.ranksim"],
  ["inspect", "inspect table.ranksim"],
  ["doctor", "doctor"],
  ["data list", "data list"],
  ["data info", "data info digits"],
  ["data path", "data path digits"],
  ["data fetch", "data fetch digits"],
  ["demo", "demo"],
];

describe("results", () => {
  test.each(LINES)("%s: %s", async (command, line) => {
    const { code, stdout, stderr } = await world.ranksim(`${line} --json`);
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    const found = JSON.parse(stdout);
    expect(found).toMatchObject({ schema: 1, command });
    expect(misfits(found)).toEqual([]);
    // The first thing that newcomers see: the preset beats the plain method and is level with one nearest neighbour.
    if (command === "demo") {
      expect(found.recipe.about).toMatch(/^balanced, for 1348 images of 8 x 8, 10 classes: 128 patch filters/);
      expect(found.rankSimilarity.accuracy).toBeGreaterThan(found.plain.accuracy);
      expect(found.rankSimilarity.accuracy).toBeGreaterThanOrEqual(found.nearestNeighbour.accuracy - 0.005);
    }
  });

  test("fit by nothing but the fields that are named, and all that must be there", async () => {
    const found = JSON.parse((await world.ranksim("train bare.csv --label 2 --dry-run --json")).stdout);
    expect(misfits(found)).toEqual([]);
    expect(misfits({ ...found, more: 1 })).not.toEqual([]);
    expect(misfits({ ...found, rows: null })).not.toEqual([]);
    expect(misfits({ ...found, command: "tune" })).not.toEqual([]);
    const { rows: _, ...less } = found;
    expect(misfits(less)).not.toEqual([]);
  });

  test("name every command of the schema but those that serve", () => {
    const described = Object.values(outputSchema.definitions)
      .map(({ properties }) => properties?.command?.const)
      .filter((name) => name !== undefined && name !== "play" && name !== "serve");
    expect([...new Set(LINES.map(([command]) => command))].sort()).toEqual([...new Set(described)].sort());
  });

  test("of training are short; inspect has every class and iteration", async () => {
    const line = "train --estimator classifier digits:test -m t.ranksim --filters 20 --json";
    const short = JSON.parse((await world.ranksim(line)).stdout);
    expect(short.report).not.toHaveProperty("trainings");
    expect(short.report.iterations).toBeGreaterThan(0);
    const [{ report }] = JSON.parse((await world.ranksim("inspect t.ranksim --json")).stdout).steps;
    expect(report.trainings).toHaveLength(10);
  });

  test("carry the notes that people see on standard error", async () => {
    const line = "train --estimator classifier digits:test -m t.ranksim --n-best 7";
    expect((await world.ranksim(line)).stderr).toContain("now --set nBest=7");
    const { stdout, stderr } = await world.ranksim(`${line} --json`);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout).notes[0]).toContain("now --set nBest=7");
  });
});

describe("errors", () => {
  test.each([
    ["usage", 2, "nonsense"],
    ["usage", 2, "train --estimator classifier digits"],
    ["usage", 2, "train --estimator classifier digits -m x --filters many"],
    ["usage", 2, "train digits -m x --estimator transform --set classWeight=uniform"],
    ["usage", 2, "predict - -"],
    ["bad-file", 1, "inspect plants.csv"],
    ["bad-labels", 1, "train --estimator classifier bare.csv -m x"],
    ["system", 1, "inspect nowhere.model"],
  ])("%s: %s", async (code, exit, line) => {
    const outcome = await world.ranksim(`${line} --json`);
    expect(outcome).toMatchObject({ code: exit, stdout: "" });
    const lines = outcome.stderr.trimEnd().split("\n");
    expect(lines).toHaveLength(1);
    const told = JSON.parse(lines[0]);
    expect(misfits(told)).toEqual([]);
    expect(told.error.code).toBe(code);
  });
});
