/**
 * A Chromium to look at pages with (its path in RANKSIM_CHROMIUM, or where Debian puts it), and the playground, built from its sources
 * and served. Needs `npm run build:code`.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { build } from "vite";
import { servePage } from "../packages/cli/dist/play/serve.js";

/** Calls `work` with the browser and the address of the page; leaves nothing behind. */
export async function withPage(work) {
  const folder = await mkdtemp(join(tmpdir(), "ranksim-page-"));
  const configFile = fileURLToPath(new URL("../packages/playground/vite.config.ts", import.meta.url));
  await build({ configFile, logLevel: "error", build: { outDir: folder, emptyOutDir: true } });
  const served = await servePage({ folder });
  try {
    await withBrowser((browser) => work(browser, served.address));
  } finally {
    await served.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Calls `work` with a browser and closes it. */
export async function withBrowser(work) {
  const browser = await chromium.launch({
    executablePath: process.env.RANKSIM_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu"],
  });
  try {
    await work(browser);
  } finally {
    await browser.close();
  }
}
