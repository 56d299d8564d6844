/** What stays and what is passed on: links, pictures, the page without a network, files of an earlier visit, and motion. */

import { readFile } from "node:fs/promises";

import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { dropFiles, openStage, type Stage, untilTrained } from "./chromium.ts";
import { CHROMIUM } from "./find-chromium.ts";
import { plantsCsv } from "./made-files.ts";

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

const painted = (page: Page) =>
  page
    .getByTestId("painter")
    .locator("canvas")
    .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());

describe.skipIf(!CHROMIUM)("keeping in Chromium (needs chromium)", () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage();
  });
  afterEach(() => stage?.leave());
  afterAll(() => stage?.close());

  const open = async (hash = "", options = {}) => {
    const opened = await stage.open(hash, options);
    await untilTrained(opened.page);
    await opened.page.getByTestId("verdict").locator(".answer").waitFor();
    return opened;
  };

  it("restores a drawing from its link, pixel by pixel", async () => {
    const { page } = await open();
    await button(page, "Clear").click();
    await page.getByTestId("painter").focus();
    for (let j = 0; j < 3; j++) await page.keyboard.press("ArrowRight");
    for (let j = 0; j < 6; j++) await page.keyboard.press("Shift+ArrowDown");
    await page.waitForFunction(() => location.hash.includes("ink="));
    await page.waitForTimeout(600);
    const other = await open(page.url());
    await other.page.locator(".sample .badge", { hasText: "drawn" }).waitFor();
    expect(await painted(other.page)).toBe(await painted(page));
    expect(await other.page.getByTestId("verdict").textContent()).toBe(await page.getByTestId("verdict").textContent());
  });

  it("saves a picture of the answer, 1200 by 630", async () => {
    const { page, complaints } = await open();
    const waiting = page.waitForEvent("download");
    await button(page, "Picture").click();
    const download = await waiting;
    expect(download.suggestedFilename()).toBe("ranksim-0.png");
    // A PNG says its size right after its signature and the head of its first chunk.
    const bytes = await readFile(await download.path());
    expect(bytes.subarray(1, 4).toString()).toBe("PNG");
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1200, 630]);
    expect(complaints).toEqual([]);
  });

  it("works without a network after it was loaded once", async () => {
    const { page } = await open();
    await page.evaluate(async () => {
      await navigator.serviceWorker.ready;
      // The first load is not yet under its care; the next one is.
      if (navigator.serviceWorker.controller) return;
      await new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve));
    });
    await page.context().setOffline(true);
    await page.reload();
    await untilTrained(page);
    await page.getByTestId("verdict").locator(".answer").waitFor();
    // Readers, which nothing had asked for before, are there too.
    await dropFiles(page, [{ name: "plants.csv", content: plantsCsv(60) }]);
    await page.getByText("3 classes: fern, moss, reed").waitFor();
  });

  it("keeps files of one's own until they are removed", async () => {
    const { page } = await open();
    await dropFiles(page, [{ name: "plants.csv", content: plantsCsv(120) }]);
    await page.getByText("120 rows × 10 features").waitFor();
    await page.locator(".kept", { hasText: "plants.csv" }).waitFor();
    await page.waitForFunction(() => location.hash.includes("data=plants.csv"));
    await page.reload();
    await page.getByText("120 rows × 10 features").waitFor();
    await page.goto(stage.address);
    await page.reload();
    await untilTrained(page);
    await button(page, "Open it").click();
    await page.getByText("3 classes: fern, moss, reed").waitFor();
    await button(page, "Remove it").click();
    await page.locator(".kept").waitFor({ state: "detached" });
    await page.goto(stage.address);
    await page.reload();
    await untilTrained(page);
    expect(await page.locator(".kept").count()).toBe(0);
  });

  it.each([
    ["no-preference", true],
    ["reduce", false],
  ] as const)("lets rows fly to their filters while one watches, motion: %s", async (reducedMotion, flies) => {
    const { page, complaints } = await open("", { reducedMotion });
    await page.evaluate(() => {
      const seen = window as unknown as { flown: number };
      seen.flown = 0;
      new MutationObserver((changes) => {
        for (const { addedNodes } of changes) {
          for (const node of addedNodes) if (node instanceof Element && node.matches(".flying")) seen.flown++;
        }
      }).observe(document.body, { childList: true, subtree: true });
    });
    await button(page, "Step").click();
    await page.getByText("Choosing first filters of class 0").waitFor();
    await button(page, "Step").click();
    await page.locator(".run dl div", { hasText: "Iteration" }).locator("dd", { hasText: "1" }).waitFor();
    expect(await page.locator(".wall .tile[data-target]").count()).toBe(3);
    const flown = await page.evaluate(() => (window as unknown as { flown: number }).flown);
    expect(flown > 0).toBe(flies);
    await button(page, "Stop").click();
    expect(complaints).toEqual([]);
  });
});
