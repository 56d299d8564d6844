import { readFileSync, writeFileSync } from "node:fs";
import {
  type ClassifierModel,
  Csr,
  LinearClassifier,
  loadModel,
  Pipeline,
  RankSimilarityClassifier,
  RankSimilarityTransform,
  StandardScaler,
  saveModel,
  type TransformModel,
  withSchema,
} from "@ranksim/core";
import { bytesSource, describeData, loadDigits, readData, textReaders } from "@ranksim/data";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EXAMPLE_CONTENTS, makeWorld, type World } from "./world.ts";

let world: World;

beforeAll(async () => {
  world = makeWorld();
  for (const [name, content] of Object.entries(EXAMPLE_CONTENTS)) writeFileSync(world.path(name), content);
  for (const line of [
    "train --estimator classifier digits:train --model digits.ranksim --filters 100 --seed 7",
    "train --estimator classifier plants.csv --label species -m plants.ranksim",
    "train --estimator classifier reviews.csv --text --columns review:text --label stars -m reviews.ranksim",
    "train digits:train --estimator transform --filters 30 -m transform.model",
  ]) {
    expect(await world.ranksim(line)).toMatchObject({ code: 0 });
  }
});

afterAll(() => world.remove());

/** The digits as the catalogue parts them: the first two thirds, and the rest. */
async function digits() {
  const { x, y } = await loadDigits();
  return { train: { x: x.slice(0, 1198), y: y.slice(0, 1198) }, test: { x: x.slice(1198, 1797), y: y.slice(1198) } };
}

describe("train", () => {
  test("saves what the library would have trained, byte for byte", async () => {
    const { train } = await digits();
    const model = await new RankSimilarityClassifier({ filters: 100, seed: 7 }).fit(train.x, train.y);
    withSchema(model, describeData({ form: "matrix", ...train, imageSize: { width: 8, height: 8 } }));
    expect(Buffer.from(saveModel(model)).equals(readFileSync(world.path("digits.ranksim")))).toBe(true);
  });

  test("hands every parameter on by its name", async () => {
    const flags =
      "--filters 40 --set fastFilters=900 --set maxFilters=800 --set initialize=plusplus --set spreading=weighted-average --set iterations=2 --set tolerance=0.5 --set distribution=confusion --set density=kde --set confusionRows=50 --set filterFunction=meanRank --set nBest=9 --seed 3 --set classWeight=uniform --set distributionPerClass=true --set voters=4 --set calibrate=isotonic";
    const { code } = await world.ranksim(`train --estimator classifier digits:test -m all.model ${flags}`);
    expect(code).toBe(0);
    const model = loadModel(readFileSync(world.path("all.model"))) as ClassifierModel;
    expect(model.params).toEqual({
      filters: 40,
      fastFilters: 900,
      maxFilters: 800,
      initialize: "plusplus",
      spreading: "weightedAverage",
      iterations: 2,
      tolerance: 0.5,
      distribution: "confusion",
      density: "kde",
      confusionRows: 50,
      filterFunction: "meanRank",
      nBest: 9,
      keepSums: false,
      seed: 3,
      classWeight: "uniform",
      distributionPerClass: true,
      voters: 4,
      calibrate: "isotonic",
      committee: 1,
      refine: false,
      refineEpochs: 12,
    });
  });

  test("refines a committee", async () => {
    const line =
      "train --estimator classifier digits:train -m refined.model --filters 40 --set committee=2 --set refine=true --set refineEpochs=3";
    const { code, stdout } = await world.ranksim(line);
    expect(code).toBe(0);
    expect(stdout).toMatch(/refined +(yes, from|no, nothing was gained)/);
    expect((await world.ranksim("inspect refined.model")).stdout).toMatch(
      /refined +(yes|no), .* of 2\d\d held-out rows/,
    );
    const model = loadModel(readFileSync(world.path("refined.model"))) as ClassifierModel;
    expect(model.committee).toBe(2);
    expect(model.params).toMatchObject({ committee: 2, refine: true, refineEpochs: 3 });
    expect(model.report.refinement?.heldOutRows).toBeGreaterThan(100);
  });

  test("takes values that are more than a word as JSON or from a file", async () => {
    writeFileSync(world.path("weights.json"), '{"0": 3}');
    await world.ranksim([
      "train",
      "--estimator",
      "classifier",
      "digits:test",
      "-m",
      "w.model",
      "--filters",
      "50",
      "--class-weight",
      "@weights.json",
    ]);
    await world.ranksim([
      "train",
      "--estimator",
      "classifier",
      "digits:test",
      "-m",
      "v.model",
      "--filters",
      "50",
      "--class-weight",
      '{"0": 3}',
    ]);
    expect(readFileSync(world.path("w.model")).equals(readFileSync(world.path("v.model")))).toBe(true);
    const model = loadModel(readFileSync(world.path("w.model"))) as ClassifierModel;
    // 3 of 12 weights, of 50 filters: 12.5, to the even whole number.
    expect(model.filterClass.filter((c) => c === 0).length).toBe(12);
  });

  test("reads labels from a file of their own and rows from standard input", async () => {
    const rows = Array.from({ length: 20 }, (_, r) => Array.from({ length: 12 }, (_, i) => (i * (r % 2 ? 5 : 7)) % 12));
    writeFileSync(world.path("names.txt"), rows.map((_, r) => (r % 2 ? "odd" : "even")).join("\n"));
    const stdin = rows.map((row) => row.join(",")).join("\n");
    const { code, stdout } = await world.ranksim(
      "train --estimator classifier - --labels names.txt -m parity.model --json",
      { stdin },
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ kind: "classifier", classes: ["even", "odd"], report: { rows: 20 } });
    const answer = await world.ranksim("predict parity.model -", { stdin: rows[3].join(",") });
    expect(answer.stdout).toBe("odd\n");
  });

  test("writes the model to standard output and reads it from there", async () => {
    const { bytes, stderr } = await world.ranksim(
      "train --estimator classifier digits:train -m - --filters 100 --seed 7 -q",
    );
    expect(stderr).toBe("");
    expect(Buffer.from(bytes).equals(readFileSync(world.path("digits.ranksim")))).toBe(true);
    const { stdout } = await world.ranksim("inspect - --json", { stdin: bytes });
    expect(JSON.parse(stdout)).toMatchObject({ kind: "classifier", byteLength: bytes.length });
  });
});

