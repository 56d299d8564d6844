/**
 * Draws the pictures of Fashion-MNIST that the documents show: filters, an image with its strongest filters, what tuning finds. Run it
 * after a change of how they are drawn, and look at what it made. Needs `npm run build:code` and the data set (`ranksim data get
 * fashion-mnist`); tuning takes the time that its caption in the README says.
 *
 *   node scripts/picture-documents.mjs [FOLDER] [--no-tuning]     FOLDER: docs unless said
 */

import { execFileSync } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Resvg } from "@resvg/resvg-js";

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
  command("report", "fashion.model", "fashion-mnist:test", "--out", "report.html", "--png", "pictures");
  await copyFile(join(folder, "pictures/filters.png"), join(out, "filters.png"));
  await copyFile(join(folder, "pictures/row-0.png"), join(out, "strongest.png"));
  if (!given.includes("--no-tuning")) {
    command("tune", "fashion-mnist:test", "--seconds", TUNING_SECONDS, "--plot", "tuning.svg");
    const svg = await readFile(join(folder, "tuning.svg"), "utf8");
    await writeFile(
      join(out, "tuning.png"),
      new Resvg(svg, { fitTo: { mode: "width", value: 1500 } }).render().asPng(),
    );
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
