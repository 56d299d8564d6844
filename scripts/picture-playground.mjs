/**
 * Takes the pictures of the playground that the documents show, and the card that links to it show: run it after a change of
 * the first screen, and look at what it made. Needs what `page-in-chromium.mjs` does, and `img2webp` (Debian's package webp).
 *
 *   node scripts/picture-playground.mjs [FOLDER]     FOLDER: docs unless said
 */

import { execFileSync } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { withPage } from "./page-in-chromium.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const out = resolve(process.argv[2] ?? join(root, "docs"));

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

/** The recording: milliseconds of a frame, frames of each digit, and frames' times that it then stands still. */
const FRAMES = { milliseconds: 100, digit: 32, pause: 18 };

await withPage(async (browser, address) => {
  const open = (options) => openPage(browser, address, options);
  await takeScreen(open, join(out, "playground-light.png"));
  await record(open, join(out, "playground-drawing.webp"));
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

/** The first screen. */
async function takeScreen(open, path) {
  const page = await open({ viewport: { width: 1440, height: 900 }, colorScheme: "light" });
  await page.screenshot({ path });
  console.log(path);
  await page.context().close();
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
  const folder = await mkdtemp(join(tmpdir(), "ranksim-frames-"));
  const frames = [];
  const shoot = async (count) => {
    const frame = join(folder, `${frames.length}.png`);
    await page.screenshot({ clip, path: frame });
    frames.push(["-d", String(count * FRAMES.milliseconds), frame]);
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
  execFileSync("img2webp", ["-loop", "0", "-lossy", "-q", "30", "-m", "6", ...frames.flat(), "-o", path]);
  await rm(folder, { recursive: true });
  console.log(`${path}, ${Math.round((await stat(path)).size / 1000)} kB`);
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
