/** Accuracy: tables show and judge what was measured, drawn tables are the same again, and small runs of the rows work. */

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Backend, Dense, openBackend } from "@ranksim/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TABLES } from "../../src/accuracy/all.ts";
import { Shelf } from "../../src/accuracy/shelf.ts";
import { type AccuracyTable, type Bench, shownGoals, shownTable } from "../../src/accuracy/table.ts";
import { dataTables } from "../../src/accuracy/tables/data-tables.ts";
import { drawTable } from "../../src/accuracy/tables/draw-table.ts";
import { knots } from "../../src/accuracy/tables/knots.ts";
import { neighbourAccuracy } from "../../src/accuracy/tables/neighbours.ts";
import { novelty } from "../../src/accuracy/tables/novelty.ts";
import { partialFit } from "../../src/accuracy/tables/partial-fit.ts";
import { frontOf, type Method, peersPicture } from "../../src/accuracy/tables/peers-picture.ts";
import { neighbours } from "../../src/accuracy/tables/vq/neighbours.ts";
import { dataFolder } from "../../src/runner/machine.ts";
import { ONE_THREAD } from "../../src/runner/process.ts";
import { Results, summarize } from "../../src/runner/results.ts";

const folder = mkdtempSync(join(tmpdir(), "ranksim-accuracy-test-"));
let backend: Backend;
let bench: Bench;
beforeAll(async () => {
  backend = await openBackend("wasm");
  const workshop = { scratch: folder, python: "/usr/bin/python3", pythonEnv: ONE_THREAD, limitSeconds: 120 };
  bench = { shelf: new Shelf(dataFolder(undefined)), backend, workshop, quick: true };
});
afterAll(async () => {
  await backend.close();
  rmSync(folder, { recursive: true });
});

const fake: AccuracyTable = {
  name: "fake",
  title: "A fake",
  columns: { score: "score", other: "other score", fitCpu: "fit, s" },
  rows: [
    {
      name: "a row",
      measure: async () => ({}),
      least: { score: 0.5, other: "score" },
      most: { fitCpu: 1 },
    },
  ],
};

it("shows medians with their range, and whether rows reached what they had to", () => {
  const results = new Results(folder);
  expect(shownTable(fake, results)).toBe("Not measured yet.");
  const runs = [0.5, 0.25, 0.75].map((score) => ({ figures: { score, other: 0.4, fitCpu: 1.04 } }));
  results.put(summarize({ name: "a row" }, "1234567", runs));
  expect(shownTable(fake, results)).toContain("| a row | 0.5000 (0.2500–0.7500) | 0.4000 | 1.04 | 3 | 1234567 |");
  const goals = shownGoals([fake], results);
  expect(goals).toContain("| a row: score | ≥ 0.5000 | 0.5000 | met |");
  expect(goals).toContain("| a row: other score | ≥ 0.5000 (score) | 0.4000 | **missed** |");
  expect(goals).toContain("| a row: fit, s | ≤ 1.00 | 1.04 | **missed** |");
});

it("has tables and rows of different names, by which results are found", () => {
  const rows = TABLES.flatMap((one) => one.rows.map(({ name }) => name));
  expect(new Set(rows).size).toBe(rows.length);
  expect(new Set(TABLES.map(({ name }) => name)).size).toBe(TABLES.length);
});

it("puts on the front what nothing is as good and as cheap as", () => {
  const method = (title: string, macro: number, fitCpu: number): Method => {
    return { title, isOwn: false, macro, fitCpu, predictCpu: 1, bytes: 1, macs: 1 };
  };
  const methods = [
    method("a", 0.9, 10),
    method("b", 0.8, 10),
    method("c", 0.8, 5),
    method("d", 0.7, 6),
    method("e", 0.9, 10),
  ];
  expect([...frontOf(methods, "fitCpu")].map(({ title }) => title)).toEqual(["a", "c", "e"]);
  expect(peersPicture(methods)).toMatch(/^<svg .*multiply-adds.*<\/svg>\n$/s);
});

describe("small runs", () => {
  it("add rows in ten parts", async () => {
    const { one, shards, lower } = await partialFit.rows[0].measure(0, bench);
    expect(one).toBeGreaterThan(0.9);
    expect(shards).toBeGreaterThan(0.85);
    expect(lower).toBe(one - shards);
  });

  it("tell rows of another kind", async () => {
    const { balanced, known } = await novelty.rows[0].measure(0, bench);
    expect(balanced).toBeGreaterThan(0.8);
    expect(known).toBeLessThan(0.2);
  });

  it("judge knots and voters beside neighbours", async () => {
    const { knots5voters9, neighbours } = await knots.rows[0].measure(0, bench);
    for (const accuracy of [knots5voters9, neighbours]) {
      expect(accuracy).toBeGreaterThan(0.3);
      expect(accuracy).toBeLessThanOrEqual(1);
    }
  });

  it("find neighbours in all lists and in some", async () => {
    const row = neighbours.rows.find(({ name }) => name === "**RankIndex**, drawn");
    const figures = (await row?.measure(0, bench)) ?? {};
    expect(figures["recall@all lists"]).toBe(1);
    const [few, many] = [8, 32].map((lists) => figures[`recall@${lists} of 49 lists`]);
    expect(few).toBeGreaterThan(0.2);
    expect(many).toBeGreaterThan(few);
  });

  const tables = resolve(dataFolder(undefined) ?? ".", "tables");
  it.skipIf(!existsSync(tables))("judge presets and peers on the same folds (needs a folder of tables)", async () => {
    const figures: { [name: string]: number } = {};
    for (const what of ["balanced", "peers"]) {
      const row = dataTables.rows.find(({ name }) => name === `biopsy, ${what}`);
      Object.assign(figures, await row?.measure(0, bench));
    }
    expect(figures.rows).toBe(120);
    for (const method of ["balanced", "linear", "neighbours", "forest", "boosting"]) {
      expect({ method, isGood: figures[method] > 0.85 }).toEqual({ method, isGood: true });
      expect(figures[`${method}Error`]).toBeLessThan(0.15);
    }
  });
});

describe("drawn tables", () => {
  it("are the same again, and more rows of one go on from fewer", () => {
    const few = drawTable(3, 40);
    const many = drawTable(3, 90);
    expect(many.x.slice(0, 40).values).toEqual(few.x.values);
    expect(many.y.slice(0, 40)).toEqual(few.y);
    expect(drawTable(4, 40).x.values).not.toEqual(few.x.values);
  });

  it("have five nearest rows on scaled columns", async () => {
    // The second column is a thousand times larger and tells nothing: unscaled, it would decide.
    const rows = Array.from({ length: 40 }, (_, r) => [r % 2, ((r * 7919) % 40) * 1000]);
    const x = Dense.fromRows(rows);
    const y = rows.map(([label]) => label);
    expect(await neighbourAccuracy(x, y, x, y)).toBe(1);
  });
});
