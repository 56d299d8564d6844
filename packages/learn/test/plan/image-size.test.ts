/** The size of photographs is chosen by what tells their classes apart. */

import { type PredictingModel, schemaOf } from "@ranksim/core";
import { type Folder, type MatrixData, readData } from "@ranksim/data";
import { chooseImageSize, train } from "@ranksim/learn";
import { encode } from "fast-png";
import { describe, expect, it } from "vitest";

const SIDE = 96;
const SIZES = [24, 48];

/** Grey pictures of two classes, as PNG files. */
function photos(count: number, brightness: (isB: boolean, picture: number, x: number, y: number) => number): Folder {
  return {
    name: "photos",
    async *entries() {
      for (let j = 0; j < count; j++) {
        const isB = j % 2 === 1;
        const data = Uint8Array.from({ length: SIDE * SIDE }, (_, p) => {
          const noise = (p * 7919 + j * 104729) % 23;
          return 20 + noise + brightness(isB, j, p % SIDE, Math.floor(p / SIDE));
        });
        const bytes = encode({ width: SIDE, height: SIDE, channels: 1, depth: 8, data });
        yield { path: `${isB ? "b" : "a"}/${j}.png`, bytes: async () => bytes };
      }
    },
  };
}

/** Stripes, upright or lying, that are the same grey everywhere once four pixels become one. */
const fine = photos(40, (isB, j, x, y) => (((isB ? x : y) + 2 * (j % 3)) % 4 < 2 ? 0 : 120));
/** One side is bright. */
const coarse = photos(40, (isB, j, x, y) => ((isB ? x : y) > SIDE / 2 + (j % 5) ? 120 : 0));

const read = async (folder: Folder, options = {}) => (await readData(folder, options)) as MatrixData;

describe("the size of images", () => {
  it("is the one with which held-out images are told apart", async () => {
    const data = await read(fine, { sizes: SIZES });
    const chosen = await chooseImageSize(data, { seed: 3 });
    expect(chosen?.imageSize).toEqual({ width: 48, height: 48 });
    const [less, more] = chosen?.compared ?? [];
    expect(less.accuracy).toBeLessThan(0.8);
    expect(more.accuracy).toBeGreaterThan(0.95);
    expect(await chooseImageSize(data, { seed: 3 })).toEqual(chosen);
  });

  it("is the smaller of equals", async () => {
    const chosen = await chooseImageSize(await read(coarse, { sizes: SIZES }));
    expect(chosen?.imageSize).toEqual({ width: 24, height: 24 });
    expect(chosen?.compared?.map(({ accuracy }) => accuracy)).toEqual([1, 1]);
  });

  it("is the usual one where there is nothing to compare by, and none where images are small", async () => {
    const { y: _, ...bare } = await read(coarse, { sizes: [8, 16, 32, 48] });
    expect(await chooseImageSize(bare)).toEqual({ imageSize: { width: 32, height: 32 } });
    expect(await chooseImageSize(await read(coarse))).toBeUndefined();
  });

  it("has room for windows, however narrow images are", async () => {
    const crop = (height: number): Folder => ({
      name: "strips",
      async *entries() {
        for (let j = 0; j < 40; j++) {
          const data = Uint8Array.from({ length: 160 * height }, (_, p) => (p % 160 > 80 === j % 2 > 0 ? 200 : 20));
          const bytes = encode({ width: 160, height, channels: 1, depth: 8, data });
          yield { path: `${j % 2 > 0 ? "b" : "a"}/${j}.png`, bytes: async () => bytes };
        }
      },
    });
    const strips = await chooseImageSize(await read(crop(40), { sizes: [16, 24, 48] }));
    expect(strips?.compared?.map(({ imageSize }) => imageSize.height)).toEqual([6, 12]);
    const lines = await read(crop(12), { sizes: [16, 24, 48] });
    expect(await chooseImageSize(lines)).toEqual({ imageSize: { width: 48, height: 4 } });
    expect((await train(lines, { preset: "fast" })).recipe.kind).toBe("numbers");
  });

  it("is remembered by the model, so that further images are read alike", async () => {
    const params = { refineEpochs: 1 };
    const { model, recipe } = await train(await read(coarse, { sizes: SIZES }), { preset: "fast", params });
    expect(recipe.about).toMatch(/^fast, for 40 images of 24 x 24/);
    const schema = schemaOf(model);
    expect(schema?.reading?.resize).toEqual({ width: 24, height: 24 });
    const more = await read(coarse, { schema });
    expect(await (model as PredictingModel<unknown>).predict(more.x)).toEqual(more.y);
  });
});
