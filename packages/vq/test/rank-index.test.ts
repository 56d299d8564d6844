import { type Backend, type Csr, Dense, loadModel, openBackend, saveModel, toCsr, toDense } from "@ranksim/core";
import { indexReader, RankIndex, type RankIndexModel, type Similarity } from "@ranksim/vq";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allSimilarities, clusters, drawer } from "./brute.ts";

const SIMILARITIES: readonly Similarity[] = ["spearman", "cosine", "euclidean"];

let backend: Backend;
beforeAll(async () => {
  backend = await openBackend("wasm");
});
afterAll(() => backend.close());

it("refuses to find more neighbours at a time than there is room for, and says how many it can", async () => {
  const x = Dense.of(
    Uint8Array.from({ length: 24_000 }, (_, e) => (e * 37) % 251),
    12_000,
    2,
  );
  const index = await new RankIndex({ lists: 1 }).fit(x, undefined, { backend });
  await expect(index.search(x, 12_000, { backend })).rejects.toMatchObject({
    code: "bad-params",
    message: expect.stringContaining("expected at most 11184 neighbours of each of 12000 rows"),
  });
});

describe.each(SIMILARITIES)("RankIndex by %s", (similarity) => {
  it.each(["bytes", "float32", "far", "sparse", "zeros"])("finds what every comparison finds, of %s", async (form) => {
    const all = clusters(form, 330, 40, 3);
    const [x, queries] = [all.slice(0, 300), all.slice(290)];
    const index = await new RankIndex({ similarity }).fit(x, undefined, { backend });
    const { rows, similarities } = await index.search(queries, 7, { backend });
    const expected = allSimilarities(x, queries, similarity);
    for (let r = 0; r < queries.rows; r++) {
      const own = similarities.subarray(r * 7, (r + 1) * 7);
      const best = [...expected[r]].sort((a, b) => b - a).slice(0, 7);
      for (const [j, value] of best.entries()) expect(own[j]).toBeCloseTo(value, form === "far" ? 3 : 9);
      for (let j = 0; j < 7; j++) expect(expected[r][rows[r * 7 + j]]).toBeCloseTo(own[j], form === "far" ? 3 : 9);
      expect(new Set(rows.subarray(r * 7, (r + 1) * 7)).size).toBe(7);
    }
  });

  it("finds a row itself first, entirely like itself", async () => {
    const x = clusters("float32", 120, 24, 8);
    const index = await new RankIndex({ similarity }).fit(x, undefined, { backend });
    const { rows, similarities } = await index.search(x, 1, { backend });
    expect([...rows]).toEqual([...rows.keys()]);
    expect(similarities.every((value) => value === (similarity === "euclidean" ? 0 : 1))).toBe(true);
  });

  it("puts equal rows in the order of their numbers, however many there are", async () => {
    const one = [3, 1, 2, 9, 4];
    const x = Dense.fromRows(Array.from({ length: 200 }, (_, r) => (r % 50 === 7 ? [1, 5, 2, 2, 8] : one)));
    const index = await new RankIndex({ similarity, lists: 6 }).fit(x, undefined, { backend });
    const { rows } = await index.search([one], 12, { backend });
    expect([...rows]).toEqual([0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12]);
    const { rows: probed } = await index.search([[1, 5, 2, 2, 8]], 4, { probes: 6, backend });
    expect([...probed]).toEqual([7, 57, 107, 157]);
  });

  it("gives the same bits for dense and sparse rows, on every back end, and with all lists", async () => {
    const x = toDense(clusters("sparse", 260, 33, 5));
    const queries = x.slice(0, 40);
    const dense = await new RankIndex({ similarity }).fit(x, undefined, { backend });
    const expected = await dense.search(queries, 9, { backend });
    const sparse = await new RankIndex({ similarity }).fit(toCsr(x), undefined, { backend });
    const options = [{ backend }, { backend: "reference" as const }, { backend, probes: dense.lists }];
    for (const index of [dense, sparse]) {
      for (const option of options) {
        for (const asked of [queries, toCsr(queries)]) expect(await index.search(asked, 9, option)).toEqual(expected);
      }
    }
  });

  it("looks in enough lists to find k rows, and finds most neighbours in a few", async () => {
    const x = clusters("bytes", 600, 32, 11);
    const index = await new RankIndex({ similarity }).fit(x, undefined, { backend });
    const exact = await index.search(x, 10, { backend });
    const few = await index.search(x, 10, { probes: 6, backend });
    let found = 0;
    for (let r = 0; r < 600; r++) {
      const near = new Set(exact.rows.subarray(r * 10, (r + 1) * 10));
      for (const row of few.rows.subarray(r * 10, (r + 1) * 10)) found += near.has(row) ? 1 : 0;
    }
    expect(found / 6000).toBeGreaterThan(0.8);
    const one = await index.search(x, 200, { probes: 1, backend });
    expect(one.similarities.every(Number.isFinite)).toBe(true);
  });

  it("is the same after a file, which is the same for the same rows", async () => {
    for (const x of [clusters("float32", 90, 12, 2), clusters("sparse", 90, 12, 2)]) {
      const index = await new RankIndex({ similarity, seed: 4 }).fit(x, undefined, { backend });
      const bytes = saveModel(index);
      const again = await new RankIndex({ similarity, seed: 4 }).fit(x, undefined, { backend: "reference" });
      const loaded = loadModel(bytes, { readers: [indexReader] }) as RankIndexModel;
      expect(await loaded.search(x, 3, { backend })).toEqual(await again.search(x, 3, { backend }));
      expect(saveModel(loaded)).toEqual(bytes);
    }
  });
});

