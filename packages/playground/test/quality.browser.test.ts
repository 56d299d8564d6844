/** What the page weighs, and whether everyone can use it. */

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, openStage, type Stage, untilTrained } from "./chromium.ts";

const BUDGET = 300_000;

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

const axe = readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Serious faults that axe finds, in words. */
async function faults(page: Page): Promise<string[]> {
  await page.evaluate(await axe);
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    return (await axe.run()).violations;
  });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 120)} ${failureSummary}`),
    );
}

describe.skipIf(!CHROMIUM)("quality in Chromium (needs chromium)", () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage();
  }, 120_000);
  afterAll(() => stage?.close());

  it(`loads less than ${BUDGET / 1000} kB compressed before it can be used, data apart`, async () => {
    const { page } = await stage.open("about:blank");
    const sizes = new Map<string, number>();
    page.on("response", async (response) => {
      const path = new URL(response.url()).pathname;
      const body = await response.body().catch(() => Buffer.alloc(0));
      if (!path.includes("digits-bytes")) sizes.set(path, gzipSync(body).length);
    });
    await page.goto(stage.address);
    await untilTrained(page);
    await page.waitForTimeout(200);
    const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    expect([...sizes.keys()].some((path) => path.includes("worker"))).toBe(true);
    expect(total).toBeGreaterThan(10_000);
    expect(total).toBeLessThan(BUDGET);
  });

  it.each(["light", "dark"] as const)("has no serious fault for axe, %s", async (colorScheme) => {
    const { page } = await stage.open("", { colorScheme });
    await untilTrained(page);
    await page.getByTestId("verdict").waitFor();
    await page.getByText("More parameters").click();
    await page.getByText("In TypeScript and on the command line").click();
    expect(await faults(page)).toEqual([]);
    await page.getByRole("tab", { name: "Mistakes" }).click();
    await page.locator(".matrix .off button").first().click();
    await page.getByText("caused it").first().waitFor();
    expect(await faults(page)).toEqual([]);
    await page.getByRole("tab", { name: "Features" }).click();
    await page.getByText("Cumulated confusion against ranks").waitFor();
    expect(await faults(page)).toEqual([]);
    await page.getByRole("button", { name: "Step", exact: true }).click();
    await page.getByText("Choosing first filters").waitFor();
    expect(await faults(page)).toEqual([]);
  });

  it("fits a phone: no sideways scrolling, a drawing surface that fingers can use", async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const { page, complaints } = await stage.open("", phone);
    await untilTrained(page);
    await page.getByTestId("verdict").waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    const painter = page.getByTestId("painter");
    await painter.scrollIntoViewIfNeeded();
    expect((await painter.boundingBox())?.width).toBeGreaterThan(130);
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
