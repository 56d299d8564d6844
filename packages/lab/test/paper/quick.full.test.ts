/** The whole reproduction on a few hundred rows. It runs as built, because every point is a process of its own. */

import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execPath } from "node:process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { EXPERIMENTS } from "../../src/paper/experiments/all.ts";
import { makeParts } from "../../src/paper/page.ts";
import { Results } from "../../src/runner/results.ts";

const paper = resolve(import.meta.dirname, "../../dist/paper/paper.js");

it.skipIf(!existsSync(paper))(
  "measures every point whose data are at hand (needs npm run build)",
  { timeout: 900_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "ranksim-paper-quick-"));
    try {
      const run = () => promisify(execFile)(execPath, [paper, "--quick", "--results", folder], { maxBuffer: 1 << 24 });
      expect((await run()).stdout).toContain("| the paper says |");

      const results = new Results(folder);
      const points = EXPERIMENTS.flatMap((experiment) => experiment.points(true));
      for (const point of points) {
        const row = results.find(point);
        const absent = /not at hand|cannot load sklearn/.test(row?.failure ?? "");
        expect(row?.runs === 1 || absent, `${point.name}: ${row?.failure}`).toBe(true);
      }
      const { parts, plots } = makeParts(results, true, ".");
      for (const { title } of EXPERIMENTS) expect(parts.figures).toContain(`## ${title}`);
      for (const { name } of plots) {
        const svg = readFileSync(join(folder, name), "utf8").trimEnd();
        expect([svg.startsWith("<svg "), svg.endsWith("</svg>")], name).toEqual([true, true]);
      }

      if (points.every((point) => results.find(point)?.runs === 1)) {
        expect((await run()).stderr).toContain(" 0 to measure");
        expect(makeParts(new Results(folder), true, ".").parts).toEqual(parts);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
