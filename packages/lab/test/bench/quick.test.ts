/** The whole benchmark on small parts. It runs as built, because every measurement is a process of its own. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execPath } from "node:process";
import { expect, it } from "vitest";
import { KERNELS, planCases, planGrowth } from "../../src/bench/plan.ts";
import type { BenchResults } from "../../src/bench/results.ts";

const bench = resolve(import.meta.dirname, "../../dist/bench/bench.js");

it.skipIf(!existsSync(bench))("measures everything that is at hand (needs npm run build)", { timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "ranksim-quick-"));
  try {
    const printed = execFileSync(execPath, [bench, "--quick", "--results", folder], {
      encoding: "utf8",
      stdio: "pipe",
    });
    const results = JSON.parse(readFileSync(join(folder, "bench.json"), "utf8")) as BenchResults;
    const missing = results.missing.map(({ name }) => name);

    expect(printed).toContain("### Targets");
    expect(results.growth.map(({ runs }) => runs.length)).toEqual(planGrowth(true).map(() => 1));
    // Without a path the Newsgroups are missing, and are said to be.
    expect(missing).toContain("20 Newsgroups");
    expect(missing).toContain("the authors' Python package");
    if (!missing.includes("Fashion-MNIST")) {
      const planned = planCases(true).filter(
        ({ data, system }) => data !== "newsgroups" && !system.startsWith("authors"),
      );
      for (const { work, system } of planned) {
        if (missing.some((name) => system.startsWith(name) || name === "python3")) continue;
        const found = results.measurements.find((m) => m.work === work && m.system === system);
        expect(found, `${work}, ${system}`).toMatchObject({ runs: [expect.anything()] });
      }
      expect(results.kernels.length).toBe(KERNELS.length);
      expect(results.startUp.length).toBeGreaterThan(0);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
