/** `ranksim spikes`: figures that the simulation gives, on a page without scripts. */

import { readFileSync, writeFileSync } from "node:fs";
import { parseHTML } from "linkedom";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EXAMPLE_CONTENTS, makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = makeWorld();
  await world.ranksim("train --estimator classifier digits:train --filters 40 --model digits.ranksim");
});
afterAll(() => world.remove());

describe("ranksim spikes", () => {
  test("makes a page in which pixels appear and bars race", async () => {
    const line = "spikes digits.ranksim digits:test --rows 60 --row 7 --out spikes.html --json";
    const { code, stdout } = await world.ranksim(line);
    expect(code).toBe(0);
    const found = JSON.parse(stdout);
    expect(found.rows).toBe(60);
    expect(found.spikesNeeded).toBeLessThan(found.spikes);
    const text = readFileSync(world.path("spikes.html"), "utf8");
    expect(text).not.toContain("<script");
    const { document } = parseHTML(text);
    expect(document.querySelector("h2:nth-of-type(1)")?.textContent).toBe("How soon the class shows");
    // One racer for each of ten digits, a hand of the clock, and a pixel for each spike.
    const moved = Array.from(document.querySelectorAll("animate"), (each) => each.getAttribute("attributeName"));
    expect(moved.filter((name) => name === "width")).toHaveLength(10);
    expect(moved.filter((name) => name === "cx")).toHaveLength(1);
    expect(moved.filter((name) => name === "opacity").length).toBeGreaterThan(20);
  });

  test("draws dots where rows are no images, and takes rows without labels", async () => {
    const lines = EXAMPLE_CONTENTS["plants.csv"].split("\n");
    const whole = lines.map((line, r) =>
      r === 0 ? line : line.replace(/[\d.]+/g, (value) => String(Math.round(10 * Number(value)))),
    );
    writeFileSync(world.path("whole.csv"), whole.join("\n"));
    await world.ranksim("train --estimator classifier whole.csv --label species --filters 6 --model plants.ranksim");
    const { code, stderr } = await world.ranksim("spikes plants.ranksim whole.csv --out plants.html");
    expect([code, stderr.includes("error")]).toEqual([0, false]);
    expect(readFileSync(world.path("plants.html"), "utf8")).toContain("<circle");
  });

  test("shows the second layer of a model with patches, and counts the first", async () => {
    await world.ranksim("train digits:train --model preset.ranksim");
    const { code, stdout } = await world.ranksim(
      "spikes preset.ranksim digits:test --rows 20 --row 3 --out preset.html --json",
    );
    expect(code).toBe(0);
    const found = JSON.parse(stdout);
    expect(found.firstLayer.synapticEvents).toBeGreaterThan(found.firstLayer.spikes);
    expect(found.spikesNeeded).toBeLessThanOrEqual(found.spikes);
    const text = readFileSync(world.path("preset.html"), "utf8");
    expect(text).toContain("spikes of the second layer arriving");
    expect(text).toContain("spikes into windows");
    expect(text.length).toBeLessThan(400_000);
  });

  test("refuses a row that is not there, and rows that cannot spike", async () => {
    const missing = await world.ranksim("spikes digits.ranksim digits:test --row 100000");
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("--row: expected a row from 0 below")]);
    writeFileSync(world.path("plants.csv"), EXAMPLE_CONTENTS["plants.csv"]);
    await world.ranksim("train --estimator classifier plants.csv --label species --filters 6 --model fine.ranksim");
    const fine = await world.ranksim("spikes fine.ranksim plants.csv");
    expect([fine.code, fine.stderr]).toEqual([1, expect.stringContaining("scale the data to bytes")]);
  });
});
