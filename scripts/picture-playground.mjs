/**
 * Takes the pictures of the playground that the documents show, and the card that links to it show: run it after a change of
 * the first screen, and look at what it made. Needs what `page-in-chromium.mjs` does.
 *
 *   node scripts/picture-playground.mjs [FOLDER]     FOLDER: docs unless said
 */

import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { animatedPng } from "./animated-png.mjs";
import { withPage } from "./page-in-chromium.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const out = resolve(process.argv[2] ?? join(root, "docs"));

const SCREENS = [
  { name: "playground-light", viewport: { width: 1440, height: 900 }, colorScheme: "light" },
  { name: "playground-dark", viewport: { width: 1440, height: 900 }, colorScheme: "dark" },
  { name: "playground-phone", viewport: { width: 390, height: 844 }, colorScheme: "light", deviceScaleFactor: 2 },
];

/** Digits as strokes, in shares of the canvas. */
const STROKES = {
  3: [
    [0.28, 0.2],
    [0.42, 0.08],
    [0.62, 0.12],
    [0.66, 0.3],
    [0.46, 0.47],
    [0.66, 0.58],
    [0.68, 0.8],
    [0.48, 0.92],
    [0.28, 0.84],
  ],
  7: [
    [0.26, 0.1],
    [0.74, 0.1],
    [0.6, 0.42],
    [0.48, 0.92],
  ],
};

/** The recording: frames a second, and how many of them for each digit and for a pause after it. */
const FRAMES = { rate: 10, digit: 32, pause: 18 };

await withPage(async (browser, address) => {
  const open = (options) => openPage(browser, address, options);
  for (const { name, ...options } of SCREENS) {
    const page = await open(options);
    await page.screenshot({ path: join(out, `${name}.png`) });
    console.log(join(out, `${name}.png`));
    await page.context().close();
  }
  await record(open, join(out, "playground-drawing.png"));
  await takeCard(open, join(root, "packages/playground/public/card.png"));
});

/** The page with an answer on it. */
async function openPage(browser, address, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  await page.goto(address);
  await page.getByTestId("result").waitFor();
  await page.getByTestId("verdict").locator(".answer").waitFor();
  await page.locator(".wall button.tile").first().waitFor();
  await page.waitForTimeout(500);
  return page;
}

/** A point at a share of the way along a stroke. */
function along(stroke, share) {
  const at = Math.min(stroke.length - 1.000001, share * (stroke.length - 1));
  const [[x, y], [nextX, nextY]] = [stroke[Math.floor(at)], stroke[Math.floor(at) + 1]];
  const rest = at - Math.floor(at);
  return [x + rest * (nextX - x), y + rest * (nextY - y)];
}

/** Records two digits being drawn, with the wall lighting up. */
async function record(open, path) {
  const page = await open({ viewport: { width: 1200, height: 640 }, colorScheme: "light" });
  const stage = await page.locator(".stage").boundingBox();
  const rows = await page.locator(".rows").boundingBox();
  const clip = { x: 0, y: 0, width: 1200, height: Math.min(640, Math.round(rows.y - stage.y + stage.y)) };
  const frames = [];
  const shoot = async (count) => {
    const picture = await page.screenshot({ clip });
    frames.push({ picture, count });
  };
  for (const stroke of Object.values(STROKES)) {
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await page.waitForTimeout(200);
    await shoot(5);
    const box = await page.getByTestId("painter").boundingBox();
    const move = ([x, y]) => page.mouse.move(box.x + x * box.width, box.y + y * box.height);
    await move(stroke[0]);
    await page.mouse.down();
    for (let frame = 1; frame <= FRAMES.digit; frame++) {
      for (let part = 3; part >= 0; part--) await move(along(stroke, (frame - part / 4) / FRAMES.digit));
      await page.waitForTimeout(60);
      await shoot(1);
    }
    await page.mouse.up();
    await page.waitForTimeout(300);
    await shoot(FRAMES.pause - 5);
  }
  const bytes = animatedPng(frames, FRAMES.rate);
  await writeFile(path, bytes);
  console.log(`${path}, ${(bytes.length / 1e6).toFixed(2)} MB`);
  await page.context().close();
}

/** The picture that a link to the page is shown with: the one that the page itself makes of an answer. */
async function takeCard(open, path) {
  const page = await open({ viewport: { width: 1440, height: 900 } });
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Picture", exact: true }).click();
  await (await downloading).saveAs(path);
  console.log(path);
  await page.context().close();
}
