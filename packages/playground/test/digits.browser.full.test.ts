/** What a newcomer does with the digits: watch them being learned, draw, ask why, and take the model home. */

import { readFile } from "node:fs/promises";
import { RankSimilarityClassifier, saveModel } from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { draw, expectAnswer, figure, openStage, type Stage, untilTrained } from "./chromium.ts";
import { CHROMIUM } from "./find-chromium.ts";

const verdict = (page: Page) => page.getByTestId("verdict").locator(".answer");

describe.skipIf(!CHROMIUM)("digits in Chromium (needs chromium)", () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage();
  });
  afterEach(() => stage?.leave());
  afterAll(() => stage?.close());

  it("asks what if: an edit shows the answer before it, a reset takes it back", async () => {
    const { page } = await stage.open();
    await untilTrained(page);
    const first = (await verdict(page).textContent()) ?? "";
    await page.getByRole("button", { name: "Erase" }).click();
    await draw(page, [
      [0.1, 0.1],
      [0.9, 0.1],
      [0.9, 0.5],
      [0.1, 0.5],
    ]);
    await page.getByText(`before your change: ${first}`).waitFor();
    expect(await page.locator(".ghost").count()).toBe(10);
    await page.getByRole("button", { name: "Reset" }).click();
    await page.getByText("before your change").waitFor({ state: "detached" });
    await expectAnswer(page, first);
  });

  it("can be drawn on with the keyboard alone", async () => {
    const { page } = await stage.open();
    await untilTrained(page);
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByText("No filter responds").waitFor();
    await page.getByTestId("painter").focus();
    for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
    for (let j = 0; j < 7; j++) await page.keyboard.press("Shift+ArrowDown");
    await expectAnswer(page, "1");
    await page.waitForFunction(() => location.hash.includes("ink="));
  });

  it("lets a number of the sample be pulled up and down: its rank changes before one's eyes", async () => {
    const { page, complaints } = await stage.open();
    await untilTrained(page);
    await verdict(page).waitFor();
    const numbers = page.locator(".how canvas[role=slider]");
    await numbers.focus();
    for (let j = 0; j < 3; j++) await page.keyboard.press("ArrowRight");
    await page.getByText("Number 3 is").waitFor();
    const rank = async () => Number(/rank (\d+) of 64/.exec((await page.locator(".how").textContent()) ?? "")?.[1]);
    await page.keyboard.press("ArrowDown");
    const before = await rank();
    for (let j = 0; j < 16; j++) await page.keyboard.press("ArrowUp");
    await page.getByText("Number 3 is 16.").waitFor();
    await expect.poll(rank).toBeGreaterThan(before);
    const box = await numbers.boundingBox();
    if (!box) throw new Error("there is no picture of numbers");
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2 + 200);
    await page.getByText(/Number (27|28|35|36) is 0\./).waitFor();
    await page.mouse.up();
    expect(complaints).toEqual([]);
  });

  it("saves the recipe trained on all rows: the bytes of the command line", async () => {
    const { page } = await stage.open();
    await untilTrained(page);
    const waiting = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save one trained on all 1,797" }).click();
    const bytes = await readFile(await (await waiting).path());
    const { x, y } = await loadDigits();
    const params = { filters: 35, refine: true, calibrate: "temperature", decision: "probability" } as const;
    const own = await new RankSimilarityClassifier(params).fit(x, y);
    expect(Buffer.compare(bytes, saveModel(own))).toBe(0);
  });

  it("downloads a report that stands on its own", async () => {
    const { page } = await stage.open();
    await untilTrained(page);
    const waiting = page.waitForEvent("download");
    await page.getByRole("button", { name: "Report" }).click();
    const download = await waiting;
    expect(download.suggestedFilename()).toBe("digits-report.html");
    const html = await readFile(await download.path(), "utf8");
    expect(html).toContain("Judged on 449 rows that were held out of training.");
    expect(html).toContain(
      "ranksim train digits --estimator classifier --filters 35 --set refine=true --set calibrate=temperature --set decision=probability",
    );
    expect(html.match(/<img [^>]*src="data:image\/png/g)?.length).toBeGreaterThan(30);
    const alone = await page.context().newPage();
    await alone.setContent(html);
    for (const width of [390, 1440]) {
      await alone.setViewportSize({ width, height: 900 });
      expect(await alone.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
    expect(html).not.toMatch(/(src|href)="(?!data:)/);
  });

  it("shares a view by its address: another page shows the same model and the same answer", async () => {
    const { page } = await stage.open(
      "#data=digits&estimator=probabilistic&heldOut=0.3&filters=80&row=21&tab=mistakes",
    );
    await untilTrained(page);
    await page.getByRole("tab", { name: "Mistakes", selected: true }).waitFor();
    await page.waitForTimeout(400);
    const other = await stage.open(page.url());
    await untilTrained(other.page);
    await other.page.getByTestId("verdict").waitFor();
    expect(await other.page.getByTestId("verdict").textContent()).toBe(await page.getByTestId("verdict").textContent());
    expect(await other.page.locator(".take-away .hint").first().textContent()).toBe(
      await page.locator(".take-away .hint").first().textContent(),
    );
  });

  it("shows the potentials of the classes racing, still where motion is not wanted, and the moment of certainty", async () => {
    const { page, complaints } = await stage.open("#tab=spikes", { reducedMotion: "reduce" });
    await untilTrained(page);
    const view = page.getByTestId("spikes");
    await view.waitFor();
    const clock = view.getByRole("slider", { name: "Time" });
    const state = () => view.locator(".spike-state").textContent();
    // Nothing moves by itself: all spikes are there.
    expect(await clock.inputValue()).toBe("1000");
    const [, all] = /^(\d+) of \1 spikes/.exec((await state()) ?? "") ?? [];
    expect(Number(all)).toBeGreaterThan(10);
    await clock.focus();
    await page.keyboard.press("Home");
    await view.getByText("another class could still win").waitFor();
    expect(await view.locator(".bar.chosen").count()).toBe(0);
    await view.getByRole("button", { name: "To where it is certain" }).click();
    const answer = (await verdict(page).textContent()) ?? "";
    await view.getByText(`certain: ${answer}`).waitFor();
    const [arrived, until] = /^(\d+) of \d+ spikes.*from spike (\d+) on/.exec((await state()) ?? "")?.slice(1) ?? [];
    expect(arrived).toBe(until);
    expect(Number(arrived)).toBeLessThan(Number(all));
    await view.getByRole("button", { name: "Play" }).click();
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>(".clock-track input")?.value === "1000");
    await page.getByText(/Certain after \d+/).waitFor();
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await page.getByText("An empty sample has no spikes").waitFor();
    expect(complaints).toEqual([]);
  });

  it("learns patches and shows which were found where; a link trains them again", async () => {
    const { page, complaints } = await stage.open("#tab=patches");
    await untilTrained(page);
    await page.getByRole("button", { name: "Train with patches" }).click();
    const view = page.getByTestId("patches");
    await view.waitFor();
    expect(Number(await figure(page, "Held-out accuracy"))).toBeGreaterThanOrEqual(0.95);
    const answer = (await verdict(page).textContent()) ?? "";
    await view.getByText(`For ${answer}`, { exact: true }).waitFor();
    await view.getByText("the runner-up").waitFor();
    const patches = view.locator(".patch-side").first().locator(".found-patch");
    expect(await patches.count()).toBeGreaterThan(1);
    const frame = () => view.locator(".cell-frame").first().getAttribute("style");
    const first = await frame();
    const places = new Set([first]);
    for (let j = 1; j < (await patches.count()); j++) {
      await patches.nth(j).focus();
      places.add(await frame());
    }
    expect(places.size).toBeGreaterThan(1);
    await page.getByText("Every window of 3 × 3 pixels meets 64 small filters").waitFor();
    await page.waitForFunction(() => location.hash.includes("estimator=chosen"));
    const other = await stage.open(page.url());
    await other.page.getByTestId("patches").getByText(`For ${answer}`, { exact: true }).waitFor();
    await other.page.getByRole("tab", { name: "Spikes" }).click();
    await other.page.getByText("Spikes of the second layer").waitFor();
    expect([...complaints, ...other.complaints]).toEqual([]);
  });

  it("opens a cell of the confusion matrix with the filters that caused the mistake", async () => {
    const { page, complaints } = await stage.open(
      "#data=digits&estimator=classifier&heldOut=0.25&filters=150&tab=mistakes",
    );
    await untilTrained(page);
    await page.locator(".matrix .off button").first().click();
    await page.getByText("caused it").first().waitFor();
    await page.locator(".mistake .thumb").first().click();
    await page.getByText("wrong, labelled").waitFor();
    await page.locator(".mistake .cause").first().click();
    await page.getByText(/Made from \d+ training row/).waitFor();
    expect(complaints).toEqual([]);
  });
});
