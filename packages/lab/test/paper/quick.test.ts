/** The whole reproduction on a few hundred rows. It runs as built, because every point is a process of its own. */

import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execPath } from "node:process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { EXPERIMENTS } from "../../src/paper/experiments/all.ts";
import { Store } from "../../src/paper/store.ts";

const paper = resolve(import.meta.dirname, "../../dist/paper/paper.js");
const built = existsSync(paper);

it.skipIf(!built)(
  "measures every point whose data are at hand (needs npm run build)",
  { timeout: 900_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "ranksim-paper-quick-"));
    try {
      const run = () => promisify(execFile)(execPath, [paper, "--quick", "--results", folder], { maxBuffer: 1 << 24 });
      const first = await run();
      expect(first.stdout).toContain("## Claims and verdicts");

      const store = new Store(folder);
      const points = EXPERIMENTS.flatMap((experiment) => experiment.points(true));
      for (const point of points) {
        const result = store.find(point);
        const absent = /not at hand|no scikit-learn/.test(result?.failure ?? "");
        expect(result?.measured !== undefined || absent, `${point.name}: ${result?.failure}`).toBe(true);
      }
      const page = readFileSync(join(folder, "PAPER.md"), "utf8");
      for (const { title } of EXPERIMENTS) expect(page).toContain(`## ${title}`);
      for (const [, plot] of page.matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)) {
        const svg = readFileSync(join(folder, plot), "utf8").trimEnd();
        expect([svg.startsWith("<svg "), svg.endsWith("</svg>")], plot).toEqual([true, true]);
      }

      if (points.every((point) => store.find(point)?.measured)) {
        const second = await run();
        expect(second.stderr).toContain(" 0 to measure");
        expect(readFileSync(join(folder, "PAPER.md"), "utf8").split("## Data and machine")[0]).toBe(
          page.split("## Data and machine")[0],
        );
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
