/** A model with patches shows its bank, and where in an image it found what it decided by. */

import { readFileSync } from "node:fs";
import { Dense, PatchTransform } from "@ranksim/core";
import { decode } from "fast-png";
import { parseHTML } from "linkedom";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { greyOf, patchFeatureNames, patchSheets, wherePictures } from "../src/model/patch-view.ts";
import { makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = makeWorld();
  await world.ranksim("train digits:train -m preset.ranksim");
});
afterAll(() => world.remove());

describe("explain", () => {
  test("has a map that adds up to what the features contribute", async () => {
    for (const row of [0, 3, 17]) {
      const { stdout, code } = await world.ranksim(`explain preset.ranksim digits:test --row ${row} --top 2000 --json`);
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
  });

  test("names what is pooled, for several sizes and channels too", async () => {
    const x = Dense.of(
      Uint8Array.from({ length: 30 * 48 }, (_, e) => (e * 7919) % 253),
      30,
      48,
    );
    const params = { width: 4, height: 4, channels: 3, patch: [2, 3], filters: [3, 2], nBest: 2, grid: [2, 1] };
    const model = await new PatchTransform(params).fit(x);
    const names = patchFeatureNames(model);
    expect(names).toHaveLength(model.pooledFeatures);
    expect([names[0], names[4], names[9], names[13]]).toEqual([
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
