/**
 * How soon the playground answers, by the clock: opens the page in a new Chromium profile, time after time, and says when the first
 * answer stood on the screen, counted from the request for the page. Needs `npm run build:code` and a Chromium (its path in
 * RANKSIM_CHROMIUM, or where Debian puts it).
 *
 *   node scripts/time-playground.mjs [TIMES]     TIMES: 10 unless said
 */

import { mkdtemp, rm } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { build } from "vite";
import { servePage } from "../packages/cli/dist/play/serve.js";

const times = Number(process.argv[2] ?? 10);
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "ranksim-time-"));
await build({
  configFile: join(root, "packages/playground/vite.config.ts"),
  logLevel: "error",
  build: { outDir: folder, emptyOutDir: true },
});
const served = await servePage({ folder });
const browser = await chromium.launch({
  executablePath: process.env.RANKSIM_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu"],
});

/** Notes when an answer is first painted: two frames after it is in the page. */
const watch = () => {
  const look = () => {
    if (!document.querySelector("[data-testid=verdict] .answer")) return requestAnimationFrame(look);
    requestAnimationFrame(() =>
      requestAnimationFrame((now) => {
        window.answered = now;
      }),
    );
  };
  addEventListener("DOMContentLoaded", look);
};

try {
  const found = [];
  for (let j = 0; j < times; j++) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.addInitScript(watch);
    await page.goto(served.address);
    found.push(await (await page.waitForFunction(() => window.answered, undefined, { timeout: 60_000 })).jsonValue());
    await context.close();
  }
  found.sort((a, b) => a - b);
  const show = (share) => `${Math.round(found[Math.floor(share * (found.length - 1))])} ms`;
  const machine = `${cpus().length} × ${cpus()[0].model}, load ${loadavg()[0].toFixed(1)}`;
  console.log(`first answer: median ${show(0.5)}, least ${show(0)}, most ${show(1)} of ${times} loads; ${machine}`);
} finally {
  await browser.close();
  await served.close();
  await rm(folder, { recursive: true, force: true });
}
