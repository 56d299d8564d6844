/** The patch transform with `bytes`: how limits are chosen, what becomes of the sums, and the same model everywhere. */

import {
  Dense,
  loadModel,
  type PatchModel,
  PatchTransform,
  Pipeline,
  RankSimilarityClassifier,
  RanksimError,
  type RowSource,
  saveModel,
  toCsr,
} from "@ranksim/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { gpuPlatforms, gpuRefusal } from "../../../gpu/test/gpu.ts";
import { byteOf, poolLayers } from "../../src/kernels/patches.ts";
import type { PatchLayer } from "../../src/kernels/shapes.ts";
import { decodeSaved } from "../../src/model-file/container/decode.ts";
import { encodeSaved } from "../../src/model-file/container/encode.ts";
import type { Json } from "../../src/model-file/saved.ts";
import { limitOf } from "../../src/models/patch-limits.ts";
import { drawBelow, generatorOf } from "../../src/random.ts";
import { readRows } from "../backends/read-rows.ts";
import { platforms } from "../platforms.ts";
import { SIDE, strokes } from "./strokes.ts";

const small = { patch: 3, filters: 16, nBest: 4, grid: 2, bytes: true } as const;
const layered = { ...small, patch: [3, 4], filters: [16, 12] } as const;
const train = strokes(120, 1);
const everywhere = gpuRefusal ? platforms : [...platforms, ...gpuPlatforms];

const sumsOnly = (layers: readonly PatchLayer[]): PatchLayer[] =>
  layers.map(({ bank, windows }) => ({ bank, windows: { ...windows, limit: 0 } }));

/** The limits as they are defined: of all sums above zero in order, the one that 99.9 % of them do not exceed. */
function statedLimits(images: Dense, layers: readonly PatchLayer[]): number[] {
  return sumsOnly(layers).map((layer) => {
    const sums = Array.from(poolLayers(images, [layer])).filter((sum) => sum > 0);
    sums.sort((a, b) => a - b);
    return sums.length === 0 ? 255 : sums[Math.ceil((sums.length * 999) / 1000) - 1];
  });
}

const limitsIn = ({ layers }: PatchModel): number[] => layers.map(({ windows }) => windows.limit);

describe("limits", () => {
  it("are the least sum that 99.9 % of the sums above zero do not exceed", () => {
    const found = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 3000 })), {
      minLength: 2,
      maxLength: 40,
    });
    fc.assert(
      fc.property(found, (counts) => {
        const limit = limitOf(Float64Array.from(counts));
        const all = counts.slice(1).reduce((sum, count) => sum + BigInt(count), 0n);
        const upTo = (sum: number) => counts.slice(1, sum + 1).reduce((total, count) => total + BigInt(count), 0n);
        if (all === 0n) expect(limit).toBe(255);
        else {
          expect(upTo(limit) * 1000n >= all * 999n).toBe(true);
          expect(upTo(limit - 1) * 1000n >= all * 999n).toBe(false);
        }
      }),
    );
    // 999 of 1,000 are 1, which is enough; 998 of 999 are not.
    expect(limitOf(Float64Array.of(5, 999, 0, 1))).toBe(1);
    expect(limitOf(Float64Array.of(5, 998, 0, 1))).toBe(3);
  });

  it("are those of the sums of all images where there are few, one for each layer", async () => {
    const model = await new PatchTransform(layered).fit(train.x);
    expect(limitsIn(model)).toEqual(statedLimits(train.x, model.layers));
    expect(new Set(limitsIn(model)).size).toBe(2);
  });

  it("are those of 2,048 images, evenly spaced, where there are more", async () => {
    // Images are the busier the later they come, and the first ones are blank: which are looked at makes a difference.
    const random = generatorOf(3);
    const rows = 5000;
    const values = Uint8Array.from({ length: rows * 36 }, (_, i) =>
      drawBelow(random, rows) < Math.floor(i / 36) - 500 ? drawBelow(random, 256) : 0,
    );
    const x = Dense.of(values, rows, 36);
    const model = await new PatchTransform({ ...small, patch: 2, filters: 8, sample: 500, iterations: 1 }).fit(x);
    const listed = Uint32Array.from({ length: 2048 }, (_, i) => Math.floor((i * rows) / 2048));
    expect(limitsIn(model)).toEqual(statedLimits(x.gather(listed), model.layers));
  });

  it("are 255 where all images are blank", async () => {
    const blank = Dense.of(new Uint8Array(10 * SIDE * SIDE).fill(7), 10, SIDE * SIDE);
    const model = await new PatchTransform(small).fit(blank);
    expect(limitsIn(model)).toEqual([255]);
    expect((await model.transform(blank)).values.every((value) => value === 0)).toBe(true);
  });
});

