/** `decision: "probability"`: the label is the first of the most probable classes, whatever probabilities are made of. */

import {
  type ClassifierModel,
  type ClassifierParams,
  type Dense,
  type Label,
  loadModel,
  Dense as Matrix,
  RankSimilarityClassifier,
  saveModel,
  toCsr,
} from "@ranksim/core";
import { describe, expect, it } from "vitest";
import { leadersOf } from "../../src/beyond/probabilities/calibration.ts";
import { classifierReader } from "../../src/models/classifier-model.ts";
import { drawBelow, generatorOf } from "../../src/random.ts";
import { platforms } from "../platforms.ts";

const NAMES = ["ant", "bee", "cow", "dog"];
const FEATURES = 12;

/** Rows of four classes that overlap, of few values so that responses tie, and with rows of zeros. */
function sample(rows: number, seed: number, values = 3, fraction = 1): { x: Dense; y: string[] } {
  const generator = generatorOf(seed);
  const y = Array.from({ length: rows }, () => NAMES[drawBelow(generator, 4)]);
  const x = y.map((name, r) =>
    Array.from({ length: FEATURES }, (_, i) => {
      if (r % 29 === 28) return 0;
      return (drawBelow(generator, values) + (i % 4 === NAMES.indexOf(name) ? 1 : 0)) * fraction;
    }),
  );
  return { x: Matrix.fromRows(x), y };
}

const seen = sample(240, 1);
const asked = sample(300, 2);
const parts = { seen: sample(240, 3, 50, 0.1), asked: sample(300, 4, 50, 0.1) };

/** What a reader of the probabilities takes for the label: the first of the largest. */
function mostProbable(probabilities: Dense, classes: readonly Label[]): Label[] {
  return Array.from({ length: probabilities.rows }, (_, r) => {
    const row = Array.from(probabilities.row(r));
    return classes[row.indexOf(Math.max(...row))];
  });
}

const CALIBRATIONS = ["none", "temperature", "isotonic"] as const;
const FILTERS: [string, Partial<ClassifierParams>][] = [
  ["one voter", { filters: 60 }],
  ["a filter for each row", {}],
  ["three voters", { filters: 60, voters: 3 }],
  ["nine voters", { voters: 9 }],
  ["more voters than filters", { filters: 8, voters: 50 }],
  ["a committee", { filters: 48, committee: 3 }],
  ["refined filters", { filters: 20, refine: true }],
  ["Savage scores", { filters: 40, distribution: "savage", voters: 2 }],
  ["confusion", { filters: 40, distribution: "confusion" }],
];

describe.each(platforms)("on $title", ({ open }) => {
  it.each(FILTERS.flatMap(([what, params]) => CALIBRATIONS.map((calibrate) => [what, calibrate, params] as const)))(
    "%s, probabilities %s",
    async (_, calibrate, params) => {
      const backend = await open();
      try {
        for (const { seen: train, asked: test } of [{ seen, asked }, parts]) {
          const recipe = new RankSimilarityClassifier({ ...params, calibrate, decision: "probability", seed: 5 });
          const model = await recipe.fit(train.x, train.y, { backend });
          const labels = await model.predict(test.x, { backend });
          expect(labels).toEqual(mostProbable(await model.predictProbabilities(test.x, { backend }), model.classes));
          expect(await model.predict(toCsr(test.x), { backend })).toEqual(labels);
          const right = test.y.filter((name, r) => name === labels[r]).length;
          expect(await model.score(test.x, test.y, { backend })).toBe(right / test.y.length);
          for (const r of [0, 28]) expect((await model.explain(test.x, r, { backend })).label).toBe(labels[r]);
        }
      } finally {
        await backend.close();
      }
    },
  );
});

