/** `ranksim serve` with more work than it can do: it goes on answering, and takes memory that is bounded. */

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Dense, RankSimilarityClassifier, saveModel } from "@ranksim/core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { makeWorld, type World } from "./world.ts";

const bin = fileURLToPath(new URL("../dist/bin.js", import.meta.url));

let world: World;
let child: ChildProcess;
beforeAll(() => {
  world = makeWorld();
});
afterEach(() => child.kill("SIGKILL"));
afterAll(() => world.remove());

const numbers = (count: number) => Float64Array.from({ length: count }, (_, i) => ((i * 16_807) % 1009) / 7);

/** Serves a model of so many classes; the address. */
async function serve(classes: number, features: number): Promise<string> {
  const y = Array.from({ length: 2000 }, (_, r) => `class ${r % classes}`);
  const x = Dense.of(numbers(2000 * features), 2000, features);
  writeFileSync(world.path("m.ranksim"), saveModel(await new RankSimilarityClassifier({ filters: "auto" }).fit(x, y)));
  child = spawn(process.execPath, [bin, "serve", "m.ranksim", "--port", "0", "--json"], { cwd: world.folder });
  return new Promise((resolve) => child.stdout?.on("data", (line) => resolve(JSON.parse(line).address)));
}

async function ask(address: string, rows: number, features: number): Promise<number> {
  const body = JSON.stringify({
    rows: Array.from({ length: rows }, () => [...numbers(features)]),
    probabilities: rows > 1,
  });
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`${address}/predict`, { method: "POST", headers, body });
  await response.arrayBuffer();
  return response.status;
}

/** The most memory that the server had, in MB. */
const mostMemory = () =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1000;

test.skipIf(process.platform !== "linux")(
  "24 clients with 10,000 rows each, again and again, and then one row",
  async () => {
    const address = await serve(50, 3);
    expect(await ask(address, 1, 3)).toBe(200);
    const until = performance.now() + 25_000;
    const statuses: number[] = [];
    const client = async () => {
      while (performance.now() < until) statuses.push(await ask(address, 10_000, 3));
    };
    await Promise.all(Array.from({ length: 24 }, client));
    const began = performance.now();
    expect(await ask(address, 1, 3)).toBe(200);
    expect(performance.now() - began).toBeLessThan(1000);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    expect(mostMemory()).toBeLessThan(600);
  },
  120_000,
);

test.skipIf(process.platform !== "linux")(
  "40 requests of 20,000 rows for 1,000 classes",
  async () => {
    const address = await serve(1000, 2);
    const statuses = await Promise.all(Array.from({ length: 40 }, () => ask(address, 20_000, 2)));
    expect(new Set(statuses)).toEqual(new Set([413]));
    expect(await ask(address, 1, 2)).toBe(200);
    expect(mostMemory()).toBeLessThan(600);
  },
  120_000,
);
