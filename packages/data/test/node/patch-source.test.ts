/** The patch stage on images that are read when they are needed: the same filters, the same pooled rows, the same model. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Backend,
  Dense,
  isSource,
  openBackend,
  PatchTransform,
  Pipeline,
  RankSimilarityClassifier,
  type RowSource,
  saveModel,
  toDense,
} from "@ranksim/core";
import { encodeNpy } from "@ranksim/data";
import { fileSource, openData } from "@ranksim/data/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROWS = 200;
const SIDE = 12;
const FEATURES = SIDE * SIDE;
let folder = "";
let backend: Backend;
beforeAll(async () => {
  backend = await openBackend("wasm");
  folder = mkdtempSync(join(tmpdir(), "ranksim-patches-"));
});
afterAll(async () => {
  await backend.close();
  rmSync(folder, { recursive: true, force: true });
});

async function opened(name: string): Promise<RowSource> {
  const data = await openData([await fileSource(join(folder, name))], { room: 40_000, scratch: folder });
  if (data.form !== "matrix") throw new Error("expected rows of numbers");
  return data.x;
}

/** Bars that stand, lie or lean, where most of an image is blank. */
const pixels = Array.from({ length: ROWS * FEATURES }, (_, j) => {
  const [r, i] = [Math.floor(j / FEATURES), j % FEATURES];
  const [x, y] = [i % SIDE, Math.floor(i / SIDE)];
  const at = 2 + (r % 7);
  const isOn = [x === at, y === at, x === y || x === y + 1][r % 3];
  return isOn ? 150 + ((r * 31 + i * 7) % 100) : 0;
});
const labels = Array.from({ length: ROWS }, (_, r) => ["up", "flat", "lean"][r % 3]);

describe.each([
  ["bytes", Uint8Array.from(pixels)],
  ["whole numbers in float32", Float32Array.from(pixels)],
  ["float32", Float32Array.from(pixels, (value) => value / 300 - 0.1)],
])("%s", (_, values) => {
  // A sample of some windows, which are drawn, and one of all.
  it.each([
    [500, false],
    [1e6, false],
    [500, true],
  ])("a sample of %i windows, pooled to bytes: %s", async (sample, bytes) => {
    writeFileSync(join(folder, "images.npy"), encodeNpy(values, [ROWS, FEATURES]));
    const x = await opened("images.npy");
    const here = Dense.of(values, ROWS, FEATURES);
    const patches = new PatchTransform({ filters: 16, patch: 5, sample, iterations: 2, bytes });
    const pipeline = new Pipeline([patches, new RankSimilarityClassifier({ filters: 12 })]);
    const model = await pipeline.fit(here, labels, { backend });
    const large = await pipeline.fit(x as never, labels, { backend });
    expect(Buffer.from(saveModel(large)).equals(saveModel(model))).toBe(true);

    const first = model.steps[0] as Awaited<ReturnType<PatchTransform["fit"]>>;
    const pooled = (await first.transform(x, { backend })) as RowSource;
    expect(isSource(pooled)).toBe(true);
    expect(pooled.valueBytes).toBe(bytes ? 1 : 2);
    const all = await pooled.gather(Uint32Array.from({ length: ROWS }, (_, r) => r));
    expect(all.values).toEqual(toDense(await first.transform(here, { backend })).values);
    expect(await large.predict(x as never, { backend })).toEqual(await model.predict(here, { backend }));
  });
});

it("learns from copies moved by a pixel as images in memory do", async () => {
  const values = Uint8Array.from(pixels);
  writeFileSync(join(folder, "copies.npy"), encodeNpy(values, [ROWS, FEATURES]));
  // Room for a few images at a time, so that copies are cut between.
  const x = await opened("copies.npy");
  const here = Dense.of(values, ROWS, FEATURES);
  const patches = new PatchTransform({ filters: 16, patch: 5, sample: 500, iterations: 2, shiftedCopies: 3 });
  const last = new RankSimilarityClassifier({ filters: 12, refine: true, refineEpochs: 2, calibrate: "temperature" });
  const pipeline = new Pipeline([patches, last]);
  const model = await pipeline.fit(here, labels, { backend });
  const large = await pipeline.fit(x as never, labels, { backend });
  expect(Buffer.from(saveModel(large)).equals(saveModel(model))).toBe(true);

  const [first] = model.steps as [Awaited<ReturnType<PatchTransform["fit"]>>];
  const [read, memory] = [await first.withCopies(x), (await first.withCopies(here)) as Dense];
  const listed = Uint32Array.of(3, 0, ROWS + 5, 4 * ROWS - 1, ROWS - 1, ROWS);
  expect((await read.gather(listed)).values).toEqual(memory.gather(listed).values);
  const middle = { read: read.slice(ROWS - 3, 2 * ROWS + 7), memory: memory.slice(ROWS - 3, 2 * ROWS + 7) };
  const found: number[] = [];
  for await (const block of middle.read.blocks(10 * FEATURES)) found.push(...block.values);
  expect(Uint8Array.from(found)).toEqual(middle.memory.values);
  expect((await middle.read.gather(Uint32Array.of(2, 9))).values).toEqual(
    middle.memory.gather(Uint32Array.of(2, 9)).values,
  );
});
