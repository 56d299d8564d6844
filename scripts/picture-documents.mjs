/**
 * Draws the pictures of Fashion-MNIST that the documents show: filters, an image with its strongest filters, what tuning finds. Run it
 * after a change of how they are drawn, and look at what it made. Needs `npm run build:code` and the data set (`ranksim data get
 * fashion-mnist`); tuning takes the time that its caption in the README says. A Chromium takes the pictures.
 *
 *   node scripts/picture-documents.mjs [FOLDER] [--no-tuning]     FOLDER: docs unless said
 */

import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { withBrowser } from "./page-in-chromium.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const given = process.argv.slice(2);
const out = resolve(given.find((argument) => !argument.startsWith("--")) ?? join(root, "docs"));

/** Seconds that tuning may take. */
const TUNING_SECONDS = "90";

const folder = await mkdtemp(join(tmpdir(), "ranksim-pictures-"));
const command = (...words) =>
  execFileSync(process.execPath, [join(root, "packages/cli/bin/ranksim.js"), ...words], {
    cwd: folder,
    stdio: "inherit",
  });

try {
  command("train", "fashion-mnist:train", "--estimator", "classifier", "--filters", "300", "--model", "fashion.model");
  command("report", "fashion.model", "fashion-mnist:test", "--out", "report.html");
  await picture("report.html", ".classes", "filters.png");
  await picture("report.html", ".strip", "strongest.png");
  if (!given.includes("--no-tuning")) {
    command("tune", "fashion-mnist:test", "--seconds", TUNING_SECONDS, "--plot", "tuning.svg");
    await picture("tuning.svg", "svg", "tuning.png");
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** The first part of a file that the selector finds, sharp enough for print. */
async function picture(file, selector, name) {
  await withBrowser(async (browser) => {
    const page = await browser.newPage({ viewport: { width: 1100, height: 900 }, deviceScaleFactor: 2 });
    await page.goto(pathToFileURL(join(folder, file)).href);
    await page
      .locator(selector)
      .first()
      .screenshot({ path: join(out, name) });
  });
}
