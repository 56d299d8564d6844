import { expect, test } from "vitest";
import {
  Blend,
  type Csr,
  Dense,
  LinearClassifier,
  loadModel,
  type Matrix,
  MaxAbsScaler,
  type Model,
  PairTransform,
  Pipeline,
  type PredictingModel,
  RankSimilarityClassifier,
  RankSimilarityTransform,
  saveModel,
  schemaOf,
  toCsr,
  toDense,
  Union,
  withColumns,
  withSchema,
} from "../../src/index.ts";

// Rows of three classes that differ in what is large; some features are rarely there, so that sparse banks occur as well.
const [rows, features] = [60, 40];
const values = Float64Array.from({ length: rows * features }, (_, e) => {
  const [r, i] = [Math.floor(e / features), e % features];
  const own = i % 3 === r % 3 ? 5 : 1;
  return (r * 7 + i * 13) % 5 < 3 ? 0 : own + ((r * 31 + i * 17) % 11) / 4;
});
const x = Dense.of(values, rows, features);
const y = Array.from({ length: rows }, (_, r) => ["a", "b", "c"][r % 3]);
const columns = Uint32Array.from([0, 1, 2, 5, 6, 7, 11, 12, 19, 20, 21, 22, 23, 30, 38]);

/** The columns of rows alone, and the rows with all others zero. */
function only(matrix: Dense): { readonly narrow: Dense; readonly zeroed: Dense } {
  const own = Array.from({ length: matrix.rows }, (_, r) => Array.from(columns, (c) => matrix.row(r)[c]));
  const zeroed = Array.from({ length: matrix.rows }, (_, r) =>
    Array.from(matrix.row(r), (value, c) => (columns.includes(c) ? value : 0)),
  );
  return { narrow: Dense.fromRows(own), zeroed: Dense.fromRows(zeroed) };
}

/** Doubled ranks by counting: twice the values below, the equal ones, and one. */
const ranked = (list: readonly number[]) =>
  list.map(
    (value) => 2 * list.filter((other) => other < value).length + list.filter((other) => other === value).length + 1,
  );

/** D at the ranks that a value shares with its equals, their mean. */
const drawn = (list: readonly number[], scores: readonly number[]) =>
  list.map((value) => {
    const below = list.filter((other) => other < value).length;
    const own = scores.slice(below, below + list.filter((other) => other === value).length);
    return own.reduce((sum, score) => sum + score, 0) / own.length;
  });

const savage = (n: number) => {
  const scores: number[] = [];
  for (let r = 0; r < n; r++) scores.push((scores[r - 1] ?? 0) + 1 / (n - r));
  return scores;
};

test.each(["rank", "savage"] as const)("filters are ranked again among the columns, %s", async (distribution) => {
  for (const form of [x, toCsr(x)]) {
    const model = await new RankSimilarityClassifier({ filters: 9, distribution }).fit(form, y);
    const small = withColumns(model, columns);
    const whole = weightsOf(model.bank);
    for (const [f, filter] of weightsOf(small.bank).entries()) {
      const own = Array.from(columns, (c) => whole[f][c]);
      const expected = distribution === "rank" ? ranked(own) : drawn(own, savage(columns.length));
      for (const [i, weight] of filter.entries()) expect(weight).toBeCloseTo(expected[i], 12);
    }
    expect([small.features, small.classes]).toEqual([columns.length, model.classes]);
    const { narrow } = only(x);
    expect(await small.predict(narrow)).toEqual(await small.predict(toCsr(narrow)));
  }
});

function weightsOf(bank: { readonly filters: number; readonly features: number } & object): number[][] {
  const own = bank as never as
    | { form: "dense"; weights: ArrayLike<number> }
    | { form: "sparse"; base: Float64Array; offsets: Uint32Array; indices: Uint32Array; weights: ArrayLike<number> };
  return Array.from({ length: bank.filters }, (_, f) => {
    if (own.form === "dense")
      return Array.from({ length: bank.features }, (_, i) => own.weights[f * bank.features + i]);
    const filter = new Array<number>(bank.features).fill(own.base[f]);
    for (let e = own.offsets[f]; e < own.offsets[f + 1]; e++) filter[own.indices[e]] = own.weights[e];
    return filter;
  });
}

const linear = () => new LinearClassifier({ c: 1 });
const asZero: [string, { fit(x: Matrix, y: readonly string[]): Promise<Model> }][] = [
  ["planes", linear()],
  [
    "scaled planes",
    new Pipeline([
      ["scale", new MaxAbsScaler()],
      ["head", linear()],
    ]),
  ],
  [
    "planes of pairs",
    new Pipeline([
      ["scale", new MaxAbsScaler()],
      ["pairs", new PairTransform()],
      ["head", linear()],
    ]),
  ],
  [
    "a blend of planes",
    new Blend([
      ["one", linear()],
      ["two", new LinearClassifier({ c: 0.01 })],
    ]),
  ],
] as never;

test.each(asZero)("%s answer as if the other columns were zero", async (_, estimator) => {
  const model = (await estimator.fit(toCsr(x), y)) as PredictingModel;
  const { narrow, zeroed } = only(x);
  const expected = await model.predictProbabilities?.(toCsr(zeroed));
  const found = await withColumns(model, columns).predictProbabilities?.(toCsr(narrow));
  expect(found?.rows).toBe(rows);
  for (const [e, value] of (expected as Dense).values.entries()) expect(found?.values[e]).toBeCloseTo(value, 9);
});

test("a union of rows and similarities keeps the features that its parts make", async () => {
  const union = new Union([["like", new RankSimilarityTransform({ filters: 6 })]], { rows: true });
  const model = await new Pipeline([
    ["both", union],
    ["head", linear()],
  ]).fit(toCsr(x), y);
  const small = withColumns(model, columns);
  const { narrow } = only(x);
  const [both, head] = (small as unknown as { steps: [{ transform(x: Matrix): Promise<Csr> }, { features: number }] })
    .steps;
  expect(head.features).toBe(columns.length + 6);
  const made = toDense(await both.transform(toCsr(narrow)));
  expect(made.features).toBe(columns.length + 6);
});

test("all columns give the same model, and the schema names those that are left", async () => {
  const model = await new RankSimilarityClassifier({ filters: 6 }).fit(x, y);
  const all = Uint32Array.from({ length: features }, (_, c) => c);
  expect(saveModel(withColumns(model, all))).toEqual(saveModel(model));
  const named = Array.from({ length: features }, (_, c) => ({ name: `g${c}`, type: "number" as const }));
  withSchema(model, { form: "numbers", width: features, columns: named });
  const small = withColumns(model, columns);
  expect(schemaOf(small)?.columns?.map(({ name }) => name)).toEqual(Array.from(columns, (c) => `g${c}`));
  expect(loadModel(saveModel(small)).kind).toBe("classifier");
});

test("columns that are none of the model's are refused", async () => {
  const model = await new RankSimilarityClassifier({ filters: 6 }).fit(x, y);
  for (const wrong of [[], [3, 2], [2, 2], [0, features]]) {
    expect(() => withColumns(model, Uint32Array.from(wrong))).toThrow("ascending numbers of columns below 40");
  }
});