describe("decision", () => {
  const fit = (params: Partial<ClassifierParams>): Promise<ClassifierModel> =>
    new RankSimilarityClassifier({ filters: 60, seed: 5, ...params }).fit(seen.x, seen.y);

  it("is the vote of filters by default, which differs where several vote", async () => {
    const model = await fit({ voters: 9, calibrate: "temperature" });
    const labels = await model.predict(asked.x);
    expect(model.decision).toBe("vote");
    expect(labels).not.toEqual(mostProbable(await model.predictProbabilities(asked.x), model.classes));
    expect(await (await fit({ voters: 9 })).predict(asked.x)).toHaveLength(300);
  });

  it("is stored where it is not the default", async () => {
    const [plain, told, model] = [
      await fit({}),
      await fit({ decision: "vote" }),
      await fit({ voters: 3, calibrate: "temperature", decision: "probability" }),
    ];
    expect(plain.save().meta.params).not.toHaveProperty("decision");
    expect(saveModel(told)).toEqual(saveModel(plain));
    expect(model.save().meta.params).toMatchObject({ decision: "probability" });
    const again = loadModel(saveModel(model)) as ClassifierModel;
    expect(await again.predict(asked.x)).toEqual(await model.predict(asked.x));
    expect(await again.predictProbabilities(asked.x)).toEqual(await model.predictProbabilities(asked.x));
  });

  it("refuses other values, in parameters and in files", async () => {
    expect(() => new RankSimilarityClassifier({ decision: "coin" as never })).toThrow(
      'decision: expected "vote" or "probability", found "coin"',
    );
    const saved = (await fit({})).save();
    const params = { ...(saved.meta.params as object), decision: "coin" };
    const read = () => classifierReader.read({ ...saved, meta: { ...saved.meta, params } }, () => expect.fail());
    expect(read).toThrow('decision: expected "vote" or "probability"');
  });

  it("keeps the classes of the vote where votes make the probabilities, but for equal ones", async () => {
    const vote = await new RankSimilarityClassifier({ voters: 9, seed: 5 }).fit(parts.seen.x, parts.seen.y);
    const model = await new RankSimilarityClassifier({ voters: 9, seed: 5, decision: "probability" }).fit(
      parts.seen.x,
      parts.seen.y,
    );
    const silent = (r: number) => r % 29 === 28;
    const labels = await vote.predict(parts.asked.x);
    const found = await model.predict(parts.asked.x);
    expect(found.filter((_, r) => !silent(r))).toEqual(labels.filter((_, r) => !silent(r)));
    const shares = await model.predictProbabilities(parts.asked.x);
    for (let r = 0; r < shares.rows; r++) expect(Array.from(shares.row(r)).reduce((a, b) => a + b)).toBeCloseTo(1, 12);
  });

  it("holds where scores say nothing of the classes, and every class is as probable", async () => {
    const model = await fit({ decision: "probability" });
    const noise = sample(240, 9);
    const fitted = await model.calibrate(noise.x, NAMES.flatMap((name) => Array<string>(60).fill(name)).reverse());
    const flat = classifierReader.read(
      {
        ...fitted.save(),
        arrays: { ...fitted.save().arrays, calibration_factor: { shape: [1], values: Float64Array.of(0) } },
      },
      () => expect.fail("no steps"),
    ) as ClassifierModel;
    const labels = await flat.predict(asked.x);
    expect(new Set(labels).size).toBe(4);
    const probabilities = await flat.predictProbabilities(asked.x);
    expect(labels).toEqual(mostProbable(probabilities, flat.classes));
    for (const value of probabilities.values) expect(value).toBeCloseTo(0.25, 12);
    const scores = await flat.classScores(asked.x);
    expect(labels).toEqual(Array.from(leadersOf(scores.values as Float64Array, 4), (c) => flat.classes[c]));
  });

  it("holds for a class without filters", async () => {
    for (const calibrate of CALIBRATIONS) {
      const saved = (await fit({ decision: "probability", calibrate })).save();
      const own = saved.arrays.filter_class.values as Uint32Array;
      const values = own.map((c) => (c === 0 ? 1 : c));
      const model = classifierReader.read(
        { ...saved, arrays: { ...saved.arrays, filter_class: { shape: [values.length], values } } },
        () => expect.fail("no steps"),
      ) as ClassifierModel;
      const labels = await model.predict(asked.x);
      expect(labels).toEqual(mostProbable(await model.predictProbabilities(asked.x), model.classes));
    }
  });
});
