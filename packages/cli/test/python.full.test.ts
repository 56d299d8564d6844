/**
 * python/ranksim_model.py gives the labels and the probabilities of the command, for models of numbers and of images. Skipped where
 * python3 with numpy is missing.
 */

import { readFileSync, writeFileSync } from "node:fs";
import {
  type ClassifierModel,
  type Csr,
  Dense,
  type Estimator,
  LinearClassifier,
  loadModel,
  type MatrixLike,
  MinMaxScaler,
  PatchTransform,
  Pipeline,
  type PredictingModel,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RowScaler,
  StandardScaler,
  saveModel,
  toCsr,
  toDense,
} from "@ranksim/core";
import {
  detectColumns,
  loadDigits,
  saveData,
  Table,
  TableEncoder,
  type TableLike,
  type TableModel,
  TfidfVectorizer,
  tableReader,
  textReaders,
} from "@ranksim/data/node";
import { ConformalClassifier, suggestCandidates } from "@ranksim/learn";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInReaders } from "../../core/src/model-file/readers.ts";
import { ask, compare, numpy, python } from "./python-world.ts";
import { makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = makeWorld();
  const { x, y } = await loadDigits();
  const asked = x.slice(1500, 1797);
  await saveData(world.path("x.npy"), { form: "matrix", x: asked });
  await saveData(world.path("train.npz"), { form: "matrix", x: x.slice(0, 700), y: y.slice(0, 700) });
  const sets = Array.from({ length: 700 }, (_, r) => [y[r] % 2 ? "odd" : "even", ...(y[r] > 4 ? ["large"] : [])]);
  await saveData(world.path("sets.svm"), { form: "matrix", x: x.slice(0, 700), y: sets });
});
afterAll(() => world.remove());

