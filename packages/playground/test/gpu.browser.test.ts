/** WebGPU in a real browser, on the software adapter that Chromium brings: the line below training, and answers that are WebAssembly's bit for bit. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, dropFiles, openStage, type Stage, untilTrained } from "./chromium.ts";

/** A program that plays a GPU has seconds to do on a machine that may be busy. */
const PATIENT = 180_000;

/** Whether the browser has an adapter: not all builds of Chromium bring one. */
let refusal = CHROMIUM ? undefined : "no chromium";
let stage: Stage | undefined;

describe.skipIf(!CHROMIUM)("the GPU in Chromium (needs chromium with SwiftShader)", () => {
  beforeAll(async () => {
    stage = await openStage("software");
    const { page } = await stage.open();
    const has = await page.evaluate(async () => (await navigator.gpu?.requestAdapter()) != null);
    if (!has) refusal = "chromium gives no adapter";
    await stage.leave();
  }, PATIENT);
  afterEach(() => stage?.leave());
  afterAll(() => stage?.close());

  it("is timed on the digits and answers as WebAssembly does", { timeout: PATIENT }, async ({ skip }) => {
    skip(refusal !== undefined, refusal);
    const { page, complaints } = await (stage as Stage).open();
    await untilTrained(page);
    const line = page.getByTestId("gpu-line");
    expect(await line.textContent()).toMatch(/This browser has WebGPU/);
    await line.getByRole("button").click();
    await line.getByText(/the answers are the same\./).waitFor({ timeout: PATIENT });
    expect(await line.textContent()).toMatch(
      /^1,797 rows × \d+ filters: GPU in software \(.+\) [\d.]+ m?s, WebAssembly on one thread [\d.]+ m?s\. .+; the answers are the same\. Time it again$/,
    );
    expect(complaints).toEqual([]);
  });

  it("proposes candidates for numbers that are no bytes", { timeout: PATIENT }, async ({ skip }) => {
    skip(refusal !== undefined, refusal);
    const { page } = await (stage as Stage).open();
    await untilTrained(page);
    const lines = Array.from({ length: 90 }, (_, r) => {
      const kind = r % 3;
      return [
        ...[0, 1, 2, 3, 4].map((i) => (Math.sin(r * (i + 1)) + (i === kind ? 3 : 0)).toFixed(4)),
        "abc"[kind],
      ].join();
    });
    await dropFiles(page, [{ name: "waves.csv", content: `u,v,w,x,y,label\n${lines.join("\n")}\n` }]);
    await page.getByText("waves.csv").first().waitFor();
    await page.getByRole("button", { name: "Train", exact: true }).click();
    const line = page.getByTestId("gpu-line");
    await line.getByRole("button", { name: "Time the GPU on this data" }).click({ timeout: 30_000 });
    await line.getByText(/^90 rows × .+; the answers are the same\./).waitFor({ timeout: PATIENT });
  });
});
