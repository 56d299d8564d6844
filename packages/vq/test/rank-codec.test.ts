import { type Backend, Dense, loadModel, openBackend, saveModel } from "@ranksim/core";
import { codecReader, RankCodec, type RankCodecModel } from "@ranksim/vq";
import { afterAll, beforeAll, expect, it } from "vitest";
import { clusters, drawer } from "./brute.ts";

let backend: Backend;
beforeAll(async () => {
  backend = await openBackend("wasm");
});
afterAll(() => backend.close());

/** Images of 12 x 8 with edges: half of each is bright. */
function images(rows: number, seed: number): Dense {
  const draw = drawer(seed);
  const values = new Uint8Array(rows * 96);
  for (let r = 0; r < rows; r++) {
    const [edge, bright, slope] = [draw() * 12, 100 + draw() * 155, draw() * 2 - 1];
    for (let i = 0; i < 96; i++)
      values[r * 96 + i] = (i % 12) + slope * Math.floor(i / 12) > edge ? bright : draw() * 30;
  }
  return Dense.of(values, rows, 96);
}

const meanSquare = (a: Dense, b: Dense) =>
  Array.from(a.values, (value, e) => (value - b.values[e]) ** 2).reduce((sum, square) => sum + square) /
  a.values.length;

it.each([0, 12])(
  "loses less with every stage, on rows it has not seen, cut into windows of images %s wide",
  async (width) => {
    const all = images(260, 5);
    const [x, fresh] = [all.slice(0, 200), all.slice(200)];
    const errors: number[] = [];
    for (const stages of [1, 2, 4]) {
      const codec = await new RankCodec({ width, window: 4, filters: 32, stages }).fit(x, undefined, { backend });
      const codes = await codec.encode(fresh, { backend });
      expect(codes.features).toBe(Math.ceil(codec.bitsPerRow / 8));
      expect(codec.bitsPerRow).toBe((width === 0 ? 1 : 6) * (5 + stages * (5 + 3)));
      errors.push(meanSquare(codec.decode(codes), fresh));
    }
    const spread = meanSquare(fresh, Dense.of(new Uint8Array(fresh.values.length).fill(110), fresh.rows, 96));
    expect(errors[0]).toBeLessThan(spread / 3);
    expect(errors[1]).toBeLessThan(errors[0]);
    expect(errors[2]).toBeLessThan(errors[1]);
  },
);

it("gives back rows of one value within half a step of means, and nothing else", async () => {
  const x = Dense.of(
    Uint8Array.from({ length: 40 * 16 }, (_, e) => 6 * Math.floor(e / 16)),
    40,
    16,
  );
  for (const meanBits of [8, 5]) {
    const codec = await new RankCodec({ meanBits }).fit(x, undefined, { backend });
    const again = codec.decode(await codec.encode(x, { backend }));
    const most = Math.max(...Array.from(again.values, (value, e) => Math.abs(value - x.values[e])));
    expect(most).toBeLessThanOrEqual(meanBits === 8 ? 0 : 4);
  }
});

it("has the same bytes on every back end, before and after a file", async () => {
  const x = clusters("bytes", 120, 36, 4) as Dense;
  const recipe = new RankCodec({ width: 6, window: 3, filters: 20, stages: 2, seed: 9 });
  const codec = await recipe.fit(x, undefined, { backend });
  const bytes = saveModel(codec);
  expect(saveModel(await recipe.fit(x, undefined, { backend: "reference" }))).toEqual(bytes);
  const loaded = loadModel(bytes, { readers: [codecReader] }) as RankCodecModel;
  const codes = await codec.encode(x, { backend });
  expect(await loaded.encode(x, { backend: "reference" })).toEqual(codes);
  expect(loaded.decode(codes)).toEqual(codec.decode(codes));
  expect((await codec.encode([], { backend })).rows).toBe(0);
});

it("refuses rows that are no bytes, windows that do not fit, codes of others and damaged files", async () => {
  await expect(
    new RankCodec().fit([
      [1, 2.5],
      [1, 2],
    ]),
  ).rejects.toThrow("row 0, column 1: expected whole numbers from 0 to 255");
  await expect(new RankCodec({ width: 6, window: 4 }).fit(images(3, 1))).rejects.toThrow("window: expected a side");
  const codec = await new RankCodec({ filters: 5 }).fit(images(30, 2), undefined, { backend });
  expect(() => codec.decode([[255, 255]])).toThrow("row 0: expected shapes below 5, found 7");
  expect(() => codec.decode([[1]])).toThrow("the model has 2 features, the data has 1");
  const saved = codec.save();
  const read = (changes: object) => () =>
    loadModel(saveModel({ kind: "rank-codec", save: () => ({ ...saved, ...changes }) } as never), {
      readers: [codecReader],
    });
  expect(read({ arrays: { ...saved.arrays, stage0_levels: { shape: [1], values: new Uint32Array(1) } } })).toThrow(
    "levels",
  );
  expect(read({ meta: { ...saved.meta, features: 1 } })).toThrow("features");
});
