import {
  type Csr,
  Dense,
  loadModel,
  Pipeline,
  type PredictingModel,
  RankSimilarityClassifier,
  saveModel,
} from "@ranksim/core";
import { crossValidate, suggestCandidates, tune } from "@ranksim/learn";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  bytesSource,
  CountVectorizer,
  type MatrixData,
  readData,
  Table,
  TableEncoder,
  type TableLike,
  type TableModel,
  tableReader,
} from "../../src/index.ts";
import { knotsFor, knotsOf, softBins } from "../../src/table/column-code.ts";

/** Features by name, as a person would read a coded row. */
function readable(model: TableModel, x: Csr, row: number): { [name: string]: number } {
  const names = model.featureNames;
  const found: { [name: string]: number } = {};
  for (let e = x.offsets[row]; e < x.offsets[row + 1]; e++) found[names[x.indices[e]]] = x.values[e];
  return found;
}

const code = async (records: readonly object[], later: readonly object[] = records, params = {}) => {
  const model = await new TableEncoder(params).fit(Table.fromRecords(records as { [name: string]: unknown }[]));
  const x = await model.transform(Table.fromRecords(later as { [name: string]: unknown }[]));
  return { model, x, rows: later.map((_, row) => readable(model, x, row)) };
};

describe("soft bins", () => {
  const members = (value: number, knots: number[]) => {
    const found: [number, number][] = [];
    softBins(value, Float64Array.from(knots), 10, (feature, share) => found.push([feature, share]));
    return found;
  };

  test("give a value to the two knots around it", () => {
    expect(members(1.5, [1, 2, 4])).toEqual([
      [10, 127],
      [11, 128],
    ]);
    expect(members(2, [1, 2, 4])).toEqual([[11, 255]]);
    expect(members(3.5, [1, 2, 4])).toEqual([
      [11, 64],
      [12, 191],
    ]);
    expect(members(-9, [1, 2, 4])).toEqual([[10, 255]]);
    expect(members(9, [1, 2, 4])).toEqual([[12, 255]]);
  });

  test("always add up to 255, in at most two neighbours", () => {
    const knots = fc.uniqueArray(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 2, maxLength: 20 });
    fc.assert(
      fc.property(knots, fc.double({ noNaN: true, noDefaultInfinity: true }), (list, value) => {
        const rising = [...new Set(list.map((knot) => knot + 0))].sort((a, b) => a - b);
        fc.pre(rising.length > 1);
        const found = members(value, rising);
        expect(found.reduce((sum, [, share]) => sum + share, 0)).toBe(255);
        expect(found.length).toBeLessThanOrEqual(2);
        if (found.length === 2) expect(found[1][0]).toBe(found[0][0] + 1);
      }),
    );
  });

  test("are finer with more rows, and where a table has few columns that tell something", async () => {
    expect([999, 1000].map((rows) => knotsFor(rows, 3))).toEqual([5, 9]);
    expect([999, 1000].map((rows) => knotsFor(rows, 2))).toEqual([13, 17]);
    const rows = Array.from({ length: 40 }, (_, r) => [Math.sin(r), Math.cos(r), 7, Math.sin(2 * r)]);
    expect((await new TableEncoder().fit(Dense.fromRows(rows))).features).toBe(3 * 5);
    expect((await new TableEncoder().fit(Dense.fromRows(rows.map((row) => row.slice(0, 3))))).features).toBe(2 * 13);
    const asked = await new TableEncoder({ knots: 4 }).fit(Dense.fromRows(rows.map((row) => row.slice(0, 2))));
    expect(asked.features).toBe(2 * 4);
  });

  test("have a knot for each value where values are few, and rising knots otherwise", () => {
    expect([...knotsOf(Float64Array.of(3, 1, 1, 2), 5, "midway")]).toEqual([1, 2, 3]);
    const values = Float64Array.from({ length: 101 }, (_, i) => i);
    expect([...knotsOf(values, 5, "quantile")]).toEqual([0, 25, 50, 75, 100]);
    expect([...knotsOf(values, 3, "even")]).toEqual([2, 50, 98]);
    expect([...knotsOf(values, 3, "midway")]).toEqual([1, 50, 99]);
    // Nearly all of one value: quantiles fall together, the ends remain.
    const lumpy = Float64Array.from({ length: 1000 }, (_, i) => (i < 994 ? 5 : i));
    expect([...knotsOf(lumpy, 5, "quantile")]).toEqual([5, 999]);
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }),
        fc.integer({ min: 2, max: 17 }),
        fc.constantFrom("midway" as const, "quantile" as const, "even" as const),
        (list, count, spacing) => {
          const knots = knotsOf(Float64Array.from(list), count, spacing);
          expect(knots.length).toBeLessThanOrEqual(count);
          for (let j = 1; j < knots.length; j++) expect(knots[j]).toBeGreaterThan(knots[j - 1]);
        },
      ),
    );
  });
});