describe("predict", () => {
  test("gives a line for each row, as the model answers", async () => {
    const { test: asked } = await digits();
    const model = loadModel(readFileSync(world.path("digits.ranksim"))) as ClassifierModel;
    const { stdout } = await world.ranksim("predict digits.ranksim digits:test");
    expect(stdout.trimEnd().split("\n").map(Number)).toEqual(await model.predict(asked.x));
  });

  test("writes tables and JSON lines of probabilities that add up to 1", async () => {
    await world.ranksim("predict plants.ranksim plants.csv --label species --probabilities --out p.csv");
    const [head, ...lines] = readFileSync(world.path("p.csv"), "utf8").trimEnd().split("\n");
    expect(head).toBe("label,setosa,versicolor,virginica");
    expect(lines).toHaveLength(60);
    for (const line of lines) {
      const [label, ...shares] = line.split(",");
      expect(shares.reduce((sum, share) => sum + Number(share), 0)).toBeCloseTo(1, 12);
      const largest = Math.max(...shares.map(Number));
      expect(Number(shares[["setosa", "versicolor", "virginica"].indexOf(label)])).toBe(largest);
    }
    await world.ranksim("predict plants.ranksim plants.csv --label species --probabilities --out p.jsonl");
    const first = JSON.parse(readFileSync(world.path("p.jsonl"), "utf8").split("\n")[0]);
    expect([first.label, ...Object.values(first.probabilities)].map(String)).toEqual(lines[0].split(","));
  });

  test("takes raw text, a line at a time", async () => {
    const { stdout } = await world.ranksim("predict reviews.ranksim -", { stdin: "dull and boring\nlovely, moving\n" });
    expect(stdout).toBe("1\n5\n");
  });
});