describe("pooled sums as bytes", () => {
  it("are the bytes of the sums, some of which exceed the limit", async () => {
    const model = await new PatchTransform({ ...small, filters: 15 }).fit(train.x);
    const [limit] = limitsIn(model);
    const sums = poolLayers(train.x, sumsOnly(model.layers));
    expect(sums.some((sum) => sum > limit)).toBe(true);
    const pooled = await model.transform(train.x);
    expect(pooled.values).toBeInstanceOf(Uint8Array);
    expect(Array.from(pooled.values)).toEqual(Array.from(sums, (sum) => byteOf(sum, limit)));
  });

  it("change neither filters nor files of models without them", async () => {
    const { bytes: _, ...without } = small;
    const plain = await new PatchTransform(without).fit(train.x);
    const saved = plain.save();
    expect(saved.meta).not.toHaveProperty("limits");
    expect(saved.meta.params).not.toHaveProperty("bytes");
    expect(saveModel(await new PatchTransform({ ...without, bytes: false }).fit(train.x))).toEqual(saveModel(plain));
    const model = await new PatchTransform(small).fit(train.x);
    expect(model.layers[0].bank).toEqual(plain.layers[0].bank);
    expect(model.save().meta.limits).toEqual(limitsIn(model));
  });

  it("are the same from other element types, sparse rows, fractions and rows that are read", async () => {
    const wanted = saveModel(await new PatchTransform(layered).fit(train.x));
    const shorts = Dense.of(Int16Array.from(train.x.values), train.x.rows, train.x.features);
    for (const x of [shorts, toCsr(shorts)])
      expect(saveModel(await new PatchTransform(layered).fit(x))).toEqual(wanted);
    for (const x of [train.x, toCsr(train.x)]) {
      const source: RowSource = readRows(x, 5000);
      expect(saveModel(await new PatchTransform(layered).fit(source))).toEqual(wanted);
    }
    const fractions = Dense.of(
      Float64Array.from(train.x.values, (v) => v / 64 - 2),
      train.x.rows,
      train.x.features,
    );
    const scaled = saveModel(await new PatchTransform(layered).fit(fractions));
    expect(saveModel(await new PatchTransform(layered).fit(readRows(fractions, 5000)))).toEqual(scaled);
  });

  it("make the same pipeline on every back end, in memory and read, for calls that overlap", async () => {
    const test = strokes(60, 2);
    const recipe = new Pipeline([
      ["patches", new PatchTransform({ ...layered, shiftedCopies: 1 })],
      ["classify", new RankSimilarityClassifier({ filters: 20, refine: true, refineEpochs: 2 })],
    ]);
    const files = new Set<string>();
    const answers = new Set<string>();
    for (const { open } of everywhere) {
      const backend = await open();
      const models = await Promise.all([
        recipe.fit(train.x, train.y, { backend }),
        recipe.fit(readRows(train.x, 5000) as never, train.y, { backend }),
      ]);
      for (const model of models) {
        files.add(Buffer.from(saveModel(model)).toString("hex"));
        const [labels, again] = await Promise.all([
          model.predict(test.x, { backend }),
          (loadModel(saveModel(model)) as typeof model).predict(test.x, { backend }),
        ]);
        expect(again).toEqual(labels);
        answers.add(JSON.stringify(labels));
      }
      await backend.close();
    }
    expect([files.size, answers.size]).toEqual([1, 1]);
  });

  it("are kept in memory for twice as many images as sums are, and of more are made when they are asked for", async () => {
    const model = await new PatchTransform({ ...small, filters: 128, grid: 8 }).fit(train.x);
    const most = Math.floor(2 ** 28 / model.pooledFeatures);
    const many = await model.rowsFor(Dense.of(new Uint8Array((most + 1) * SIDE * SIDE).fill(7), most + 1, SIDE * SIDE));
    expect(many).not.toBeInstanceOf(Dense);
    expect(many).toMatchObject({ rows: most + 1, features: model.pooledFeatures, valueBytes: 1 });
    const { values } = await many.gather(Uint32Array.of(most, 0));
    expect(values).toEqual(new Uint8Array(2 * model.pooledFeatures));
  });

  it("have maps that add up to them, where sums are cut off as well", async () => {
    const model = await new PatchTransform(layered).fit(train.x);
    const width = model.pooledFeatures;
    const { values } = await model.transform(train.x);
    // The row with the most sums at the limit.
    const atLimit = Array.from({ length: train.x.rows }, (_, r) => {
      return values.subarray(r * width, (r + 1) * width).filter((value) => value === 255).length;
    });
    const row = atLimit.indexOf(Math.max(...atLimit));
    expect(atLimit[row]).toBeGreaterThan(0);
    for (let e = 0; e < width; e++) {
      const weights = new Float64Array(width);
      weights[e] = 1;
      const total = model.map(train.x, row, weights).flatMap(({ values: parts }) => [...parts]);
      expect(total.reduce((a, b) => a + b, 0)).toBeCloseTo(values[row * width + e], 9);
    }
  });

  it("tell how far they are, and stop when they are told to", async () => {
    const shares: number[] = [];
    await new PatchTransform(layered).fit(train.x, undefined, { onProgress: ({ share }) => void shares.push(share) });
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.at(-1)).toBe(1);
    expect(shares).toContain(2 / 3); // two layers trained, of three parts
    const stop = new AbortController();
    const stopped = new PatchTransform(layered).fit(train.x, undefined, {
      signal: stop.signal,
      onProgress: ({ stage, share }) => {
        if (stage === "fit" && share === 2 / 3) stop.abort(new Error("enough"));
      },
    });
    await expect(stopped).rejects.toThrow("enough");
  });

  it.each([true, false])("take the memory that is told before they are made: bytes %s", async (bytes) => {
    const recipe = new PatchTransform({ ...layered, bytes, shiftedCopies: 2 });
    const model = await recipe.fit(train.x);
    const { values } = await model.transform(train.x);
    expect(model.pooledBytes * train.x.rows).toBe(values.byteLength);
    expect(recipe.trainingBytes(SIDE * SIDE)).toBe(3 * model.pooledBytes); // the image and two copies
  });

  it("are true or false", () => {
    expect(() => new PatchTransform({ bytes: 1 as never })).toThrow("bytes: expected true or false, found 1");
  });
});

