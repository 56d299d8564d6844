/**
 * How soon the playground answers, by the clock: opens the page in a new Chromium profile, time after time, and says when the first
 * answer stood on the screen, counted from the request for the page. Needs what `page-in-chromium.mjs` does.
 *
 *   node scripts/time-playground.mjs [TIMES]     TIMES: 10 unless said
 */

import { cpus, loadavg } from "node:os";
import { withPage } from "./page-in-chromium.mjs";

const times = Number(process.argv[2] ?? 10);

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

await withPage(async (browser, address) => {
  const found = [];
  for (let j = 0; j < times; j++) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.addInitScript(watch);
    await page.goto(address);
    found.push(await (await page.waitForFunction(() => window.answered, undefined, { timeout: 60_000 })).jsonValue());
    await context.close();
  }
  found.sort((a, b) => a - b);
  const show = (share) => `${Math.round(found[Math.floor(share * (found.length - 1))])} ms`;
  const machine = `${cpus().length} × ${cpus()[0].model}, load ${loadavg()[0].toFixed(1)}`;
  console.log(`first answer: median ${show(0.5)}, least ${show(0)}, most ${show(1)} of ${times} loads; ${machine}`);
});
