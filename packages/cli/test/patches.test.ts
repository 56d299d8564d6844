/** A model with patches shows its bank, and where in an image it found what it decided by. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import {
  type ClassifierModel,
  Dense,
  loadModel,
  type PatchModel,
  PatchTransform,
  type PipelineModel,
  schemaOf,
} from "@ranksim/core";
import { namesAfter } from "@ranksim/core/internal";
import { encodeNpy, loadDigits } from "@ranksim/data";
import { decode, encode } from "fast-png";
import { parseHTML } from "linkedom";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { greyOf, patchesOf, patchSheets, wherePictures } from "../src/model/patch-view.ts";
import { EXAMPLE_CONTENTS, makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = makeWorld();
  await world.ranksim("train digits:train -m preset.ranksim");
  await world.ranksim("train digits:train -m bytes.ranksim --set patches.bytes=true");
});
afterAll(() => world.remove());

describe("explain", () => {
  test.each(["preset", "bytes"])("has a map that adds up to what the features contribute: %s", async (name) => {
    for (const row of [0, 3, 17]) {
      const { stdout, code } = await world.ranksim(
        `explain ${name}.ranksim digits:test --row ${row} --top 2000 --json`,
      );
      expect(code).toBe(0);
      const { where, contributions } = JSON.parse(stdout);
      expect([where.width, where.height, where.values.length]).toEqual([8, 8, 64]);
      const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
      const all = sum(contributions.map(({ contribution }: { contribution: number }) => contribution));
      expect(sum(where.values)).toBeCloseTo(all, 8);
      expect(contributions[0].name).toMatch(/^patch \d+ in cell [0-2], [0-2]$/);
    }
  });

  test("draws it for people, beside the image", async () => {
    const { stdout } = await world.ranksim("explain preset.ranksim digits:test --row 3");
    expect(stdout).toMatch(/row 3 +where 7 +where 3/);
    expect(stdout).toMatch(/patch \d+ in cell/);
  });

  test("names the class that the committee gave, where its strongest filter is of another", async () => {
    const { steps } = loadModel(readFileSync(world.path("preset.ranksim"))) as PipelineModel;
    const [patches, classifier] = steps as unknown as [PatchModel, ClassifierModel];
    const { x } = await loadDigits();
    const pooled = await patches.transform(x.slice(1198, 1797));
    let outvoted = 0;
    while (
      (await classifier.explain(pooled, outvoted)).filters[0].label ===
      (await classifier.predict(pooled.slice(outvoted, outvoted + 1)))[0]
    )
      outvoted++;
    const { label, rivalLabel } = await classifier.explain(pooled, outvoted);
    const { stdout } = await world.ranksim(`explain preset.ranksim digits:test --row ${outvoted}`);
    expect(stdout).toMatch(new RegExp(`row ${outvoted} +where ${label} +where ${rivalLabel}\\b`));
    expect(label).not.toBe(rivalLabel);
  });

  test("explains and reports blank images, which no filter responds to", async () => {
    writeFileSync(world.path("blank.npy"), encodeNpy(new Uint8Array(3 * 64), [3, 8, 8]));
    const explained = await world.ranksim("explain preset.ranksim blank.npy --row 1");
    expect([explained.code, explained.stderr]).toEqual([0, ""]);
    expect(explained.stdout).not.toContain("where");
    expect((await world.ranksim("report preset.ranksim blank.npy -o blank.html")).code).toBe(0);
  });
});

describe("report", () => {
  test("shows the patch bank, and rows with their maps", async () => {
    expect((await world.ranksim("report preset.ranksim digits:test -o preset.html --samples 4")).code).toBe(0);
    const { document } = parseHTML(readFileSync(world.path("preset.html"), "utf8"));
    const sheet = document.querySelector(".sheet img");
    expect(sheet?.getAttribute("alt")).toBe("128 filters of 3 × 3 pixels");
    const png = decode(Buffer.from((sheet?.getAttribute("src") ?? "").split(",")[1], "base64"));
    // 16 filters side by side in 8 lines, each of 3 pixels and a line, and a line at the end.
    expect([png.width, png.height]).toEqual([16 * 4 + 1, 8 * 4 + 1]);
    const rows = Array.from(document.querySelectorAll(".row"));
    expect(rows.length).toBeGreaterThanOrEqual(4);
    for (const row of rows) expect(row.querySelectorAll("img")).toHaveLength(3);
    // Pictures of a page are ink on paper, and turned round in the dark.
    expect(document.body.textContent).toContain("the more ink, the stronger");
    expect(document.body.textContent).not.toMatch(/bright|dark/);
  });

  test("names what is pooled, for several sizes and channels too", async () => {
    const x = Dense.of(
      Uint8Array.from({ length: 30 * 48 }, (_, e) => (e * 7919) % 253),
      30,
      48,
    );
    const params = { width: 4, height: 4, channels: 3, patch: [2, 3], filters: [3, 2], nBest: 2, grid: [2, 1] };
    const model = await new PatchTransform(params).fit(x);
    const names = namesAfter([model], undefined, model.pooledFeatures)?.nameOf;
    expect([0, 4, 9, 13].map((feature) => names?.(feature))).toEqual([
      "2x2 patch 0 in cell 0, 0",
      "2x2 patch 1 in cell 1, 0",
      "2x2 patch 0 in cell 1, 1",
      "3x3 patch 1 in cell 0, 0",
    ]);
    expect(patchSheets(model).map(({ width, height, filters }) => [width, height, filters])).toEqual([
      [2, 2, 3],
      [3, 3, 2],
    ]);
    expect(Array.from(greyOf([1, 2, 6, 4, 4, 4], 3))).toEqual([3, 4]);
  });

  test("draws both sides of a map on one scale", () => {
    const { given, rival } = wherePictures({ width: 2, height: 2, values: Float64Array.of(2, -4, 0, 1) });
    expect(Array.from(given.pixels)).toEqual([128, 0, 0, 64]);
    expect(Array.from(rival.pixels)).toEqual([0, 255, 0, 0]);
  });
});

test("--memory counts what patches make of images", async () => {
  const [rows, side] = [1000, 16];
  const images = Uint8Array.from({ length: rows * side * side }, (_, e) => (e * 7 + (e >> 4) * (e >> 8)) % 251);
  writeFileSync(world.path("many.npy"), encodeNpy(images, [rows, side, side]));
  writeFileSync(world.path("many.txt"), Array.from({ length: rows }, (_, r) => `${r % 2}\n`).join(""));
  // The images are 256 kB. Medians need rows in memory, and are refused where these are read in blocks.
  const flags =
    "--labels many.txt --preset fast --filters 4 --set filterFunction=medianRank --memory 5MB -m many.ranksim";
  const train = (own: string) => world.ranksim(`train many.npy ${flags} ${own}`);
  const refused = { code: 1, stderr: expect.stringContaining("filterFunction: expected rows in memory") };
  // 1,600 sums of two bytes for each image: 3.2 MB, in memory twice; as bytes half of it, and of a copy as much again.
  expect(await train("--set patches.bytes=false")).toMatchObject(refused);
  expect(await train("")).toMatchObject({ code: 0 });
  expect(await train("--set patches.shiftedCopies=1")).toMatchObject(refused);
  expect(await train("--set patches.bytes=false --set patches.grid=4")).toMatchObject({ code: 0 });
  const judge = "evaluate many.ranksim many.npy --labels many.txt --json";
  // 1,024 sums for each image: 4 MB.
  const [here, little] = [await world.ranksim(judge), await world.ranksim(`${judge} --memory 2MB`)];
  expect([here.code, little.stdout]).toEqual([0, here.stdout]);
});

describe("flags of patches", () => {
  test("take the place of the preset's", async () => {
    const line = "train digits:test -m few.ranksim --preset fast --filters 10 --set refineEpochs=1 --json";
    const { stdout, code } = await world.ranksim(
      `${line} --set patches.patch=2,3 --set patches.filters=12 --set patches.grid=2`,
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout).recipe.about).toContain(": 24 patch filters, 10 ");
    const model = patchesOf(loadModel(readFileSync(world.path("few.ranksim"))));
    expect(model?.params).toMatchObject({ patch: [2, 3], filters: 12, grid: 2 });
  });

  test("say whether pooled values are bytes, which the model, its card and inspect show", async () => {
    const line = "train digits:test -m flag.ranksim --preset fast --filters 10 --set refineEpochs=1 --card flag.md";
    const limitsOf = () => {
      const model = patchesOf(loadModel(readFileSync(world.path("flag.ranksim"))));
      return model?.layers.map(({ windows }) => windows.limit);
    };
    expect((await world.ranksim(`${line} --set patches.bytes=true --set patches.patch=2,3`)).code).toBe(0);
    expect(limitsOf()).toHaveLength(2);
    expect(limitsOf()?.every((limit) => limit > 0)).toBe(true);
    expect(readFileSync(world.path("flag.md"), "utf8")).toMatch(/\| bytes \| true \|/);
    expect((await world.ranksim("inspect flag.ranksim")).stdout).toMatch(/patches: bytes +true/);
    expect((await world.ranksim(`${line} --set patches.bytes=false`)).code).toBe(0);
    expect(limitsOf()).toEqual([0]);
  });

  test("say how many copies are learned from, 0 for none", async () => {
    const side = 16;
    const images = Uint8Array.from({ length: 60 * side * side }, (_, e) => (e * 7 + (e >> 4) * (e >> 8)) % 251);
    writeFileSync(world.path("images.npy"), encodeNpy(images, [60, side, side]));
    writeFileSync(world.path("kinds.txt"), Array.from({ length: 60 }, (_, r) => `${r % 2}\n`).join(""));
    const line =
      "train images.npy --labels kinds.txt --preset best --filters 10 --set refineEpochs=1 --set patches.filters=8,8,8";
    const copies = async (flag: string) => {
      const { stdout, stderr, code } = await world.ranksim(`${line} -m copies.ranksim --json ${flag}`);
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining("error") });
      const { about } = JSON.parse(stdout).recipe;
      const model = patchesOf(loadModel(readFileSync(world.path("copies.ranksim"))));
      return [model?.copies, about.includes("images also moved by a pixel")];
    };
    expect(await copies("")).toEqual([2, true]);
    expect(await copies("--set patches.shiftedCopies=0")).toEqual([1, false]);
    expect(await copies("--set patches.shiftedCopies=3")).toEqual([4, true]);
  });

  test.each([
    [
      "train digits:test -m x --preset best --set patches.shiftedCopies=5",
      2,
      "'patches.shiftedCopies=5' is invalid. Expected a whole number from 0 to 4",
    ],
    ["train digits:test -m x --set patches.shiftedCopies=-1", 2, "Expected a whole number from 0"],
    [
      "train digits:test -m x --set patches.grid=2 --estimator classifier",
      2,
      "patches.grid belongs to a preset, which --est",
    ],
    [
      "train plants.csv -m x --set patches.filters=9 --label species --set table=true",
      1,
      "patches.filters: expected labelled images and a preset other than paper, found balanced, for table",
    ],
    [
      "train digits:test -m x --set patches.bytes=false --estimator classifier",
      2,
      "patches.bytes belongs to a preset, which --est",
    ],
    ["train digits:test -m x --set patches.bytes=true --preset paper", 1, "patches.bytes: expected labelled images"],
    ["train digits:test -m x --set patches.grid=2 --preset paper", 1, "patches.grid: expected labelled images"],
    [
      "train digits:test -m x --preset best --set patches.patch=3,4",
      1,
      "--set patches.patch: expected 3 values, one for each layer, found 2",
    ],
  ])("%s is refused", async (line, exit, words) => {
    writeFileSync(world.path("plants.csv"), EXAMPLE_CONTENTS["plants.csv"]);
    const { stderr, code } = await world.ranksim(line);
    expect(stderr).toContain(words);
    expect(code).toBe(exit);
  });
});

describe("photographs", () => {
  beforeAll(() => {
    for (const [isWide, name] of [
      [true, "wide"],
      [false, "high"],
    ] as const) {
      mkdirSync(world.path(`photos/${name}`), { recursive: true });
      for (let j = 0; j < 12; j++) {
        const data = Uint8Array.from({ length: 72 * 72 }, (_, p) => {
          const place = isWide ? p % 72 : Math.floor(p / 72);
          return ((p * 7919 + j * 104729) % 23) + (place > 36 + (j % 5) ? 120 : 20);
        });
        const picture = encode({ width: 72, height: 72, channels: 1, depth: 8, data });
        writeFileSync(world.path(`photos/${name}/${j}.png`), picture);
      }
    }
  });

  test("are trained on in a size chosen on training rows, which the model remembers", async () => {
    const line = "train photos -m photos.ranksim --preset fast --set refineEpochs=1 --json";
    const { stdout, stderr } = await world.ranksim(`${line} --test-share 0.25`);
    const { recipe, heldOut } = JSON.parse(stdout);
    // A quarter of the 24 images is held out.
    expect(recipe.about, stderr).toMatch(/^fast, for 18 images of 16 x 16, 2 classes: /);
    expect(recipe.about).toMatch(
      /; images of 72 x 72 made 16 x 16 \(accuracy on held-out images: 16 x 16 1.000, 24 x 24 /,
    );
    expect(heldOut.accuracy).toBe(1);
    const model = loadModel(readFileSync(world.path("photos.ranksim")));
    expect(schemaOf(model)?.reading).toEqual({ resize: { width: 16, height: 16 } });
    const { stdout: found } = await world.ranksim("evaluate photos.ranksim photos --json");
    expect(JSON.parse(found).accuracy).toBe(1);
  });

  test("keep the size that --set resize=says, and show it before training", async () => {
    const line = "train photos --preset fast --set refineEpochs=1 --json";
    const { stdout } = await world.ranksim(`${line} -m photos.ranksim --set resize=20x10`);
    expect(JSON.parse(stdout).recipe.about).toMatch(/^fast, for 24 images of 20 x 10, [^;]*$/);
    const { stderr } = await world.ranksim("train photos --dry-run");
    expect(stderr).toContain("images of 72 x 72 are made smaller; training chooses the size on held-out images");
  });

  test("without folders of classes, and of another size than those of training, are refused with the cure", async () => {
    const flat = await world.ranksim("train photos/wide --preset fast -m flat.ranksim");
    expect(flat).toMatchObject({ code: 1, stderr: expect.stringContaining("each class in a folder of its own") });
    for (const [name, side] of [
      ["a", 12],
      ["b", 12],
      ["other", 9],
    ] as const) {
      const folder = name === "other" ? "" : `/${name}`;
      mkdirSync(world.path(`little${folder}`), { recursive: true });
      const data = Uint8Array.from({ length: side * side }, (_, p) => (p * 31) % 200);
      writeFileSync(
        world.path(folder ? `little/${name}/0.png` : "other.png"),
        encode({ width: side, height: side, channels: 1, depth: 8, data }),
      );
    }
    await world.ranksim("train little --preset fast -m little.ranksim");
    const { code, stderr } = await world.ranksim("predict little.ranksim other.png");
    expect(stderr).toContain("other.png: the model takes images of 12 x 12, found 9 x 9; add --set resize=12x12");
    expect(code).toBe(1);
    writeFileSync(world.path("other.npy"), encodeNpy(new Uint8Array(81), [1, 9, 9]));
    const array = await world.ranksim("predict little.ranksim other.npy");
    expect(array.stderr).toMatch(/the model takes images of 12 x 12, found 9 x 9$/m);
    expect((await world.ranksim("predict little.ranksim other.png --set resize=12x12")).code).toBe(0);
  });

  test("are answered one by one, by pattern and by folder, and named in the answer", async () => {
    await world.ranksim("train photos -m photos.ranksim --preset fast --set refineEpochs=1 --set resize=16x16");
    const ask = async (line: string) => (await world.ranksim(`predict photos.ranksim ${line}`)).stdout.split("\n");
    expect(await ask("photos/wide/3.png")).toEqual(["file,label", "photos/wide/3.png,wide", ""]);
    // As they were named, not in the order of their names; also from above.
    const above = `../${basename(world.folder)}/photos/high/7.png`;
    expect(await ask(`photos/wide/3.png ${above} photos/wide/11.png`)).toEqual([
      ...["file,label", "photos/wide/3.png,wide", `${above},high`, "photos/wide/11.png,wide", ""],
    ]);
    const byPattern = await ask("photos/high/*.png");
    expect(byPattern).toHaveLength(14);
    const byFolder = await ask("photos");
    expect(byFolder).toHaveLength(26);
    expect(byFolder.slice(1, 13)).toEqual(byPattern.slice(1, 13));
    expect(await ask("photos/wide/3.png --out-format lines")).toEqual(["wide", ""]);
    const { stdout } = await world.ranksim("predict photos.ranksim photos/wide/3.png --json");
    expect(JSON.parse(stdout)).toMatchObject({ labels: ["wide"], keptNames: ["file"], kept: [["photos/wide/3.png"]] });
    const { stdout: judged } = await world.ranksim("evaluate photos.ranksim 'photos/*/*.png' --json");
    expect(JSON.parse(judged)).toMatchObject({ rows: 24, accuracy: 1 });
    const missing = await world.ranksim("predict photos.ranksim photos/wide/99.png");
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("photos/wide/99.png: no file") });
  });
});
