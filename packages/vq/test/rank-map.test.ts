import { type Backend, Dense, loadModel, openBackend, saveModel, toCsr } from "@ranksim/core";
import { indexReader, mapReader, RankMap, type RankMapModel } from "@ranksim/vq";
import { afterAll, beforeAll, expect, it } from "vitest";
import { clusters } from "./brute.ts";

const readers = [indexReader, mapReader];

let backend: Backend;
beforeAll(async () => {
  backend = await openBackend("wasm");
});
afterAll(() => backend.close());

/** The share of the nearest other places that are of the same one of five clusters: rows of them come in turn. */
function sameCluster(places: Dense): number {
  let same = 0;
  for (let r = 0; r < places.rows; r++) {
    const [x, y] = places.row(r);
    let [nearest, best] = [Number.POSITIVE_INFINITY, -1];
    for (let s = 0; s < places.rows; s++) {
      const [a, b] = places.row(s);
      const distance = (a - x) ** 2 + (b - y) ** 2;
      if (s === r || distance >= nearest) continue;
      [nearest, best] = [distance, s];
    }
    if (best % 5 === r % 5) same++;
  }
  return same / places.rows;
}

it.each(["bytes", "float32", "sparse"])("lays rows of one cluster together, of %s", async (form) => {
  const x = clusters(form, 300, 50, 21);
  const map = await new RankMap({ similarity: "cosine" }).fit(x, undefined, { backend });
  const places = await map.transform(x, { backend });
  expect([places.rows, places.features]).toEqual([300, 2]);
  expect(sameCluster(places)).toBeGreaterThan(0.95);
});

it("maps new rows, one or many, as those it was fitted on, and far from rows of other clusters", async () => {
  const x = clusters("bytes", 400, 30, 5);
  const map = await new RankMap().fit(x.slice(0, 300), undefined, { backend });
  const [known, added] = [
    await map.transform(x.slice(0, 300), { backend }),
    await map.transform(x.slice(300), { backend }),
  ];
  const joined = Dense.of(Float64Array.of(...known.values, ...added.values), 400, 2);
  expect(sameCluster(joined)).toBeGreaterThan(0.9);
  const one = await map.transform(x.slice(320, 321), { backend });
  expect([...one.values]).toEqual([...added.row(20)]);
});

it("has the same bytes for the same seed on every back end, others for another, and answers alike after a file", async () => {
  const x = clusters("float32", 120, 16, 2);
  const map = await new RankMap({ seed: 3 }).fit(x, undefined, { backend });
  const bytes = saveModel(map);
  expect(saveModel(await new RankMap({ seed: 3 }).fit(x, undefined, { backend: "reference" }))).toEqual(bytes);
  expect(saveModel(await new RankMap({ seed: 4 }).fit(x, undefined, { backend }))).not.toEqual(bytes);
  const loaded = loadModel(bytes, { readers }) as RankMapModel;
  expect(saveModel(loaded)).toEqual(bytes);
  expect(await loaded.transform(x, { backend })).toEqual(await map.transform(x, { backend }));
});

it("takes one row, two, and rows that are all the same", async () => {
  for (const rows of [1, 2, 40]) {
    const x = Dense.of(new Uint8Array(rows * 4).fill(3), rows, 4);
    const map = await new RankMap().fit(x, undefined, { backend });
    const places = await map.transform(x, { backend });
    expect(places.values.every(Number.isFinite)).toBe(true);
    expect(new Set(Array.from({ length: rows }, (_, r) => String(places.row(r)))).size).toBe(1);
    expect((await map.transform(toCsr(x.slice(0, 0)), { backend })).rows).toBe(0);
  }
});

it("is stopped by its signal, and refuses damaged files and rows of another width", async () => {
  const x = clusters("bytes", 60, 8, 4);
  const stop = new AbortController();
  const onProgress = ({ share }: { share: number }) => {
    if (share > 0.8) stop.abort();
  };
  await expect(new RankMap().fit(x, undefined, { backend, signal: stop.signal, onProgress })).rejects.toThrow("abort");
  const map = await new RankMap().fit(x, undefined, { backend });
  await expect(map.transform([[1, 2]])).rejects.toThrow("the model has 8 features, the data has 2");
  const saved = map.save();
  const read = (changes: object) => () =>
    loadModel(saveModel({ kind: "rank-map", save: () => ({ ...saved, ...changes }) } as never), { readers });
  expect(read({ arrays: { places: { shape: [1, 2], values: new Float64Array(2) } } })).toThrow("places");
  expect(read({ steps: saved.steps?.[0].steps })).toThrow("expected an index, found a transform");
});