describe.skipIf(!numpy)("numpy gives what the command gives", () => {
  test.each([
    ["plain", "train.npz --filters 60"],
    ["voters", "train.npz --filters 60 --set voters=5"],
    ["votes that make the probabilities", "train.npz --set voters=5 --set decision=probability"],
    ["votes that make them, fitted", "train.npz --set voters=5 --set calibrate=isotonic --set decision=probability"],
    ["a committee", "train.npz --filters 60 --set committee=3"],
    ["refined", "train.npz --filters 40 --set refine=true --set refineEpochs=3"],
    ["fitted by temperature", "train.npz --filters 60 --set calibrate=temperature"],
    ["fitted by isotonic functions", "train.npz --filters 60 --set calibrate=isotonic --set committee=2"],
    ["confusion", "train.npz --filters 30 --set distribution=confusion"],
    ["probabilistic", "train.npz --filters 60 --estimator probabilistic"],
    [
      "probabilistic, mean, fitted",
      "train.npz --filters 60 --estimator probabilistic --set combine=mean --set calibrate=isotonic",
    ],
    ["several labels", "sets.svm --filters 40 --estimator probabilistic"],
    [
      "several labels, fitted",
      "sets.svm --filters 40 --estimator probabilistic --set calibrate=temperature --set thresholds=perLabel",
    ],
  ])("%s", async (_, line) => {
    const { code, stderr } = await world.ranksim(`train ${line} -m m.ranksim --seed 1`);
    expect(code, stderr).toBe(0);
    await compare(world, "m.ranksim", "x.npy", 'np.load("x.npy")');
  });

  test("sparse rows that are trusted by their length", async () => {
    // Words of all classes, and in the long rows some of the own class.
    const rows = Array.from({ length: 400 }, (_, r) =>
      Array.from({ length: 600 }, (_, i) =>
        Number((r % 2 === 1 && i % 30 === r % 3 && (i * r) % 7 < 3) || (i * 31 + r * 17) % 151 === 0),
      ),
    );
    const x = toCsr(Dense.fromRows(rows));
    await saveData(world.path("words.svm"), { form: "matrix", x, y: rows.map((_, r) => r % 3) });
    await saveData(world.path("words.npy"), { form: "matrix", x: Dense.fromRows(rows) });
    const { code, stderr } = await world.ranksim(
      "train words.svm --set features=600 --estimator classifier --set calibrate=temperature -m w.ranksim",
    );
    expect(code, stderr).toBe(0);
    expect(readFileSync(world.path("w.ranksim"), "latin1")).toContain("calibration_halfway");
    await compare(world, "w.ranksim", "words.npy", 'np.load("words.npy")');
    const model = loadModel(readFileSync(world.path("w.ranksim")));
    const rooted = { ...model.save().arrays, calibration_spread: { shape: [1], values: Float64Array.of(0.5) } };
    const file = saveModel({ kind: model.kind, save: () => ({ ...model.save(), arrays: rooted }) });
    writeFileSync(world.path("s.ranksim"), file);
    await compare(world, "s.ranksim", "words.npy", 'np.load("words.npy")');
  });

  test.each([
    ["fast", "--set patches.bytes=false"],
    ["fast", "--set patches.bytes=true"],
    ["balanced", "--set patches.bytes=true"],
    ["best", ""],
  ])("images through patches, preset %s %s", async (preset, flag) => {
    const line = `train train.npz --images 8x8 --preset ${preset} ${flag} -m i.ranksim`;
    const { code, stderr } = await world.ranksim(line.replace(/ +/g, " "));
    expect(code, stderr).toBe(0);
    expect(readFileSync(world.path("i.ranksim"), "latin1")).toContain("patches");
    await compare(world, "i.ranksim", "x.npy", 'np.load("x.npy")');
  });

  test("every candidate that tune may choose", { timeout: 240_000 }, async () => {
    const { x, y } = await loadDigits();
    // Few rows and classes: there are some hundred candidates.
    const [rows, labels] = [x.slice(0, 90), y.slice(0, 90).map((label) => label % 3)];
    const sets = labels.map((label) => [label === 1 ? "odd" : "even", ...(label > 1 ? ["large"] : [])]);
    const texts = labels.map((label, r) => `word${label} and word${(r * 7) % 10} or word${label}`);
    const several = new RankSimilarityProbabilisticClassifier({ filters: 20 });
    const plain = new RankSimilarityClassifier({ filters: 20 });
    const cases = [
      ["dense", plain, rows, labels, "dense"],
      ["sparse", plain, toCsr(rows), labels, "dense"],
      ["sets", several, rows, sets, "dense"],
      ["text", new Pipeline<readonly string[], never>([new TfidfVectorizer(), plain as never]), texts, labels, "texts"],
      [
        "table",
        new Pipeline<TableLike, never>([new TableEncoder(), plain as never]),
        Table.fromMatrix(rows),
        labels,
        "dense",
      ],
    ] as const;
    const expected: { [file: string]: unknown } = {};
    for (const [name, estimator, data, truth] of cases) {
      const candidates = suggestCandidates(estimator as never, data as never, truth) as Estimator<unknown>[];
      expect(candidates.length).toBeGreaterThan(10);
      for (const [j, candidate] of candidates.entries()) {
        const model = (await candidate.fit(data, truth)) as PredictingModel<unknown>;
        const file = `${name}-${j}.ranksim`;
        writeFileSync(world.path(file), saveModel(model));
        expected[file] = await model.predict(data);
      }
    }
    writeFileSync(world.path("texts.json"), JSON.stringify(texts));
    await saveData(world.path("dense.npy"), { form: "matrix", x: rows });
    const found = python(
      world,
      `import json, glob, numpy as np
from ranksim_model import Model
dense = np.load("dense.npy").astype(float); texts = json.load(open("texts.json"))
asked = {"text": texts, "table": dense.tolist()}
print(json.dumps({f: Model(f).predict(asked.get(f.split("-")[0], dense)) for f in glob.glob("*-*.ranksim")}))`,
    );
    expect(JSON.parse(found)).toEqual(expected);
  });

  test("tables as people write them", async () => {
    const pick = <T>(r: number, ...from: readonly T[]): T => from[(r * 7) % from.length];
    const records = Array.from({ length: 120 }, (_, r) => ({
      plain: r % 3 ? r / 7 : 0,
      price: r % 9 ? `$${1 + (r % 40)},${100 + r}.50` : "-",
      umsatz: `${1 + (r % 9)}.${100 + r},5`,
      swiss: `${1 + (r % 8)}'${200 + r}`,
      share: pick(r, "12 %", "7%", "3.5 %", "0"),
      level: r % 6 ? r % 11 : -999,
      day: `${1 + (r % 28)} Feb 2024`,
      moment: `Mar ${1 + (r % 28)}, 2024 ${1 + (r % 12)}:05 PM`,
      created: 1_600_000_000 + r * 86_000,
      start: `${r % 24}:${10 + (r % 50)}`,
      colour: pick(r, "red", "blue", "0,50", "1.0", null),
      said: pick(r, "a good one, I like it", "bad, very bad to me", "so so", null),
    }));
    const labels = records.map((_, r) => (r % 3 ? "a" : "b"));
    const table = Table.fromRecords(records);
    const kinds = { said: "text" } as const;
    const types = detectColumns(table, kinds).map(({ type }) => type);
    const written = ["date", "date", "date", "time", "category", "text"];
    expect(types).toEqual([...Array<string>(6).fill("number"), ...written]);
    const model = await new Pipeline<TableLike, ClassifierModel>([
      new TableEncoder({ types: kinds }),
      new RankSimilarityClassifier({ filters: 12 }),
    ]).fit(table, labels);
    writeFileSync(world.path("people.ranksim"), saveModel(model));
    writeFileSync(world.path("people.json"), JSON.stringify(records));
    const found = python(
      world,
      `import json
from ranksim_model import Model
m = Model("people.ranksim"); rows = json.load(open("people.json"))
print(json.dumps([m.steps[0].transform(rows).tolist(), m.predict(rows)]))`,
    );
    const [encoded, answers] = JSON.parse(found);
    const ours = toDense((await (model.steps[0] as TableModel).transform(table)) as Csr);
    encoded.flat().forEach((value: number, i: number) => {
      expect(value).toBeCloseTo(ours.values[i], 9);
    });
    expect(answers).toEqual(await model.predict(table));
  });

  test("reads every kind that the package reads", () => {
    const found = python(world, "import json, ranksim_model\nprint(json.dumps(sorted(ranksim_model.KINDS)))");
    const kinds = [...builtInReaders, ...textReaders, tableReader].map(({ kind }) => kind);
    expect(JSON.parse(found)).toEqual(kinds.sort());
  });

  test("pipelines of the library: scalers and a linear classifier", async () => {
    const { x, y } = await loadDigits();
    const rows = { x: x.slice(0, 500), y: y.slice(0, 500) };
    const asked = x.slice(1500, 1797);
    for (const estimator of [
      new Pipeline([new StandardScaler(), new LinearClassifier()]),
      new Pipeline([new MinMaxScaler(), new RankSimilarityClassifier({ filters: 40 })]),
      ...(["rank", "log", "log-share"] as const).map(
        (by) => new Pipeline([new RowScaler({ by }), new RankSimilarityClassifier({ filters: 40 })]),
      ),
    ]) {
      const model = await estimator.fit(rows.x, rows.y);
      writeFileSync(world.path("p.ranksim"), saveModel(model));
      expect(ask(world, "p.ranksim", 'np.load("x.npy")').labels).toEqual(await model.predict(asked));
    }
  });

  test("images of numbers that are no bytes, in colour, by strides; and sets of classes", async () => {
    const { x, y } = await loadDigits();
    // Three channels of 4 x 4 pixels with fractions, some of them beyond the range of training.
    const values = Float64Array.from({ length: 300 * 48 }, (_, i) => x.values[i] / 3 - (i % 48 === 7 ? 2 : 0));
    const images = Dense.of(values, 300, 48);
    const labels = y.slice(0, 300).map((label) => `digit ${label % 3}`);
    const recipe = new Pipeline<MatrixLike, ClassifierModel>([
      new PatchTransform({
        width: 4,
        height: 4,
        channels: 3,
        patch: [2, 3],
        filters: [12, 9],
        nBest: 4,
        grid: [2, 1],
        stride: [2, 1],
      }),
      new RankSimilarityClassifier({ filters: 30 }),
    ]);
    const model = await new ConformalClassifier(recipe).fit(images.slice(0, 240), labels.slice(0, 240));
    writeFileSync(world.path("c.ranksim"), saveModel(model));
    await saveData(world.path("c.npy"), { form: "matrix", x: images });
    const found = python(
      world,
      `import json, numpy as np
from ranksim_model import Model
m = Model("c.ranksim"); x = np.load("c.npy")
print(json.dumps([m.predict(x), m.predict_sets(x, 0.8), m.predict_proba(x).tolist()]))`,
    );
    const [answers, sets, shares] = JSON.parse(found);
    expect(answers).toEqual(await model.predict(images));
    expect(sets).toEqual(await model.predictSets(images, { coverage: 0.8 }));
    const expected = (await model.predictProbabilities(images)).values;
    shares.flat().forEach((share: number, i: number) => {
      expect(share).toBeCloseTo(expected[i], 9);
    });
  });

  test("limits that no training gives are refused, as by the library", async () => {
    const { x } = await loadDigits();
    const model = await new PatchTransform({ patch: [3, 4], filters: 6, bytes: true, sample: 500 }).fit(x.slice(0, 50));
    const saved = model.save();
    const { bytes: _, ...sums } = model.params;
    const wrong = "expected 2 whole numbers from 1 to 32767";
    const cases: readonly (readonly [object, string])[] = [
      [{ limits: [0, 9] }, wrong],
      [{ limits: [9, 32_768] }, wrong],
      [{ limits: [9] }, wrong],
      [{ limits: [9, 9, 9] }, wrong],
      [{ limits: [9, 0.5] }, wrong],
      [{ limits: ["9", 9] }, wrong],
      [{ limits: [true, 9] }, wrong],
      [{ limits: null }, wrong],
      [{ limits: 9 }, wrong],
      [{ params: sums }, "limits: expected none, since parameter bytes is not set"],
    ];
    for (const [changes, words] of cases) {
      const bytes = saveModel({ kind: model.kind, save: () => ({ ...saved, meta: { ...saved.meta, ...changes } }) });
      expect(() => loadModel(bytes), JSON.stringify(changes)).toThrow(words);
      writeFileSync(world.path("l.ranksim"), bytes);
      const found = python(
        world,
        `from ranksim_model import Model
try: Model("l.ranksim")
except ValueError as error: print(error)`,
      );
      expect(found, JSON.stringify(changes)).toContain(words);
    }
  });

  test("a transform", async () => {
    await world.ranksim("train train.npz --estimator transform --filters 30 -m f.ranksim");
    await world.ranksim("transform f.ranksim x.npy --out f.csv");
    const found = python(
      world,
      'import numpy as np\nfrom ranksim_model import Model\nnp.savetxt("p.csv", Model("f.ranksim").transform(np.load("x.npy")), delimiter=",", fmt="%.17g")',
    );
    expect(found).toBe("");
    const numbers = (name: string) =>
      readFileSync(world.path(name), "utf8")
        .trimEnd()
        .split("\n")
        .filter((line) => /^[-\d]/.test(line))
        .map((line) => line.split(",").map(Number));
    const [ours, theirs] = [numbers("f.csv"), numbers("p.csv")];
    expect(theirs).toHaveLength(297);
    theirs.forEach((row, r) => {
      row.forEach((value, f) => {
        expect(value).toBeCloseTo(ours[r][f], 12);
      });
    });
  });
});