test("a text model is one file that takes raw text anywhere", async () => {
  const model = loadModel(readFileSync(world.path("reviews.ranksim")), { readers: textReaders });
  expect(await (model as unknown as { predict(x: string[]): Promise<unknown> }).predict(["so dull, so weak"])).toEqual([
    1,
  ]);
});

test("transform writes what the model's transform gives", async () => {
  const { test: asked } = await digits();
  const model = loadModel(readFileSync(world.path("transform.model"))) as TransformModel;
  const expected = await model.transform(asked.x);
  for (const name of ["t.npz", "t.svm", "t.jsonl"]) {
    expect(await world.ranksim(`transform transform.model digits:test --out ${name}`)).toMatchObject({ code: 0 });
    const data = await readData(bytesSource(readFileSync(world.path(name)), name), { features: 30 });
    const x = (data as { x: Csr }).x;
    expect(x).toBeInstanceOf(Csr);
    expect(Array.from(x.indices)).toEqual(Array.from(expected.indices));
    expect(Array.from(x.values)).toEqual(Array.from(expected.values));
    expect(data.y).toEqual(asked.y);
  }
});

describe("evaluate", () => {
  test("counts right and wrong as a plain loop does", async () => {
    const { test: asked } = await digits();
    const answers = (await world.ranksim("predict digits.ranksim digits:test")).stdout
      .trimEnd()
      .split("\n")
      .map(Number);
    const counts = Array.from({ length: 10 }, () => new Array<number>(10).fill(0));
    answers.forEach((answer, r) => {
      counts[asked.y[r]][answer]++;
    });
    const right = counts.reduce((sum, row, c) => sum + row[c], 0);
    const { stdout } = await world.ranksim("evaluate digits.ranksim digits:test --json");
    const found = JSON.parse(stdout);
    expect(found.confusion.counts).toEqual(counts);
    expect(found.rows).toBe(599);
    expect(found.accuracy).toBeCloseTo(right / 599, 12);
    expect(found.logLoss).toBeGreaterThan(0);
    const people = (await world.ranksim("evaluate digits.ranksim digits:test")).stdout;
    expect(people).toContain((right / 599).toFixed(4));
    expect(people).toMatch(/^true \\ predicted/m);
  });

  test("matches labels of the same spelling and tells of classes the model does not know", async () => {
    const { x, y } = (await digits()).test;
    const lines = y.map((label, r) => `${Array.from(x.row(r)).join(",")},"${r < 5 ? `new ${label}` : label}"`);
    writeFileSync(world.path("spelled.csv"), lines.join("\n"));
    const { stdout } = await world.ranksim("evaluate digits.ranksim spelled.csv --label -1 --json");
    expect(JSON.parse(stdout).notes[0]).toContain("does not know");
    const plain = JSON.parse((await world.ranksim("evaluate digits.ranksim digits:test --json")).stdout);
    expect(JSON.parse(stdout).accuracy).toBeGreaterThan(plain.accuracy - 5.5 / 599);
    expect(JSON.parse(stdout).logLoss).toBeUndefined();
  });

  test("matches labels of the same number where the model has it once", async () => {
    const train = (name: string, labels: readonly string[]) => {
      const lines = Array.from({ length: 60 }, (_, r) => `${["1,5,9", "5,9,1", "9,1,5"][r % 3]},${labels[r % 3]}`);
      writeFileSync(world.path(name), `a,b,c,label\n${lines.join("\n")}\n`);
    };
    const flags = "--label label --estimator classifier --filters 6 --set table=false";
    for (const [model, given, accuracy] of [
      [["1", "2", "3"], ["1.0", "02", "+3"], 1],
      [["01", "02", "1.10"], ["1", "2", "1.1"], 1],
      [["1.1", "1.10", "x"], ["1.1", "1.10", "x"], 1],
      [["1.1", "1.10", "x"], ["1.100", "1.10", "x"], 2 / 3],
    ] as const) {
      train("model.csv", model);
      train("given.csv", given);
      const trained = await world.ranksim(`train model.csv ${flags} -m spelled.ranksim --json`);
      expect(JSON.parse(trained.stdout).classes.map(String).sort()).toEqual([...model].sort());
      const { stdout } = await world.ranksim("evaluate spelled.ranksim given.csv --json");
      expect(JSON.parse(stdout).accuracy).toBeCloseTo(accuracy, 12);
      const predicted = await world.ranksim("predict spelled.ranksim given.csv");
      expect(predicted.stdout.split("\n").slice(0, 3)).toEqual([...model]);
    }
  });

  test("judges several labels per row", async () => {
    const lines = Array.from({ length: 30 }, (_, r) => {
      const values = Array.from({ length: 10 }, (_, i) => `${i + 1}:${((i * (r % 3 === 0 ? 3 : 7)) % 10) + 1}`);
      return `${r % 3 === 0 ? "1,2" : "2"} ${values.join(" ")}`;
    });
    writeFileSync(world.path("several.svm"), lines.join("\n"));
    await world.ranksim("train several.svm --estimator probabilistic -m several.model");
    const { stdout } = await world.ranksim("evaluate several.model several.svm --json");
    expect(JSON.parse(stdout)).toMatchObject({ accuracy: 1, hammingLoss: 0, macro: { f1: 1 } });
    expect((await world.ranksim("predict several.model several.svm")).stdout.split("\n").slice(0, 3)).toEqual([
      "1,2",
      "2",
      "2",
    ]);
    expect((await world.ranksim("report several.model several.svm -o several.html")).code).toBe(0);
  });
});

