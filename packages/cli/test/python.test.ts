/**
 * python/ranksim_model.py gives the labels and the probabilities of the command, for models of numbers and of images, and its
 * classifier is one that scikit-learn can judge and tune. Skipped where python3 with numpy, or scikit-learn, is missing.
 */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  type ClassifierModel,
  ConformalClassifier,
  Dense,
  type Estimator,
  LinearSvm,
  loadModel,
  type MatrixLike,
  MinMaxScaler,
  PatchTransform,
  Pipeline,
  type PredictingModel,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  StandardScaler,
  saveModel,
  suggestCandidates,
  toCsr,
} from "@ranksim/core";
import {
  loadDigits,
  saveData,
  Table,
  TableEncoder,
  type TableLike,
  TfidfVectorizer,
  tableReader,
  textReaders,
} from "@ranksim/data/node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInReaders } from "../../core/src/model-file/readers.ts";
import { ask, compare, numpy, python, sklearn } from "./python-world.ts";
import { makeWorld, type World } from "./world.ts";

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));

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
    ["voters", "train.npz --filters 60 --voters 5"],
    ["a committee", "train.npz --filters 60 --committee 3"],
    ["refined", "train.npz --filters 40 --refine --refine-epochs 3"],
    ["fitted by temperature", "train.npz --filters 60 --calibrate temperature"],
    ["fitted by isotonic functions", "train.npz --filters 60 --calibrate isotonic --committee 2"],
    ["confusion", "train.npz --filters 30 --distribution confusion"],
    ["probabilistic", "train.npz --filters 60 --estimator probabilistic"],
    [
      "probabilistic, mean, fitted",
      "train.npz --filters 60 --estimator probabilistic --combine mean --calibrate isotonic",
    ],
    ["several labels", "sets.svm --filters 40 --estimator probabilistic"],
    [
      "several labels, fitted",
      "sets.svm --filters 40 --estimator probabilistic --calibrate temperature --thresholds perLabel",
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
    const { code, stderr } = await world.ranksim("train words.svm --features 600 -m w.ranksim");
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
    ["fast", "--no-patch-bytes"],
    ["fast", "--patch-bytes"],
    ["balanced", "--patch-bytes"],
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

  test("reads every kind that the package reads", () => {
    const found = python(world, "import json, ranksim_model\nprint(json.dumps(sorted(ranksim_model.KINDS)))");
    const kinds = [...builtInReaders, ...textReaders, tableReader].map(({ kind }) => kind);
    expect(JSON.parse(found)).toEqual(kinds.sort());
  });

  test("pipelines of the library: scalers and a linear SVM", async () => {
    const { x, y } = await loadDigits();
    const rows = { x: x.slice(0, 500), y: y.slice(0, 500) };
    const asked = x.slice(1500, 1797);
    for (const estimator of [
      new Pipeline([new StandardScaler(), new LinearSvm()]),
      new Pipeline([new MinMaxScaler(), new RankSimilarityClassifier({ filters: 40 })]),
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

test.skipIf(!sklearn || !existsSync(BIN))(
  "scikit-learn judges and tunes the classifier (npm run build)",
  { timeout: 240_000 },
  () => {
    const script = `
from ranksim_model import RanksimClassifier
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
import numpy as np
d = np.load("train.npz")
x = d["x"][:400]; y = np.array(["small", "large"])[(d["y"][:400] > 4).astype(int)]
make = RanksimClassifier(filters=20, command=[${JSON.stringify(process.execPath)}, ${JSON.stringify(BIN)}], options={"n_best": 10})
assert clone(make).get_params() == make.get_params()
scores = cross_val_score(make, x, y, cv=3)
assert scores.shape == (3,) and scores.mean() > 0.8, scores
search = GridSearchCV(make, {"filters": [4, 30]}, cv=2).fit(x, y)
assert search.best_params_["filters"] in (4, 30)
best = search.best_estimator_
assert list(best.classes_) == ["large", "small"]
p = best.predict_proba(x)
assert p.shape == (len(x), 2) and np.allclose(p.sum(axis=1), 1)
assert (best.classes_[p.argmax(axis=1)] == best.predict(x)).mean() > 0.9
try: RanksimClassifier(filters=1, command=make.command).fit(x, y)
except ValueError as error: assert "at least as many filters as classes" in str(error), error
else: raise AssertionError("expected a refusal")
from sklearn.exceptions import NotFittedError
try: clone(make).predict(x)
except NotFittedError as error: assert "call fit first" in str(error), error
else: raise AssertionError("expected a refusal")
print("fine")`;
    expect(python(world, script, sklearn)).toContain("fine");
  },
);
