/** What a model knows of its data: columns by name, nothing to be said twice, and older models as before. */

import { readFileSync, writeFileSync } from "node:fs";
import { RankSimilarityClassifier, saveModel, schemaOf } from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readModelFile as loadModel } from "../src/load-model.ts";
import { EXAMPLE_CONTENTS, makeWorld, type World } from "./world.ts";

let world: World;

beforeAll(async () => {
  world = makeWorld();
  for (const [name, content] of Object.entries(EXAMPLE_CONTENTS)) writeFileSync(world.path(name), content);
  writeFileSync(world.path("turned.csv"), rearranged(EXAMPLE_CONTENTS["plants.csv"]));
  for (const line of [
    "train --estimator classifier plants.csv --label species -m plants.ranksim --keep-sums",
    "train --estimator classifier reviews.csv --text --columns review:text --label stars -m reviews.ranksim",
  ]) {
    expect(await world.ranksim(line)).toMatchObject({ code: 0 });
  }
});

afterAll(() => world.remove());

/** The columns in another order, with one more among them. */
function rearranged(csv: string): string {
  const lines = csv.trimEnd().split("\n");
  return `${lines.map((line, i) => [i === 0 ? "note" : "7", ...line.split(",").reverse()].join(",")).join("\n")}\n`;
}

const accuracy = async (line: string) => {
  const { code, stdout, stderr } = await world.ranksim(`${line} --json`);
  expect({ code, stderr: stderr.replace(/^note:.*\n/gm, "") }).toEqual({ code: 0, stderr: "" });
  return (JSON.parse(stdout) as { accuracy: number }).accuracy;
};

describe("columns", () => {
  test("are found by name in any order, and the label's column without being named", async () => {
    const plain = await accuracy("evaluate plants.ranksim plants.csv");
    expect(plain).toBeGreaterThan(0.9);
    expect(await accuracy("evaluate plants.ranksim turned.csv")).toBe(plain);
    const given = await world.ranksim("predict plants.ranksim plants.csv");
    const turned = await world.ranksim("predict plants.ranksim turned.csv");
    expect(turned.stdout).toBe(given.stdout);
    expect(turned.stderr).toContain('column "note" not known to the model, left out');
  });

  test("that are lacking are refused by name", async () => {
    writeFileSync(world.path("renamed.csv"), EXAMPLE_CONTENTS["plants.csv"].replace("measure 3", "Measure 3"));
    const { code, stdout, stderr } = await world.ranksim("predict plants.ranksim renamed.csv");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain('trained with column "measure 3", which the data lacks');
  });

  test("with labels that are empty do not disturb predict", async () => {
    const empty = EXAMPLE_CONTENTS["plants.csv"].replace(/,(setosa|versicolor|virginica)$/gm, ",");
    writeFileSync(world.path("empty.csv"), empty);
    const { code, stdout } = await world.ranksim("predict plants.ranksim empty.csv");
    expect(code).toBe(0);
    expect(stdout).toBe((await world.ranksim("predict plants.ranksim plants.csv")).stdout);
    expect((await world.ranksim("evaluate plants.ranksim empty.csv")).code).toBe(1);
  });
});

describe("what was said at training", () => {
  test.each([
    "evaluate plants.ranksim turned.csv",
    "explain plants.ranksim turned.csv --row 3",
    "report plants.ranksim turned.csv -o plants.html",
    "update plants.ranksim turned.csv -o more.ranksim",
    "evaluate reviews.ranksim reviews.csv",
    "explain reviews.ranksim reviews.csv --row 3",
    "predict reviews.ranksim reviews.csv",
  ])("need not be said again: %s", async (line) => {
    expect(await world.ranksim(line)).toMatchObject({ code: 0 });
  });

  test("holds for missing numbers: means are those of training rows", async () => {
    writeFileSync(world.path("gaps.csv"), "a,b,c,label\n1,,5,x\n3,2,4,x\n9,8,,y\n7,6,1,y\n");
    expect(
      await world.ranksim("train --estimator classifier gaps.csv --set missing=mean -m gaps.ranksim"),
    ).toMatchObject({
      code: 0,
    });
    const { fill } = schemaOf(loadModel(readFileSync(world.path("gaps.ranksim")))) ?? {};
    expect(fill).toEqual([5, 16 / 3, 10 / 3]);
    writeFileSync(world.path("one.csv"), "a,b,c\n1,,5\n");
    writeFileSync(world.path("two.csv"), "a,b,c\n1,,5\n9,1000,5\n");
    const alone = await world.ranksim("predict gaps.ranksim one.csv --probabilities");
    const beside = await world.ranksim("predict gaps.ranksim two.csv --probabilities");
    expect(beside.stdout.split("\n")[1]).toBe(alone.stdout.split("\n")[1]);
  });

  test("survives update, which adds its rows to the count", async () => {
    expect(await world.ranksim("update plants.ranksim turned.csv -o grown.ranksim")).toMatchObject({ code: 0 });
    const schema = schemaOf(loadModel(readFileSync(world.path("grown.ranksim"))));
    expect(schema).toMatchObject({ label: "species", width: 10, training: { rows: 120 } });
    expect(await accuracy("evaluate grown.ranksim turned.csv")).toBeGreaterThan(0.9);
  });
});

describe("a model", () => {
  test("is the same file whatever the clock says and wherever the data lies", async () => {
    writeFileSync(world.path("copy.csv"), EXAMPLE_CONTENTS["plants.csv"]);
    await world.ranksim("train --estimator classifier copy.csv --label species -m copy.ranksim --keep-sums");
    expect(readFileSync(world.path("copy.ranksim"))).toEqual(readFileSync(world.path("plants.ranksim")));
  });

  test("without a schema answers as before", async () => {
    const { x, y } = await loadDigits();
    const model = await new RankSimilarityClassifier({ filters: 50 }).fit(x.slice(0, 600), y.slice(0, 600));
    writeFileSync(world.path("old.ranksim"), saveModel(model));
    const { code, stdout } = await world.ranksim("predict old.ranksim digits:test");
    expect(code).toBe(0);
    expect(stdout.trim().split("\n")).toEqual((await model.predict(x.slice(1198, 1797))).map(String));
    expect(await accuracy("evaluate old.ranksim digits:test")).toBeGreaterThan(0.8);
  });

  test("comes with every model that the command writes, patches of images included, through loadModel of the package", async () => {
    await world.ranksim("train digits:test -m images.ranksim");
    const model = loadModel(readFileSync(world.path("images.ranksim")));
    if (model.kind !== "pipeline" || !model.predict)
      throw new Error(`expected a pipeline that predicts, found ${model.kind}`);
    expect(model.steps.map(({ kind }) => kind)).toEqual(["patches", "classifier"]);
    expect(schemaOf(model)).toMatchObject({ form: "numbers", width: 64, image: { width: 8, height: 8, channels: 1 } });
    const { x } = await loadDigits();
    const { stdout } = await world.ranksim("predict images.ranksim digits");
    expect((await model.predict(x)).map(String)).toEqual(stdout.trim().split("\n"));
  });

  test("of text keeps its column and label", () => {
    const model = loadModel(readFileSync(world.path("reviews.ranksim")));
    expect(schemaOf(model)).toMatchObject({ form: "text", text: "review", label: "stars", training: { rows: 40 } });
  });
});