describe("a file of such a model", async () => {
  const model = await new PatchTransform(layered).fit(train.x);
  const file = saveModel(model);

  /** The file with other limits and parameters, and its digest right. */
  function forged(limits: Json | undefined, params: { readonly [name: string]: Json } = model.params): Uint8Array {
    const saved = decodeSaved(file);
    const { limits: _, ...rest } = saved.meta;
    return encodeSaved({ ...saved, meta: { ...rest, ...(limits === undefined ? {} : { limits }), params } });
  }

  it("is read and saved as it was", async () => {
    const read = loadModel(file) as PatchModel;
    expect(limitsIn(read)).toEqual(limitsIn(model));
    expect(saveModel(read)).toEqual(file);
    expect((await read.transform(train.x)).values).toEqual((await model.transform(train.x)).values);
    expect(limitsIn(loadModel(forged([1, 32_767])) as PatchModel)).toEqual([1, 32_767]);
  });

  const { bytes: _, ...without } = model.params;
  it.each<[string, Json | undefined, { readonly [name: string]: Json }, RegExp]>([
    ["no limits", undefined, model.params, /limits: expected 2 whole numbers from 1 to 32767.*, found none/],
    [
      "one limit",
      [7],
      model.params,
      /limits: expected 2 whole numbers from 1 to 32767, one for each layer, found \[7\]/,
    ],
    ["three limits", [7, 8, 9], model.params, /found \[7,8,9\]/],
    ["a number", 7, model.params, /found 7/],
    ["null", null, model.params, /found null/],
    ["a limit of 0", [7, 0], model.params, /found \[7,0\]/],
    ["a limit of 2^15", [32_768, 7], model.params, /found \[32768,7\]/],
    ["a fraction", [7, 7.5], model.params, /found \[7,7.5\]/],
    ["text", [7, "8"], model.params, /found \[7,"8"\]/],
    ["limits but not the parameter", [7, 8], without, /limits: expected none, since parameter bytes is not set/],
    ["limits and the parameter false", [7, 8], { ...without, bytes: false }, /limits: expected none/],
    ["another value of the parameter", [7, 8], { ...without, bytes: 1 }, /bytes: expected true or false/],
  ])("with %s is refused", (_, limits, params, message) => {
    const read = () => loadModel(forged(limits, params));
    expect(read).toThrow(message);
    expect(read).toThrow(expect.objectContaining({ constructor: RanksimError, code: "bad-file" }) as Error);
  });
});
