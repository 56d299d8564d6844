/** What everyone does with the page: watch digits being learned, draw, drop a table, and take the model home. */

import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { ClassifierModel, loadModel, RankSimilarityClassifier, saveModel } from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import { trainTestSplit } from "@ranksim/learn";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  draw,
  dropFiles,
  expectAnswer,
  faults,
  figure,
  openStage,
  type Stage,
  train,
  untilTrained,
} from "./chromium.ts";
import { CHROMIUM } from "./find-chromium.ts";
import { plantsCsv } from "./made-files.ts";

/** Bytes of the first load, compressed. */
const BUDGET = 300_000;

const ring = Array.from({ length: 13 }, (_, j) => {
  const angle = (2 * Math.PI * j) / 12;
  return [0.5 + 0.22 * Math.sin(angle), 0.5 - 0.37 * Math.cos(angle)] as const;
});

describe.skipIf(!CHROMIUM)("journeys in Chromium (needs chromium)", () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage();
  });
  afterEach(() => stage?.leave());
  afterAll(() => stage?.close());

  it("opens with about 30 filters, all in view, that read at least 95 % of unseen digits", async () => {
    const { page, complaints } = await stage.open();
    await untilTrained(page);
    expect(Number(await figure(page, "Held-out accuracy"))).toBeGreaterThanOrEqual(0.95);
    expect(Number(await figure(page, "Filters"))).toBe(30);
    await expect.poll(() => page.locator(".wall button.tile").count()).toBe(30);
    await page.getByRole("button", { name: "Train", exact: true }).click();
    await untilTrained(page);
    expect(Number(await figure(page, "Held-out accuracy"))).toBeGreaterThanOrEqual(0.95);
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    expect(complaints).toEqual([]);
  });

  it("reads digits that are drawn with the mouse, and says what changed", async () => {
    const { page, complaints } = await stage.open();
    await untilTrained(page);
    await page.getByRole("button", { name: "Clear" }).click();
    await draw(page, ring);
    await expectAnswer(page, "0");
    await page.getByRole("button", { name: "Clear" }).click();
    await draw(page, [
      [0.35, 0.3],
      [0.55, 0.08],
      [0.55, 0.92],
    ]);
    await expectAnswer(page, "1");
    expect(await page.locator(".bars .bar.chosen .bar-name").textContent()).toBe("1");
    expect(await page.locator(".strong-filter").count()).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
  });

  it("takes a CSV: its first rows appear, columns are guessed and can be said, with sliders for what if", async () => {
    const { page, complaints } = await stage.open();
    await untilTrained(page);
    await dropFiles(page, [{ name: "plants.csv", content: plantsCsv(120) }]);
    await page.getByText("120 rows × 10 features").waitFor();
    await page.getByText("3 classes: fern, moss, reed").waitFor();
    expect(await page.locator(".data-table tbody tr").first().textContent()).toBe("01.32.13.44.256.37.18.49.2fern");
    await page.getByLabel("Column leaf3 is").selectOption("ignore");
    await page.getByText("120 rows × 9 features").waitFor();
    await page.getByLabel("Column leaf3 is").selectOption("feature");
    await page.getByLabel("Column species is").selectOption("ignore");
    await page.getByText("no labels: say “label” at the head of the column").waitFor();
    await page.getByLabel("Column species is").selectOption("feature");
    await page.getByText("120 rows × 11 columns").waitFor();
    await page.getByLabel("Column species is").selectOption("label");
    await page.getByText("3 classes: fern, moss, reed").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    await page.locator("summary", { hasText: "Parameters" }).click();
    await page.getByLabel("Preset").selectOption("fast");
    await train(page);
    expect(await figure(page, "Held-out accuracy")).toBe("1.000");
    await page.getByText(/^fast, for a table of 90 rows/).waitFor();
    await page.getByRole("slider", { name: "leaf0" }).fill("9");
    await page.getByTestId("verdict").getByText("before your change").waitFor();
    expect(await page.locator(".parts-table tbody tr").count()).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
  });

  it("gives the bytes that Node gives for the same seed, and a model that answers the same there", async () => {
    const { page } = await stage.open("#data=digits&estimator=classifier&heldOut=0.25&filters=150&seed=7");
    await untilTrained(page);
    const waiting = page.waitForEvent("download");
    await page.getByRole("button", { name: "Model", exact: true }).click();
    const download = await waiting;
    expect(download.suggestedFilename()).toBe("digits.model");
    const bytes = new Uint8Array(await readFile(await download.path()));

    const { x, y } = await loadDigits();
    const { train, test } = trainTestSplit(x, y, { testShare: 0.25, seed: 7, stratify: true });
    const own = await new RankSimilarityClassifier({ filters: 150, seed: 7 }).fit(train.x, train.y);
    expect(Buffer.compare(bytes, saveModel(own))).toBe(0);

    const loaded = loadModel(bytes) as ClassifierModel;
    expect(loaded).toBeInstanceOf(ClassifierModel);
    expect(await loaded.predict(test.x)).toEqual(await own.predict(test.x));
    expect(await figure(page, "Held-out accuracy")).toBe((await loaded.score(test.x, test.y)).toFixed(3));
  });

  it(`loads less than ${BUDGET / 1000} kB compressed before the first answer, data included`, async () => {
    const { page } = await stage.open("about:blank");
    const sizes = new Map<string, number>();
    page.on("response", async (response) => {
      const path = new URL(response.url()).pathname;
      sizes.set(path, gzipSync(await response.body().catch(() => Buffer.alloc(0))).length);
    });
    await page.goto(stage.address);
    await page.getByTestId("verdict").waitFor();
    await page.waitForTimeout(300);
    const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    expect([...sizes.keys()].some((path) => path.includes("worker"))).toBe(true);
    // Readers of files are fetched when a file comes.
    expect([...sizes.keys()].filter((path) => path.includes("reading"))).toEqual([]);
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThan(BUDGET);
  });

  it("has no fault for axe on the digits and on a table", async () => {
    const { page } = await stage.open();
    await untilTrained(page);
    await page.getByTestId("verdict").locator(".answer").waitFor();
    expect(await faults(page)).toEqual([]);
    await dropFiles(page, [{ name: "plants.csv", content: plantsCsv(60) }]);
    await page.locator(".data-table").waitFor();
    expect(await faults(page)).toEqual([]);
  });
});