test("cross-validate gives the scores of each fold and their mean", async () => {
  const { stdout } = await world.ranksim("cross-validate plants.csv --label species --preset fast --folds 4 --json");
  const found = JSON.parse(stdout);
  expect(found.folds).toHaveLength(4);
  const scores: number[] = found.folds.map((fold: { accuracy: number }) => fold.accuracy);
  expect(found.accuracy.mean).toBeCloseTo(scores.reduce((a, b) => a + b) / 4, 12);
  expect((await world.ranksim("cross-validate plants.csv --label species --preset fast --folds 4")).stdout).toMatch(
    /^mean/m,
  );
});

test("inspect says what is in the file", async () => {
  const found = JSON.parse((await world.ranksim("inspect reviews.ranksim --json")).stdout);
  expect(found.steps.map((step: { kind: string }) => step.kind)).toEqual(["count-vectorizer", "classifier"]);
  expect(found.digest).toMatch(/^[0-9a-f]{64}$/);
  expect(found.byteLength).toBe(readFileSync(world.path("reviews.ranksim")).length);
  expect((await world.ranksim("inspect reviews.ranksim")).stdout).toContain(found.digest);
});

describe("explain", () => {
  test("names filters, training rows and the features that decided", async () => {
    const { test: asked } = await digits();
    const model = loadModel(readFileSync(world.path("digits.ranksim"))) as ClassifierModel;
    const expected = await model.explain(asked.x, 5);
    const found = JSON.parse((await world.ranksim("explain digits.ranksim digits:test --row 5 --json")).stdout);
    expect(found.label).toBe(expected.label);
    expect(found.filters.map((filter: { filter: number }) => filter.filter)).toEqual(
      expected.filters.map((f) => f.filter),
    );
    expect(found.filters[0].rows).toEqual(Array.from(expected.filters[0].rows));
    expect(found.contributions[0].contribution).toBe(expected.contributions[0].contribution);
  });

  test("shows words for text", async () => {
    const { stdout } = await world.ranksim("explain reviews.ranksim new-reviews.txt --row 1");
    expect(stdout).toMatch(/^(dull|boring|plot) .*\bfor\b/m);
  });

  test("draws pictures with two pixels a character where there are colours, and a ramp where there are none", async () => {
    const plain = (await world.ranksim("explain digits.ranksim digits:test --row 5")).stdout;
    expect(plain).toMatch(/^true +\d\npredicted +\d$/m);
    expect(plain).toContain("@@");
    const colour = (await world.ranksim("explain digits.ranksim digits:test --row 5", { colourDepth: 24 })).stdout;
    expect(colour).toContain("\u001b[38;2;255;255;255m");
    expect(colour).toContain("▀");
    expect((await world.ranksim("explain digits.ranksim digits:test --row 5 --image none")).stdout).not.toContain("@@");
  });
});

