/** Situations in which the page once showed what belonged to another: each is held here. */

import { Pipeline, RankSimilarityClassifier, saveModel } from "@ranksim/core";
import { CountVectorizer } from "@ranksim/data";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { dropFiles, openStage, type Stage, untilTrained } from "./chromium.ts";
import { CHROMIUM } from "./find-chromium.ts";
import { idxImages, plantsCsv, reviewsJsonl } from "./made-files.ts";

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const painted = (page: Page) =>
  page
    .getByTestId("painter")
    .locator("canvas")
    .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());

async function stroke(page: Page, from: readonly [number, number], to: readonly [number, number]): Promise<void> {
  const box = await page.getByTestId("painter").boundingBox();
  if (!box) throw new Error("there is no painter");
  await page.mouse.move(box.x + from[0] * box.width, box.y + from[1] * box.height);
  await page.mouse.down();
  await page.mouse.move(box.x + to[0] * box.width, box.y + to[1] * box.height, { steps: 4 });
  await page.mouse.up();
}

describe.skipIf(!CHROMIUM)("situations in Chromium (needs chromium)", () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage();
  });
  afterEach(() => stage?.leave());
  afterAll(() => stage?.close());

  const open = async (hash = "") => {
    const opened = await stage.open(hash);
    await untilTrained(opened.page);
    await opened.page.getByTestId("verdict").locator(".answer").waitFor();
    return opened;
  };

  it("opens models of other kinds on the digits: each stands alone, and the digits come back", async () => {
    const { page, complaints } = await open();
    const lines = reviewsJsonl(40)
      .split("\n")
      .map((line) => JSON.parse(line) as { review: string; label: string });
    const words = new Pipeline([new CountVectorizer(), new RankSimilarityClassifier({ filters: 6 })]);
    const model = await words.fit(
      lines.map(({ review }) => review),
      lines.map(({ label }) => label),
    );
    await dropFiles(page, [{ name: "words.model", content: saveModel(model) }]);
    await page.getByText("digits was closed: its rows are not what the model words.model takes.").waitFor();
    await page.getByLabel("Type or change the text").fill("a wonderful lovely film");
    await page.getByTestId("verdict").locator(".answer", { hasText: "good" }).waitFor();
    const images = idxImages(40, 28).subarray(16);
    const { Dense } = await import("@ranksim/core");
    const wide = await new RankSimilarityClassifier({ filters: 20 }).fit(
      Dense.of(images.slice(), 40, 784),
      Array.from({ length: 40 }, (_, r) => r % 10),
    );
    await dropFiles(page, [{ name: "wide.model", content: saveModel(wide) }]);
    await page.getByText(/wide\.model: \d+ filters from 40 rows/).waitFor();
    await page.getByText("No filter responds: the sample is empty.").waitFor();
    await stroke(page, [0.05, 0.1], [0.05, 0.9]);
    await page.getByTestId("verdict").locator(".answer", { hasText: /^\d$/ }).waitFor();
    await button(page, "Digits").click();
    await page.getByText("The model wide.model does not take these rows and was closed.").waitFor();
    await untilTrained(page);
    await page.getByTestId("verdict").getByText("right").waitFor();
    expect(complaints).toEqual([]);
  });

  it("says that a sample is empty only where it is", async () => {
    const { page } = await open();
    expect(await page.getByText("An empty sample excites no filter.").count()).toBe(0);
    await button(page, "Clear").click();
    await page.getByText("An empty sample excites no filter.").waitFor();
    const one = plantsCsv(60).replace(/moss|reed/g, "fern");
    await dropFiles(page, [{ name: "one.csv", content: one.replace("species", "label") }]);
    await page.getByText("1 class: fern").waitFor();
    await button(page, "Train").click();
    await page.getByTestId("verdict").locator(".answer", { hasText: "fern" }).waitFor();
    expect(await page.getByText("An empty sample excites no filter.").count()).toBe(0);
  });

  it("takes back strokes and clearing, by button and by key, and never crosses rows", async () => {
    const { page } = await open();
    const row = await painted(page);
    expect(await button(page, "Undo").isDisabled()).toBe(true);
    await stroke(page, [0.1, 0.1], [0.9, 0.1]);
    // The first stroke on a row begins an empty picture.
    const changed = await painted(page);
    expect(changed).not.toBe(row);
    await page.locator(".sample .badge", { hasText: "drawn" }).waitFor();
    await button(page, "Clear").click();
    await page.getByText("No filter responds").waitFor();
    await page.keyboard.press("Control+z");
    await expect.poll(() => painted(page)).toBe(changed);
    await button(page, "Undo").click();
    await page.locator(".sample .badge", { hasText: "row 0" }).waitFor();
    await expect.poll(() => painted(page)).toBe(row);
    expect(await button(page, "Undo").isDisabled()).toBe(true);
    await stroke(page, [0.1, 0.1], [0.9, 0.1]);
    await page.getByRole("button", { name: "Next row" }).click();
    await page.getByTestId("verdict").getByText("right").waitFor();
    expect(await button(page, "Undo").isDisabled()).toBe(true);
  });

  it("trains on after a double click on Train", async () => {
    const { page } = await open("#data=digits&estimator=classifier&heldOut=0.25&filters=1300");
    await button(page, "Train").dblclick();
    await page.waitForTimeout(500);
    expect(await button(page, "Finish").count()).toBe(0);
    await untilTrained(page);
  });

  it("opens a filter in view, wherever it was asked for, and Back closes it", async () => {
    const { page } = await open();
    await page.waitForFunction(() => location.hash !== "");
    await page.locator(".strong-filter").first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/Made from \d+ training rows/).waitFor();
    const box = await dialog.boundingBox();
    const height = page.viewportSize()?.height ?? 0;
    expect(box && box.y >= 0 && box.y + box.height <= height).toBe(true);
    await page.waitForFunction(() => location.hash.includes("filter="));
    await page.goBack();
    await dialog.waitFor({ state: "detached" });
    await page.goForward();
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });

  it("goes back over views and trained recipes", async () => {
    const { page } = await open();
    await page.waitForFunction(() => location.hash !== "");
    await page.getByRole("tab", { name: "Mistakes" }).click();
    await page.waitForFunction(() => location.hash.includes("tab=mistakes"));
    await page.getByText("Parameters", { exact: true }).click();
    await page.getByRole("spinbutton", { name: "Filters", exact: true }).fill("60");
    await button(page, "Train").click();
    await page.waitForFunction(() => location.hash.includes("filters=60"));
    await page.goBack();
    await page.waitForFunction(() => location.hash.includes("filters=35"));
    await page.locator(".wall-panel .badge", { hasText: "30 filters" }).waitFor();
    await page.getByRole("tab", { name: "Mistakes", selected: true }).waitFor();
    await page.goBack();
    await page.getByRole("tab", { name: "Filters", selected: true }).waitFor();
  });

  it("shows the command line with the columns of the data at hand", async () => {
    const { page } = await open();
    await dropFiles(page, [{ name: "plants.csv", content: plantsCsv(60) }]);
    await page.getByText("3 classes: fern, moss, reed").waitFor();
    await page.locator("summary", { hasText: "Parameters" }).click();
    await page.getByLabel("Preset").selectOption("fast");
    await button(page, "Train").click();
    await untilTrained(page);
    await page.getByText("In TypeScript and on the command line").click();
    await page.locator("pre", { hasText: "ranksim train plants.csv --preset fast --model plants.model" }).waitFor();
    await button(page, "Digits").click();
    await page.getByTestId("verdict").getByText("right").waitFor();
    await page.getByText("In TypeScript and on the command line").click();
    await page.locator("pre", { hasText: "ranksim train digits --estimator classifier" }).waitFor();
    expect(await page.getByText("--label-column").count()).toBe(0);
  });

  it("bolds no class for an empty canvas and does not call it drawn", async () => {
    const { page } = await open();
    await button(page, "Clear").click();
    await page.getByText("No filter responds").waitFor();
    expect(await page.locator(".answer-panel .bar.chosen").count()).toBe(0);
    expect(await page.locator(".sample .badge").count()).toBe(0);
    expect(await page.locator(".tile.winner").count()).toBe(0);
    await stroke(page, [0.5, 0.1], [0.5, 0.9]);
    await page.locator(".sample .badge", { hasText: "drawn" }).waitFor();
    await page.locator(".tile.winner").waitFor();
  });

  it("says which rows there are when asked for another", async () => {
    const { page } = await open();
    await page.getByLabel("Row of the data").fill("9999");
    await page.keyboard.press("Enter");
    await page.getByText("Expected a row from 0 to 1,796.").waitFor();
    await page.getByLabel("Row of the data").fill("1796");
    await page.keyboard.press("Enter");
    await page.locator(".sample .badge", { hasText: "row 1796" }).waitFor();
    expect(await page.getByText("Expected a row").count()).toBe(0);
  });
});
