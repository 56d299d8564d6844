/** Teach it: classes of one's own by drawing, by camera and by folders; each example trains, and the model can be taken along. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isClassifier, loadModel } from "@ranksim/core";
import { encode } from "fast-png";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { draw, expectAnswer, faults, openStage, type Stage, untilTrained } from "./chromium.ts";
import { CHROMIUM } from "./find-chromium.ts";

const LINE = [
  [0.5, 0.1],
  [0.5, 0.9],
] as const;
const RING = Array.from({ length: 17 }, (_, j) => {
  const angle = (2 * Math.PI * j) / 16;
  return [0.5 + 0.3 * Math.sin(angle), 0.5 - 0.3 * Math.cos(angle)] as const;
});
const add = (page: Page, at: number) => page.getByRole("button", { name: /^Add (the drawing|this picture)$/ }).nth(at);

describe.skipIf(!CHROMIUM)("teaching in Chromium (needs chromium)", () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await openStage();
  });
  afterEach(() => stage?.leave());
  afterAll(() => stage?.close());

  const open = async () => {
    const opened = await stage.open();
    await untilTrained(opened.page);
    await opened.page.getByRole("button", { name: "Teach it", exact: true }).click();
    await opened.page.getByTestId("taught").waitFor();
    return opened;
  };

  /** Two classes of two drawings each. */
  async function teachTwo(page: Page): Promise<void> {
    for (const [at, stroke] of [
      [0, LINE],
      [1, RING],
      [0, LINE.map(([x, y]) => [x + 0.1 * y, y] as const)],
      [1, RING.map(([x, y]) => [0.5 + 0.6 * (x - 0.5), y] as const)],
    ] as const) {
      await draw(page, stroke);
      await add(page, at).click();
    }
    await page.getByTestId("taught").getByText("Trained on 4 examples").waitFor();
  }

  it("learns two drawings of each class, reads new ones, and keeps what it was taught", async () => {
    const { page, complaints } = await open();
    await page.getByLabel("Name of the class").first().fill("line");
    await page.getByLabel("Name of the class").last().fill("ring");
    await teachTwo(page);
    await draw(
      page,
      RING.map(([x, y]) => [0.25 + 0.4 * x, 0.3 + 0.4 * y] as const),
    );
    await expectAnswer(page, "ring");
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await draw(page, LINE);
    await expectAnswer(page, "line");
    expect(await page.locator(".wall button.tile").count()).toBeGreaterThan(1);
    expect(await faults(page)).toEqual([]);
    await page.waitForTimeout(500);
    await page.reload();
    await page.getByTestId("taught").getByText("Trained on 4 examples").waitFor();
    expect(await page.getByLabel("Name of the class").first().inputValue()).toBe("line");
    await page.getByRole("button", { name: "Read digits" }).click();
    await untilTrained(page);
    await page.getByText("It reads").waitFor();
    expect(complaints).toEqual([]);
  });

  it("is taken away as a model file, as ONNX and as a page that answers by itself", async () => {
    const { page, complaints } = await open();
    await teachTwo(page);
    const taken = async (name: string) => {
      const waiting = page.waitForEvent("download");
      await page.getByRole("button", { name, exact: true }).click();
      return readFileSync(await (await waiting).path());
    };
    const model = loadModel(await taken("Model file"));
    expect(isClassifier(model) && model.classes).toEqual(["first", "second"]);
    expect((await taken("ONNX")).length).toBeGreaterThan(1000);
    const html = (await taken("Web page")).toString();
    expect(complaints).toEqual([]);
    const alone = await page.context().newPage();
    await alone.setContent(html);
    const box = await alone.locator("canvas").boundingBox();
    const at = ([x, y]: readonly [number, number]) =>
      [(box?.x ?? 0) + x * (box?.width ?? 0), (box?.y ?? 0) + y * (box?.height ?? 0)] as const;
    for (const [stroke, answer] of [
      [LINE, "first"],
      [RING, "second"],
    ] as const) {
      await alone.mouse.move(...at(stroke[0]));
      await alone.mouse.down();
      for (const point of stroke) await alone.mouse.move(...at(point), { steps: 3 });
      await alone.mouse.up();
      expect(await alone.locator("output").textContent()).toBe(answer);
      await alone.getByRole("button", { name: "Clear" }).click();
    }
  });

  it("takes a folder of pictures for each class", async () => {
    const { page, complaints } = await open();
    const folder = mkdtempSync(join(tmpdir(), "ranksim-teach-"));
    for (const [c, name] of ["bars", "dots"].entries()) {
      mkdirSync(join(folder, name));
      for (let j = 0; j < 6; j++) {
        const data = Uint8Array.from({ length: 40 * 40 }, (_, p) =>
          c === 0 ? ((p + 2 * j) % 8 < 3 ? 240 : 20) : (p * 7919 + j) % 11 < 2 ? 240 : 20,
        );
        writeFileSync(join(folder, name, `${j}.png`), encode({ width: 40, height: 40, data, channels: 1 }));
      }
    }
    await page.getByTestId("teach-folder").setInputFiles(folder);
    await page.getByTestId("taught").getByText("Trained on 12 examples").waitFor();
    expect(await page.getByLabel("Name of the class").first().inputValue()).toBe("bars");
    rmSync(folder, { recursive: true });
    expect(complaints).toEqual([]);
  });

  it("asks for the camera only when it is switched on, and says what to do where it is not allowed", async () => {
    const { page } = await open();
    expect(await page.locator("video").count()).toBe(0);
    await page.getByRole("button", { name: "Camera" }).click();
    await page
      .getByRole("alert")
      .getByText(/camera/)
      .waitFor();
    await page.getByText("Camera", { exact: true }).waitFor();
  });
});