describe("TableEncoder", () => {
  test("gives a number that many rows share a feature of its own, and bins to the others", async () => {
    const records = Array.from({ length: 40 }, (_, i) => ({ spent: i % 2 ? 0 : 10 + i, n: i % 3 }));
    const { rows, model } = await code(records, [
      { spent: 0, n: 1 },
      { spent: 10, n: 1 },
      { spent: 5, n: 1 },
    ]);
    expect(model.featureNames.filter((name) => name.startsWith("spent"))).toHaveLength(13 + 1);
    expect(rows[0]).toEqual({ "spent = 0": 255, "n around 1": 255 });
    expect(rows[1]).toEqual({ [model.featureNames[0]]: 255, "n around 1": 255 });
    expect(rows[2]).toEqual(rows[1]);
  });

  test("takes numbers however a column writes them, and what stands for none there as missing", async () => {
    const records = Array.from({ length: 30 }, (_, i) => ({
      price: i === 3 ? "-" : `$${1 + i},200.50`,
      share: `${i},5 %`,
      level: i % 5 === 0 ? -999 : i % 7,
      at: `${i % 24}:30`,
    }));
    const { rows } = await code(records, [
      { price: "$1,200.50", share: "0,5 %", level: -999, at: "0:30" },
      { price: 1200.5, share: "0,50", level: null, at: "12:30 AM" },
      { price: "-", share: "29,5", level: 6, at: "23:30" },
    ]);
    expect(rows[1]).toEqual(rows[0]);
    expect(rows[0]["level missing"]).toBe(255);
    const features = Object.keys(rows[2]).map((name) => name.replace(/[\d.:]+$/, "…"));
    expect(features).toEqual(["price missing", "share from …", "level from …", "at from …"]);
    const other = Table.fromRecords([{ price: "€5", share: 1, level: 1, at: "1:30" }]);
    const model = await new TableEncoder().fit(Table.fromRecords(records));
    await expect(model.transform(other)).rejects.toThrow('column "price", row 0: expected a number, found "€5"');
  });

  test("puts words of several columns of texts beside the others, also after it was stored", async () => {
    const records = Array.from({ length: 30 }, (_, i) => ({
      review: ["a good one, I like it", "bad, very bad to me", null][i % 3],
      answer: `we thank you, ${["anna", "bert"][i % 2]}`,
      stars: i % 5,
    }));
    const types = { review: "text", answer: "text" } as const;
    const { model, rows } = await code(records, records.slice(0, 3), { types });
    const weight = (row: number, name: string) => rows[row][name] ?? 0;
    expect(weight(0, "review: good")).toBeGreaterThan(0);
    expect(weight(1, "review: good")).toBe(0);
    expect(weight(2, "review missing")).toBe(255);
    expect(weight(1, "answer: bert")).toBeGreaterThan(weight(1, "answer: thank"));
    expect(rows.map((row) => row["stars around 1"] ?? 0)).toEqual([0, 255, 0]);
    // Words have the length that a number has: 255.
    const length = Object.entries(rows[1]).reduce((sum, [name, v]) => sum + (name.startsWith("review") ? v * v : 0), 0);
    expect(Math.sqrt(length)).toBeCloseTo(255, 9);
    const loaded = loadModel(saveModel(model), { readers: [tableReader] }) as TableModel;
    const again = await loaded.transform(Table.fromRecords(records));
    expect(again.values).toEqual((await model.transform(Table.fromRecords(records))).values);
    expect(loaded.featureNames).toEqual(model.featureNames);
    const pairs = new CountVectorizer({ ngramRange: [2, 2] });
    const asked = await code(records, records, { types, vectorizer: pairs });
    expect(asked.model.featureNames).toContain("review: very bad");
  });

  test("gives each word a feature, and rare words one together", async () => {
    const words = ["red", "red", "green", "green", "odd", "blue", "blue"];
    const { rows, model } = await code(
      words.map((colour, i) => ({ colour, n: i % 2 })),
      [
        { colour: "red", n: 0 },
        { colour: "odd", n: 0 },
        { colour: "never seen", n: 1 },
        { colour: null, n: 1 },
      ],
    );
    expect(model.featureNames).toEqual([
      "colour = blue",
      "colour = green",
      "colour = red",
      "colour = other",
      "n up to 0",
      "n from 1",
    ]);
    expect(rows).toEqual([
      { "colour = red": 255, "n up to 0": 255 },
      { "colour = other": 255, "n up to 0": 255 },
      { "colour = other": 255, "n from 1": 255 },
      { "n from 1": 255 },
    ]);
  });

  test("keeps the most frequent categories, of equals the first in the alphabet", async () => {
    const words = [..."bbbccaadd"];
    const { model } = await code(
      words.map((w, i) => ({ w, n: i })),
      undefined,
      { categories: 2, types: { n: "number" } },
    );
    expect(model.featureNames.slice(0, 3)).toEqual(["w = a", "w = b", "w = other"]);
  });

  test("makes a missing value zero, and a feature of its own where training rows had some", async () => {
    const records = [
      { a: 1, b: 1 },
      { a: null, b: 2 },
      { a: 3, b: 3 },
      { a: 4, b: 4 },
    ];
    const { rows } = await code(records, [{ a: null, b: null }]);
    expect(rows).toEqual([{ "a missing": 255 }]);
  });

  test("takes dates apart, by the clock that is written", async () => {
    const records = Array.from({ length: 40 }, (_, i) => ({
      when: new Date(Date.UTC(2024, 0, 1 + i * 9)).toISOString(),
    }));
    const { rows } = await code(records, [{ when: "2024-01-01T00:00:00Z" }, { when: "2030-12-31T00:00:00Z" }]);
    expect(Object.keys(rows[0])).toEqual(
      expect.arrayContaining([
        "when up to 2024-01-04",
        "when: month 1",
        "when: Monday",
        "when: day of the month up to 1.39",
      ]),
    );
    expect(Object.keys(rows[1])).toEqual(expect.arrayContaining(["when: month 12", "when: Tuesday"]));
    expect(Object.keys(rows[1])[0]).toMatch(/^when from 2024-1/);
  });

  test("refuses categories that were rounded when they were read", async () => {
    const csv = (id: string) =>
      `id,n,label\n${Array.from({ length: 8 }, (_, r) => `${id}${r % 2},${r},${"ab"[r % 2]}\n`).join("")}`;
    const fit = async (id: string) => {
      const data = await readData(bytesSource(Buffer.from(csv(id)), "ids.csv"), { table: true });
      const table = data.form === "table" ? data.table : (data as MatrixData);
      const rows = table instanceof Table ? table : Table.fromMatrix(table.x, table.featureNames);
      return new TableEncoder({ types: { id: "category" } }).fit(rows);
    };
    await expect(fit("123456789012345678")).rejects.toMatchObject({
      code: "bad-matrix",
      message: expect.stringMatching(/column "id".*told apart.*beyond 2\^53.*a letter before/),
    });
    expect((await fit("a123456789012345678")).featureNames.slice(0, 2)).toEqual([
      "id = a1234567890123456780",
      "id = a1234567890123456781",
    ]);
    expect((await fit("12345")).featureNames.slice(0, 2)).toEqual(["id = 123450", "id = 123451"]);
    const texts = (id: unknown) =>
      ["9007199254740992", "9007199254740993", id].flatMap((one) => [{ id: one }, { id: one }]);
    const encoder = new TableEncoder({ types: { id: "category" } });
    const model = await encoder.fit(texts("01"));
    expect(model.featureNames).toEqual(["id = 01", "id = 9007199254740992", "id = 9007199254740993"]);
    const rounded = { code: "bad-matrix", message: expect.stringMatching(/column "id", row \d.*write it as a string/) };
    await expect(encoder.fit(texts(2 ** 53))).rejects.toMatchObject(rounded);
    await expect(model.transform([{ id: 2 ** 53 }])).rejects.toMatchObject(rounded);
  });

  test("reads booleans in any of their spellings", async () => {
    const { rows } = await code(
      [
        { b: "yes", n: 1 },
        { b: "no", n: 2 },
        { b: "Yes", n: 3 },
      ],
      [
        { b: "TRUE", n: 1 },
        { b: false, n: 1 },
        { b: 1, n: 1 },
      ],
    );
    expect(rows.map((row) => Object.keys(row)[0])).toEqual(["b = true", "b = false", "b = true"]);
    await expect(
      code(
        [
          { b: "yes", n: 1 },
          { b: "no", n: 2 },
        ],
        [{ b: "maybe", n: 1 }],
      ),
    ).rejects.toThrow(/column "b", row 0: expected a boolean, found "maybe"/);
  });

  test("learns nothing from the rows it codes: block by block is the same as all at once", async () => {
    const table = Table.fromRecords(
      Array.from({ length: 60 }, (_, i) => ({ a: i % 11, b: ["x", "y", "z"][i % 3], c: i % 5 === 0 ? null : i / 7 })),
    );
    const model = await new TableEncoder().fit(table);
    const whole = await model.transform(table);
    for (const size of [1, 7, 60]) {
      for (let from = 0; from < 60; from += size) {
        const part = await model.transform(table.slice(from, from + size));
        expect(part).toEqual(whole.gather(Array.from({ length: part.rows }, (_, r) => from + r)));
      }
    }
  });

  test("finds columns by name, refuses those that lack, and takes matrices by position", async () => {
    const model = await new TableEncoder().fit(
      Table.fromRecords([
        { a: 1, b: 9 },
        { a: 2, b: 5 },
        { a: 3, b: 7 },
      ]),
    );
    const turned = await model.transform(Table.fromRecords([{ z: 0, b: 9, a: 1 }]));
    expect(turned).toEqual(await model.transform(Dense.fromRows([[1, 9]])));
    await expect(model.transform(Table.fromRecords([{ a: 1 }]))).rejects.toMatchObject({ code: "wrong-width" });
    await expect(model.transform(Dense.fromRows([[1, 2, 3]]))).rejects.toMatchObject({ code: "wrong-width" });
  });

  test("comes back from a file as it was", async () => {
    const records = Array.from({ length: 30 }, (_, i) => ({
      n: i % 7,
      w: ["red", "gr\u00fcn", "\ud83d\udc1d"][i % 3],
      same: ["red", "x"][i % 2],
      d: `${1 + (i % 28)}.3.2024`,
      b: i % 2 === 0,
      gap: i % 4 ? i / 3 : null,
    }));
    const { model, x } = await code(records);
    const bytes = saveModel(model);
    const loaded = loadModel(bytes, { readers: [tableReader] }) as TableModel;
    expect(saveModel(loaded)).toEqual(bytes);
    expect(loaded.featureNames).toEqual(model.featureNames);
    expect(await loaded.transform(Table.fromRecords(records))).toEqual(x);
  });

  test("is refused from a file that no encoder has written", async () => {
    const { model } = await code([
      { a: 1, b: "x" },
      { a: 2, b: "y" },
      { a: 3, b: "x" },
      { a: 4, b: "y" },
    ]);
    const saved = model.save();
    const columns = saved.meta.columns as { [name: string]: unknown }[];
    const knots = saved.arrays.knots.values as Float64Array;
    const wrong = [
      { ...saved, meta: { ...saved.meta, columns: [] } },
      { ...saved, meta: { ...saved.meta, columns: [columns[0], { ...columns[1], name: "a" }] } },
      { ...saved, meta: { ...saved.meta, columns: [columns[0], { ...columns[1], type: "colour" }] } },
      { ...saved, meta: { ...saved.meta, columns: [columns[0], { ...columns[1], words: 7 }] } },
      { ...saved, meta: { ...saved.meta, columns: [columns[0], { ...columns[1], more: 1 }] } },
      { ...saved, meta: { ...saved.meta, params: { knots: 1 } } },
      { ...saved, arrays: { ...saved.arrays, knots: { shape: [4], values: knots.toReversed() } } },
      { ...saved, arrays: { ...saved.arrays, extra: saved.arrays.knots } },
    ];
    for (const other of wrong) {
      const bytes = saveModel({ kind: "table-encoder", save: () => other as ReturnType<typeof model.save> });
      expect(() => loadModel(bytes, { readers: [tableReader] })).toThrow(expect.objectContaining({ code: "bad-file" }));
    }
  });

  test.each([{ knots: 1 }, { knots: 2.5 }, { spacing: "odd" }, { categories: 0 }, { bins: 3 }, { types: 5 }])(
    "refuses parameters it cannot use: %j",
    (params) => {
      expect(() => new TableEncoder(params as object)).toThrow(expect.objectContaining({ code: "bad-params" }));
    },
  );

  test("refuses a table that tells nothing, and stops when told to", async () => {
    const table = Table.fromRecords([{ a: 1 }, { a: 1 }]);
    await expect(new TableEncoder().fit(table)).rejects.toMatchObject({ code: "bad-matrix" });
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(new TableEncoder().fit(table, undefined, { signal })).rejects.toThrow("enough");
  });

  test("is a step of pipelines that are validated, tuned, saved and loaded", async () => {
    const table = Table.fromRecords(
      Array.from({ length: 90 }, (_, i) => ({
        size: (i % 3) * 10 + (i % 7),
        kind: ["a", "b", "c"][i % 3],
        when: null as string | null,
        noise: i % 13,
      })),
    );
    const y = Array.from({ length: 90 }, (_, i) => ["low", "middle", "high"][i % 3]);
    type Judged = PredictingModel<TableLike>;
    const pipeline = new Pipeline([
      new TableEncoder(),
      new RankSimilarityClassifier({ filters: 9 }),
    ]) as unknown as Parameters<typeof crossValidate<Table, PredictingModel<Table>>>[0];
    expect((await crossValidate(pipeline, table, y, { folds: 3 })).mean).toBe(1);
    const candidates = suggestCandidates(pipeline, table, y, ["classifier.distribution"]);
    expect(new Set(candidates.map(({ params }) => params["table-encoder.knots"]))).toEqual(new Set(["auto", 9, 17]));
    const best = await tune(candidates.slice(0, 4), table, y, { folds: 3 });
    const model = (await best.best.estimator.fit(table, y)) as unknown as Judged;
    const loaded = loadModel(saveModel(model), { readers: [tableReader] }) as unknown as Judged;
    expect(await loaded.predict(table)).toEqual(await model.predict(table));
  });
});
