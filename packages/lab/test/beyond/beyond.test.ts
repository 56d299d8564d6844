/** The experiments beyond the paper: results are kept by seed, the page judges them, and a small run works. */

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBackend } from "@ranksim/core";
import { afterAll, expect, it } from "vitest";
import type { Experiment } from "../../src/beyond/experiment.ts";
import { experiments } from "../../src/beyond/experiments/all.ts";
import { novelty } from "../../src/beyond/experiments/novelty.ts";
import { partialFit } from "../../src/beyond/experiments/partial-fit.ts";
import { frontOf, peersPicture } from "../../src/beyond/peers-picture.ts";
import { makePage, makePictures, readResults, writeResults } from "../../src/beyond/results.ts";
import { Shelf } from "../../src/beyond/shelf.ts";

const folder = mkdtempSync(join(tmpdir(), "ranksim-beyond-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

const fake: Experiment = {
  name: "fake",
  title: "A fake",
  about: "Nothing.",
  columns: [
    { figure: "score", title: "score" },
    { figure: "fitCpu", title: "fit, s" },
  ],
  measure: async (seed) => ({ score: seed / 3 }),
  targets: (runs) => [
    { name: "first", wanted: "≥ 0", measured: String(runs.length), met: true },
    { name: "second", wanted: "≥ 9", measured: "0", met: false },
  ],
};

it("keeps results by seed and makes the page of them", () => {
  const run = (seed: number, score: number) => ({ seed, date: "", commit: "", figures: { score, fitCpu: 1.04 } });
  expect(makePage([fake], folder)).toContain("Not measured yet");
  writeResults(folder, fake, [run(2, 0.5), run(0, 0.25), run(1, 0.75)]);
  expect(readResults(folder, fake).map(({ seed }) => seed)).toEqual([0, 1, 2]);
  expect(readdirSync(folder)).toEqual(["fake.json"]);
  const page = makePage([fake], folder);
  expect(page).toContain("| 0.5000 (0.2500–0.7500) | 1.0 |");
  expect(page).toContain("| first | ≥ 0 | 3 | 3 | met |");
  expect(page).toContain("| second | ≥ 9 | 0 | 3 | **missed** |");
});

it("shows what an experiment makes of its own results and those of others", () => {
  const other: Experiment = {
    ...fake,
    name: "other",
    show: (runs, resultsOf) =>
      `${runs.length} of its own, ${resultsOf("fake").length} of the fake, no ${resultsOf("none").length}`,
    pictures: (runs) => [{ name: "other.svg", svg: String(runs[0].score) }],
  };
  expect(makePictures([fake, other], folder)).toEqual([]);
  writeResults(folder, other, [{ seed: 0, date: "", commit: "", figures: { score: 0.5 } }]);
  expect(makePage([fake, other], folder)).toContain("1 of its own, 3 of the fake, no 0");
  expect(makePictures([fake, other], folder)).toEqual([{ name: "other.svg", svg: "0.5" }]);
});

it("puts on the front what nothing is as good and as cheap as", () => {
  const method = (title: string, macro: number, fitCpu: number) => ({ title, isOwn: false, macro, fitCpu, predictCpu: 1, bytes: 1, macs: 1 }); // biome-ignore format: one thing
  const methods = [
    method("a", 0.9, 10),
    method("b", 0.8, 10),
    method("c", 0.8, 5),
    method("d", 0.7, 6),
    method("e", 0.9, 10),
  ];
  expect([...frontOf(methods, "fitCpu")].map(({ title }) => title)).toEqual(["a", "c", "e"]);
  expect(peersPicture(methods)).toMatch(/^<svg .*multiply-adds.*<\/svg>\n$/s);
});

it("has experiments of different names", () => {
  expect(new Set(experiments.map(({ name }) => name)).size).toBe(experiments.length);
});

it("measures the adding of rows on a small data set", async () => {
  const backend = await openBackend("wasm");
  const figures = await partialFit.measure(0, { shelf: new Shelf(folder), backend, quick: true });
  expect(figures.one).toBeGreaterThan(0.9);
  expect(figures.shards).toBeGreaterThan(0.85);
  expect(partialFit.targets([{ one: 0.9, shards: 0.895 }], () => [])[0].met).toBe(true);
  expect(partialFit.targets([{ one: 0.9, shards: 0.85 }], () => [])[0].met).toBe(false);
  await backend.close();
});

it("measures novelty on a small data set", async () => {
  const backend = await openBackend("wasm");
  const figures = await novelty.measure(0, { shelf: new Shelf(folder), backend, quick: true });
  expect(figures.balanced).toBeGreaterThan(0.8);
  expect(figures.known).toBeLessThan(0.2);
  await backend.close();
});
