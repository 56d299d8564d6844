import {
  type Backend,
  Blend,
  Dense,
  LinearClassifier,
  loadModel,
  type Matrix,
  type Model,
  openBackend,
  Pipeline,
  RankSimilarityClassifier,
  RankSimilarityTransform,
  StandardScaler,
  saveModel,
  schemaOf,
  withSchema,
} from "@ranksim/core";
import { indexReader, type KeptRowsModel, keepRows, keptRowsReader, RankIndex } from "@ranksim/vq";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusters } from "./brute.ts";

let backend: Backend;
beforeAll(async () => {
  backend = await openBackend("wasm");
});
afterAll(() => backend.close());

const readers = [indexReader, keptRowsReader];
const load = (bytes: Uint8Array) => loadModel(bytes, { readers }) as KeptRowsModel;
const all = clusters("float32", 120, 10, 4);
const [x, queries] = [all.slice(0, 90) as Matrix, all.slice(90) as Matrix];
const y = Array.from({ length: 90 }, (_, r) => (r % 3 === 0 ? "b" : r % 3));

const classifier = () => new RankSimilarityClassifier({ filters: 9, seed: 1 });
const scaled = () =>
  new Pipeline([
    ["scale", new StandardScaler()],
    ["head", new LinearClassifier()],
  ]);

/** Models, and the rows that each compares. */
const MODELS: readonly (readonly [name: string, fit: () => Promise<Model>, scales: boolean])[] = [
  ["a classifier", () => classifier().fit(x, y, { backend }), false],
  ["a transform", () => new RankSimilarityTransform({ filters: 9 }).fit(x, undefined, { backend }), false],
  ["a pipeline of planes", () => scaled().fit(x, y, { backend }), true],
  [
    "a pipeline of filters",
    () =>
      new Pipeline([
        ["scale", new StandardScaler()],
        ["filters", classifier()],
      ]).fit(x, y, { backend }),
    true,
  ],
  ["a blend, by the part that counts most", () => new Blend([["one", scaled() as never]]).fit(x, y, { backend }), true],
];

describe.each(MODELS)("%s that keeps rows", (_, fit, scales) => {
  it("finds those most like others as it compares them, with their labels, before and after a file", async () => {
    const model = await fit();
    const scaler = await new StandardScaler().fit(x, undefined, { backend });
    const seen = async (rows: Matrix) => (scales ? scaler.transform(rows, { backend }) : rows);
    const index = await new RankIndex({ similarity: "cosine" }).fit(await seen(x), undefined, { backend });
    const expected = await index.search(await seen(queries), 4, { backend });
    const kept = await keepRows(model, x, y, { similarity: "cosine", backend });
    const bytes = saveModel(kept);
    for (const one of [kept, load(bytes)]) {
      const { rows, similarities, labels } = await one.nearest(queries, 4, { backend });
      expect({ rows, similarities }).toEqual({ rows: expected.rows, similarities: expected.similarities });
      expect(labels).toEqual(Array.from(rows, (row) => y[row]));
      expect(saveModel(one)).toEqual(bytes);
      expect(saveModel(one.model)).toEqual(saveModel(model));
    }
  });
});

describe("rows that are kept", () => {
  const fit = () => classifier().fit(x, y, { backend });

  it("may be without labels, and are where rows have several", async () => {
    const model = await fit();
    const sets = Array.from({ length: 90 }, (_, r) => (r % 2 ? ["a", "b"] : []));
    for (const labels of [undefined, sets]) {
      const kept = await keepRows(model, x, labels, { backend });
      expect(await load(saveModel(kept)).nearest(queries, 2, { backend })).not.toHaveProperty("labels");
    }
  });

  it("have one map, on which new rows lie where they lay before, whoever asks first", async () => {
    const kept = await keepRows(await fit(), x, y, { similarity: "euclidean", backend });
    const [one, two] = await Promise.all([kept.map(queries, { backend }), kept.map(queries, { backend })]);
    const again = await load(saveModel(kept)).map(queries, { backend });
    expect([one.rows, one.features]).toEqual([30, 2]);
    expect(two).toEqual(one);
    expect(again).toEqual(one);
  });

  it("leave the model its schema", async () => {
    const model = withSchema(await fit(), { form: "numbers", width: 10 });
    const kept = await keepRows(model, x, y, { backend });
    expect(schemaOf(load(saveModel(kept)))).toEqual({ form: "numbers", width: 10 });
  });

  it("are all there is when more are asked for, and none for no row", async () => {
    const kept = await keepRows(await fit(), x, y, { backend });
    const { k, rows } = await kept.nearest(queries.slice(0, 1) as Matrix, 1000, { backend });
    expect([k, new Set(rows).size]).toEqual([90, 90]);
    const none = await kept.nearest(queries.slice(0, 0) as Matrix, 5, { backend });
    expect([none.rows.length, none.labels]).toEqual([0, []]);
  });

  it("refuse what cannot be asked, by name", async () => {
    const kept = await keepRows(await fit(), x, y, { backend });
    const refused = async (call: () => Promise<unknown>, code: string, words: string) => {
      await expect(call()).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
    };
    await refused(() => kept.nearest(Dense.fromRows([[1, 2]]), 3), "wrong-width", "10");
    await refused(() => kept.nearest([[1, 2, 3, 4, Number.NaN, 6, 7, 8, 9, 10]] as never, 3), "bad-matrix", "NaN");
    await refused(() => kept.nearest(queries, 0), "bad-params", "k");
    await refused(() => kept.nearest(queries, 1.5), "bad-params", "k");
    await refused(() => kept.nearest(queries, 2, { probes: -1 }), "bad-params", "probes");
    await refused(() => keepRows(kept, x, y), "unsupported", "keeps rows already");
    await refused(() => keepRows(kept.model, x, y.slice(1)), "bad-labels", "90");
    await refused(() => keepRows(kept.model, queries.slice(0, 0) as Matrix), "empty-input", "row");
  });

  it("can be searched again after a search that was aborted", async () => {
    const kept = await keepRows(await fit(), x, y, { backend });
    const expected = await kept.nearest(queries, 3, { backend });
    const signal = AbortSignal.abort(new Error("enough"));
    const calls = [kept.nearest(queries, 3, { backend, signal }), kept.map(queries, { backend, signal })];
    for (const call of await Promise.allSettled(calls)) expect(call.status).toBe("rejected");
    expect(await kept.nearest(queries, 3, { backend })).toEqual(expected);
    expect((await kept.map(queries, { backend })).rows).toBe(30);
  });

  it("are refused from files that no such model can have", async () => {
    const saved = (await keepRows(await fit(), x, y, { backend })).save();
    const [model, index] = saved.steps ?? [];
    const label = saved.arrays.label.values as Uint32Array;
    const wrong = [
      { ...saved, steps: [model] },
      { ...saved, steps: [index, model] },
      { ...saved, steps: [saved, index] },
      { ...saved, meta: { classes: ["b"] } },
      { ...saved, meta: {} },
      { ...saved, arrays: { label: { shape: [89], values: label.subarray(1) } } },
      { ...saved, arrays: {} },
      { ...saved, arrays: { ...saved.arrays, more: saved.arrays.label } },
    ];
    for (const each of wrong) {
      const bytes = saveModel({ kind: saved.kind, save: () => each });
      expect(() => load(bytes)).toThrow(expect.objectContaining({ code: "bad-file" }));
    }
  });
});