test("pipelines made by the library are judged, explained and reported on too", async () => {
  const { train } = await digits();
  const scaled = new Pipeline([new StandardScaler(), new RankSimilarityClassifier({ filters: 50 })]);
  const similar = new Pipeline([new RankSimilarityTransform({ filters: 40 }), new LinearClassifier()]);
  for (const [name, pipeline] of Object.entries({ scaled, similar })) {
    const model = await pipeline.fit(train.x, train.y);
    writeFileSync(world.path(`${name}.ranksim`), saveModel(model));
    const judged = await world.ranksim(`evaluate ${name}.ranksim digits:test --json`);
    expect(JSON.parse(judged.stdout).accuracy).toBeGreaterThan(0.85);
    expect(await world.ranksim(`explain ${name}.ranksim digits:test --row 1`)).toMatchObject({ code: 0 });
    expect(await world.ranksim(`report ${name}.ranksim digits:test -o ${name}.html`)).toMatchObject({ code: 0 });
    expect(readFileSync(world.path(`${name}.html`), "utf8")).toContain("Confusion matrix");
    expect(JSON.parse((await world.ranksim(`inspect ${name}.ranksim --json`)).stdout).steps).toHaveLength(2);
  }
});

test("inspect shows the scores that a model has, whatever they are called", async () => {
  const model = await new RankSimilarityClassifier({ filters: 2 }).fit(
    [
      [1, 2],
      [2, 1],
    ],
    ["a", "b"],
  );
  withSchema(model, { form: "numbers", width: 2, heldOut: { rows: 7, scores: { auc: 0.5, macroF1: 0.25 } } });
  const { code, stdout } = await world.ranksim("inspect -", { stdin: saveModel(model) });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/held out +auc 0.5000, macro F1 0.2500 on 7 rows/)]);
});

describe("presets", () => {
  test("choose by what the data is, say so in one line, and are remembered", async () => {
    const { code, stdout } = await world.ranksim("train digits:train -m patches.model --preset fast");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^recipe +fast, for 1198 images of 8 x 8, 10 classes: 64 patch filters/m);
    const [, line] = stdout.match(/^recipe +(.*)$/m) ?? [];
    expect((await world.ranksim("inspect patches.model")).stdout).toContain(line);
    const { stdout: json } = await world.ranksim("train plants.csv --label species -m p.model --filters 9 --json");
    const { preset, about, tried } = JSON.parse(json).recipe;
    expect([preset, about]).toEqual(["balanced", expect.stringMatching(/refined filters/)]);
    // Filters were asked for, so nothing without filters was tried.
    expect(tried.map(({ name }: { name: string }) => name)).toEqual([
      "columns, refined committee",
      "numbers, refined filters",
    ]);
    expect(tried.filter(({ weight }: { weight?: number }) => weight === 1)).toHaveLength(1);
    const { stdout: judged } = await world.ranksim("evaluate patches.model digits:test --json");
    expect(JSON.parse(judged).accuracy).toBeGreaterThan(0.93);
  });

  test("hold in cross-validate, and stand back where the estimator is named", async () => {
    const { stdout } = await world.ranksim("cross-validate plants.csv --label species --folds 3 --json");
    expect(JSON.parse(stdout).folds).toHaveLength(3);
    const both = await world.ranksim("train digits -m x --preset fast --estimator classifier");
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("--estimator chooses by hand") });
  });
});
