/** The small, deterministic run of the fuzzers, and the page that shows the counts of the long one. */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Draw } from "../../src/differential/draw.ts";
import { attack, newTally } from "../../src/fuzz/attack.ts";
import { type FuzzResults, fuzzTable, RESULTS } from "../../src/fuzz/fuzz.ts";
import { modelTarget } from "../../src/fuzz/models.ts";
import { mutate } from "../../src/fuzz/mutate.ts";
import { readerTargets } from "../../src/fuzz/readers.ts";

const SEED = 1;
const CASES = 2000;
const fixtures = new URL("../../../data/test/fixtures/", import.meta.url);

test(`${CASES} damaged models are inspected, asked and explained, or refused`, { timeout: 240_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "ranksim-fuzz-"));
  try {
    const target = await modelTarget((name, text) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    });
    const tally = newTally(target.name);
    await attack(target, SEED, 0, CASES, tally);
    expect(tally.findings).toEqual([]);
    expect(tally.cases).toBe(CASES);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each(readerTargets(fixtures).map((target) => [target.name, target] as const))(
  `${CASES} damaged files are read or refused: %s`,
  async (_, target) => {
    const tally = newTally(target.name);
    await attack(target, SEED, 0, CASES, tally);
    expect(tally.findings).toEqual([]);
    expect(tally.cases).toBe(CASES);
  },
);

test("a finding names what repeats it: equal draws give equal damage", () => {
  const good = Uint8Array.from({ length: 300 }, (_, i) => i);
  expect(mutate(good, new Draw(3, 7))).toEqual(mutate(good, new Draw(3, 7)));
  const different = Array.from({ length: 50 }, (_, number) => mutate(good, new Draw(3, number)).join());
  expect(new Set(different).size).toBeGreaterThan(40);
});

test("an attempt that goes wrong or takes too long is a finding", async () => {
  const tally = newTally("bad");
  await attack({ name: "bad", attempt: async () => ["an internal error"] }, 5, 3, 5, tally);
  expect(tally.findings).toEqual(
    [3, 4].map((number) => ({ target: "bad", seed: 5, case: number, wrong: "an internal error" })),
  );
});

test.skipIf(!existsSync(RESULTS))("RELIABILITY.md shows the counts of the last long run", () => {
  const results = JSON.parse(readFileSync(RESULTS, "utf8")) as FuzzResults;
  const page = readFileSync(new URL("../../../../RELIABILITY.md", import.meta.url), "utf8");
  expect(page).toContain(fuzzTable(results));
  expect(page).toContain(`seed ${results.seed}`);
});
