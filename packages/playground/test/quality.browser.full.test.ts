/** What the page weighs, how fast and how still it is, and whether everyone can use it. */

import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { dropFiles, faults, openStage, type Stage, untilTrained } from "./chromium.ts";
import { CHROMIUM } from "./find-chromium.ts";
import { plantsCsv } from "./made-files.ts";

/** Milliseconds to the first answer. */
const FIRST_ANSWER = 1500;

/** Layout shift that nobody notices. */
const STILL = 0.05;

/** Milliseconds of one frame in sixty a second. */
const FRAME = 1000 / 60;

/** The layout shift so far, without that which follows an input. */
const shift = (page: Page) => page.evaluate(() => (window as unknown as { shift: number }).shift);

const watchShift = () => {
  const seen = window as unknown as { shift: number };
  seen.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as unknown as { value: number; hadRecentInput: boolean }[]) {
      if (!entry.hadRecentInput) seen.shift += entry.value;
    }
  }).observe({ type: "layout-shift", buffered: true });
};

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** Processor milliseconds that each kind of thread of the page took in a trace. */
function processorTimes(trace: Buffer): { main: number; worker: number } {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: readonly TraceEvent[] };
  const nameOf = new Map(
    traceEvents
      .filter(({ name }) => name === "thread_name")
      .map(({ pid, tid, args }) => [`${pid} ${tid}`, args.name ?? ""]),
  );
  const sum = (isWanted: (name: string) => boolean) =>
    traceEvents
      .filter(({ name, pid, tid }) => name.endsWith("RunTask") && isWanted(nameOf.get(`${pid} ${tid}`) ?? ""))
      .reduce((total, { tdur = 0 }) => total + tdur / 1000, 0);
  return {
    main: sum((name) => name === "CrRendererMain"),
    worker: sum((name) => name.startsWith("DedicatedWorker")),
  };
}