it.each(["cosine", "euclidean"] as const)("tells rows apart by %s that sixteen bits do not", async (similarity) => {
  const draw = drawer(6);
  const values = Float64Array.from({ length: 150 * 20 }, (_, e) => 1 + (e % 20) + 1e-5 * draw());
  const x = Dense.of(values, 150, 20);
  const index = await new RankIndex({ similarity }).fit(x, undefined, { backend });
  for (const probes of ["all", index.lists] as const) {
    const { rows } = await index.search(x, 1, { probes, backend });
    expect([...rows]).toEqual([...rows.keys()]);
  }
});

describe("RankIndex", () => {
  it("takes any k, no queries, one row, rows of zeros", async () => {
    const index = await new RankIndex({ lists: 50 }).fit([[1, 2, 3]], undefined, { backend });
    expect(await index.search([[3, 2, 1]], 9, { backend })).toEqual({
      k: 1,
      rows: Uint32Array.of(0),
      similarities: Float64Array.of(-1),
    });
    expect((await index.search([], 9, { backend })).rows).toHaveLength(0);
    const silent = await new RankIndex({ similarity: "cosine" }).fit(Dense.of(new Uint8Array(400), 20, 20));
    const { rows, similarities } = await silent.search(Dense.of(new Uint8Array(20).fill(7), 1, 20), 3);
    expect([[...rows], [...similarities]]).toEqual([
      [0, 1, 2],
      [0, 0, 0],
    ]);
  });

  it("refuses, by name, what cannot be", async () => {
    const index = await new RankIndex().fit(
      [
        [1, 2, 3],
        [3, 1, 2],
      ],
      undefined,
      { backend },
    );
    await expect(index.search([[1, 2]], 1)).rejects.toThrow("the model has 3 features, the data has 2");
    await expect(index.search([[1, 2, 3]], 0)).rejects.toThrow("k");
    await expect(index.search([[1, 2, 3]], 1, { probes: 0 })).rejects.toThrow("probes");
    await expect(new RankIndex().fit([])).rejects.toThrow("at least 1 row");
    expect(() => new RankIndex({ similarity: "manhattan" as never })).toThrow('"spearman" or "cosine" or "euclidean"');
    const huge = new RankIndex({ similarity: "cosine" }).fit(
      [
        [1e200, 1],
        [1, 2],
      ],
      undefined,
      { backend },
    );
    await expect(huge).rejects.toThrow("row 0: expected 0 or a sum of squares");
  });

  it("refuses damaged files", async () => {
    const index = await new RankIndex({ lists: 3 }).fit(clusters("sparse", 12, 6, 1), undefined, { backend });
    const saved = index.save();
    const read = (changes: object) => () =>
      loadModel(saveModel({ kind: "rank-index", save: () => ({ ...saved, ...changes }) } as never), {
        readers: [indexReader],
      });
    const list = { shape: [12], values: new Uint32Array(12).fill(3) };
    expect(read({ arrays: { ...saved.arrays, list } })).toThrow("list: expected numbers below 3, found 3");
    expect(read({ steps: [] })).toThrow("expected 1 step, found 0");
    expect(read({ meta: { ...saved.meta, params: { similarity: "likeness" } } })).toThrow("similarity");
    expect(read({ meta: { ...saved.meta, features: 9 } })).toThrow("expected filters for 9 features, found 6");
    const indices = { shape: saved.arrays.indices.shape, values: new Uint32Array(saved.arrays.indices.values.length) };
    expect(read({ arrays: { ...saved.arrays, indices } })).toThrow("ascending order");
  });

  it("answers calls that overlap as it answers one, and ends one that is aborted", async () => {
    const x = clusters("bytes", 500, 30, 6);
    const index = await new RankIndex().fit(x, undefined, { backend });
    const loaded = loadModel(saveModel(index), { readers: [indexReader] }) as RankIndexModel;
    const stop = new AbortController();
    const calls = [2, 5, 5].map((k) => loaded.search(x, k, { backend }));
    const aborted = loaded.search(x, 5, { backend, signal: stop.signal, onProgress: () => stop.abort() });
    await expect(aborted).rejects.toThrow("abort");
    expect(await calls[1]).toEqual(await index.search(x, 5, { backend }));
    expect(await calls[2]).toEqual(await calls[1]);
    expect((await calls[0]).rows).toEqual((await index.search(x, 2, { backend })).rows);
  });

  it("keeps rows that are a slice of others", async () => {
    const all = clusters("sparse", 40, 10, 9) as Csr;
    const index = await new RankIndex().fit(all.slice(10, 30), undefined, { backend });
    const loaded = loadModel(saveModel(index), { readers: [indexReader] }) as RankIndexModel;
    expect([...(await loaded.search(all.slice(12, 14), 1)).rows]).toEqual([2, 3]);
  });
});