describe.skipIf(!CHROMIUM)("quality in Chromium (needs chromium)", () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage();
  });
  afterEach(() => stage?.leave());
  afterAll(() => stage?.close());

  it(`takes less than ${FIRST_ANSWER} ms of processor time to the first answer; scripts/time-playground.mjs has the clock`, async () => {
    const { page } = await stage.open("about:blank");
    const browser = page.context().browser();
    await browser?.startTracing(page, { categories: ["toplevel"] });
    await page.goto(stage.address);
    await page.getByTestId("verdict").waitFor();
    const { main, worker } = processorTimes((await browser?.stopTracing()) ?? Buffer.from("{}"));
    expect(main + worker).toBeGreaterThan(0);
    expect(main + worker).toBeLessThan(FIRST_ANSWER);
  });

  it("draws sixty frames a second with the wall alight: each frame takes less than one of them", async () => {
    const { page } = await stage.open();
    await untilTrained(page);
    await page.getByTestId("verdict").locator(".answer").waitFor();
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    const browser = page.context().browser();
    await browser?.startTracing(page, { categories: ["toplevel"] });
    const lit = await page.evaluate(async () => {
      const painter = document.querySelector("[data-testid=painter]") as HTMLElement;
      painter.setPointerCapture = () => {};
      const box = painter.getBoundingClientRect();
      const send = (type: string, t: number) =>
        painter.dispatchEvent(
          new PointerEvent(type, {
            pointerId: 1,
            bubbles: true,
            clientX: box.left + box.width * (0.5 + 0.25 * Math.sin(t)),
            clientY: box.top + box.height * (0.5 - 0.38 * Math.cos(t)),
          }),
        );
      send("pointerdown", 0);
      for (let frame = 0; frame < 60; frame++) {
        await new Promise(requestAnimationFrame);
        send("pointermove", (2 * Math.PI * frame) / 59);
      }
      send("pointerup", 2 * Math.PI);
      await new Promise((resolve) => setTimeout(resolve, 200));
      return document.querySelectorAll(".tile.winner").length;
    });
    const { main } = processorTimes((await browser?.stopTracing()) ?? Buffer.from("{}"));
    expect(lit).toBe(1);
    expect(main).toBeGreaterThan(0);
    expect(main / 60).toBeLessThan(FRAME);
  });

  it.each([390, 1024, 1440])("stays still while it loads, answers and trains, %i px wide", async (width) => {
    const { page } = await stage.open("about:blank", { viewport: { width, height: width < 500 ? 844 : 900 } });
    await page.addInitScript(watchShift);
    await page.goto(stage.address);
    await untilTrained(page);
    await page.getByTestId("verdict").locator(".answer").waitFor();
    await page.waitForTimeout(500);
    expect(await shift(page)).toBeLessThan(STILL);
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await page.getByText("No filter responds").waitFor();
    await page.getByRole("button", { name: "Next row" }).click();
    await page.getByTestId("verdict").getByText("right").waitFor();
    await page.waitForTimeout(600);
    expect(await shift(page)).toBeLessThan(STILL);
  });

  it("fits every width from 320 to 2,560 px, in every view", async () => {
    const { page } = await stage.open("", { viewport: { width: 320, height: 800 } });
    await untilTrained(page);
    for (const width of [320, 768, 1920, 2560]) {
      await page.setViewportSize({ width, height: 800 });
      for (const tab of await page.getByRole("tab").all()) {
        await tab.click();
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      }
    }
  });

  it.each(["light", "dark"] as const)("has no fault for axe in any view, %s", async (colorScheme) => {
    const { page } = await stage.open("", { colorScheme });
    await untilTrained(page);
    await page.getByTestId("verdict").locator(".answer").waitFor();
    for (const name of ["Parameters", "Weights", "Answers"]) await page.locator("summary", { hasText: name }).click();
    await page.getByText("In TypeScript and on the command line").click();
    expect(await faults(page)).toEqual([]);
    for (const [tab, shown] of [
      ["Patches", "Train with patches"],
      ["Spikes", "Certain after"],
    ]) {
      await page.getByRole("tab", { name: tab }).click();
      await page.getByText(shown).waitFor();
      expect(await faults(page)).toEqual([]);
    }
    await page.getByRole("tab", { name: "Mistakes" }).click();
    await page.locator(".matrix .off button").first().click();
    await page.getByText("caused it").first().waitFor();
    expect(await faults(page)).toEqual([]);
    await page.getByRole("tab", { name: "Features" }).click();
    await page.getByText("Cumulated confusion against ranks").waitFor();
    expect(await faults(page)).toEqual([]);
    await page.locator(".strong-filter").first().click();
    await page
      .getByRole("dialog")
      .getByText(/Made from/)
      .waitFor();
    expect(await faults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Step", exact: true }).click();
    await page.getByText("Choosing first filters").waitFor();
    expect(await faults(page)).toEqual([]);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await dropFiles(page, [{ name: "plants.csv", content: plantsCsv(60) }]);
    await page.locator(".data-table").waitFor();
    expect(await faults(page)).toEqual([]);
  });

  it("is drawn on and explained by keyboard alone within ten stops of the first", async () => {
    const { page } = await stage.open();
    await untilTrained(page);
    await page.getByTestId("verdict").locator(".answer").waitFor();
    let stops = 0;
    const isPainter = () => document.activeElement?.getAttribute("data-testid") === "painter";
    while (!(await page.evaluate(isPainter)) && stops < 20) {
      await page.keyboard.press("Tab");
      stops++;
    }
    await page.keyboard.press("c");
    await page.getByText("No filter responds").waitFor();
    for (let j = 0; j < 4; j++) await page.keyboard.press("ArrowRight");
    for (let j = 0; j < 7; j++) await page.keyboard.press("Shift+ArrowDown");
    await page.getByTestId("verdict").locator(".answer", { hasText: /^1$/ }).waitFor();
    // On to a filter that decided it, opened with its rows.
    const isFilter = () => document.activeElement?.classList.contains("strong-filter") ?? false;
    while (!(await page.evaluate(isFilter)) && stops < 20) {
      await page.keyboard.press("Tab");
      stops++;
    }
    await page.keyboard.press("Enter");
    await page
      .getByRole("dialog")
      .getByText(/Made from/)
      .waitFor();
    expect(stops).toBeLessThanOrEqual(10);
  });

  it("fits a phone: canvas and answer on the first screen, a drawing surface that fingers can use", async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const { page, complaints } = await stage.open("", phone);
    await untilTrained(page);
    await page.getByTestId("verdict").locator(".answer").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    const painter = page.getByTestId("painter");
    const [canvas, verdict] = [await painter.boundingBox(), await page.getByTestId("verdict").boundingBox()];
    expect(canvas?.width).toBeGreaterThan(280);
    expect((verdict?.y ?? 0) + (verdict?.height ?? 0)).toBeLessThanOrEqual(844);
    const answer = await page.getByTestId("verdict").textContent();
    await page.getByRole("button", { name: "Clear" }).tap();
    await painter.tap();
    await page.waitForFunction(
      (known) => document.querySelector("[data-testid=verdict]")?.textContent !== known,
      answer,
    );
    expect(await faults(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
