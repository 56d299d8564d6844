/** No command undoes what another does at the same time, or writes over what it reads from standard input. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";
import { loadModel } from "@ranksim/core";
import { filterPart } from "@ranksim/learn";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeWorld, type World } from "./world.ts";

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const ROWS = 300;

let world: World;
let plain: Buffer;
beforeAll(async () => {
  world = makeWorld();
  const lines = Array.from({ length: ROWS }, (_, r) => `${r % 7},${(r * 3) % 11},${r % 5},${r % 3},${"ab"[r % 2]}`);
  writeFileSync(world.path("rows.csv"), `p,q,r,s,label\n${lines.join("\n")}\n`);
  const line =
    "train rows.csv --label label --estimator classifier --set table=false --filters 20 --keep-sums -m m.ranksim";
  expect(await world.ranksim(line)).toMatchObject({ code: 0 });
  plain = readFileSync(world.path("m.ranksim"));
});
afterAll(() => world.remove());

const rowsIn = (name: string) => filterPart(loadModel(readFileSync(world.path(name))))?.part.report.rows;

describe.skipIf(!existsSync(BIN))("the built command (npm run build)", () => {
  const update = (name: string) =>
    spawn(process.execPath, [BIN, "update", name, "rows.csv"], {
      cwd: world.folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
  const outcome = (child: ChildProcess) =>
    new Promise<{ code: number | null; stderr: string }>((resolve) => {
      let stderr = "";
      child.stderr?.on("data", (chunk) => {
        stderr += chunk;
      });
      child.on("close", (code) => resolve({ code, stderr }));
    });

  test("of four at once, each adds its rows or says that it did not", async () => {
    writeFileSync(world.path("four.ranksim"), plain);
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => outcome(update("four.ranksim"))));
    const done = outcomes.filter(({ code }) => code === 0).length;
    expect(done).toBeGreaterThan(0);
    for (const { code, stderr } of outcomes) {
      if (code === 0) continue;
      expect(code).toBe(1);
      expect(stderr).toMatch("four.ranksim: another process changed it since it was read, and nothing was written");
    }
    expect(rowsIn("four.ranksim")).toBe(ROWS * (1 + done));
    expect(readdirSync(world.folder).filter((name) => name.includes("four"))).toEqual(["four.ranksim"]);
  });
});

test("a model that changed while rows were added is left alone", async () => {
  writeFileSync(world.path("changed.ranksim"), plain);
  await world.ranksim("update changed.ranksim rows.csv --out other.ranksim");
  const other = readFileSync(world.path("other.ranksim"));
  expect(rowsIn("other.ranksim")).toBe(2 * ROWS);
  // The rows come from standard input, and the model changes before they are there.
  async function* late() {
    await new Promise((resume) => setTimeout(resume, 300));
    writeFileSync(world.path("changed.ranksim"), other);
    yield readFileSync(world.path("rows.csv"));
  }
  const { code, stderr } = await world.ranksim("update changed.ranksim - --format csv", { stdin: late() });
  expect([code, stderr]).toEqual([1, expect.stringContaining("another process changed it since it was read")]);
  expect(readFileSync(world.path("changed.ranksim")).equals(other)).toBe(true);
});

test("the lock of a process that was killed is no obstacle, that of one at work is", async () => {
  const lock = world.path(".locked.ranksim.lock");
  writeFileSync(world.path("locked.ranksim"), plain);
  writeFileSync(lock, `${process.ppid} ${hostname()}`);
  expect(await world.ranksim("update locked.ranksim rows.csv")).toMatchObject({ code: 1 });
  writeFileSync(lock, `1 another-machine-than-${hostname()}`);
  expect(await world.ranksim("update locked.ranksim rows.csv")).toMatchObject({ code: 1 });
  expect(readFileSync(world.path("locked.ranksim")).equals(plain)).toBe(true);
  writeFileSync(lock, `4194304 ${hostname()}`); // beyond the largest process number
  expect(await world.ranksim("update locked.ranksim rows.csv")).toMatchObject({ code: 0 });
  expect(rowsIn("locked.ranksim")).toBe(2 * ROWS);
  expect(existsSync(lock)).toBe(false);
});

describe.skipIf(!existsSync(BIN))("the built command (npm run build)", () => {
  test.each([
    ["train - --format csv --label label -m rows2.csv", "rows2.csv"],
    ["predict m.ranksim - --format csv --columns label:ignore --out rows2.csv", "rows2.csv"],
    ["predict - rows.csv --out copy.ranksim", "copy.ranksim"],
    ["report m.ranksim - --format csv --label label --out link.csv", "rows2.csv"],
  ])("never writes over its standard input: %s", (line, name) => {
    writeFileSync(world.path("rows2.csv"), readFileSync(world.path("rows.csv")));
    writeFileSync(world.path("copy.ranksim"), plain);
    if (!existsSync(world.path("link.csv"))) symlinkSync("rows2.csv", world.path("link.csv"));
    const before = readFileSync(world.path(name));
    const input = openSync(world.path(name), "r");
    const { status, stderr } = spawnSync(process.execPath, [BIN, ...line.split(" ")], {
      cwd: world.folder,
      stdio: [input, "ignore", "pipe"],
      encoding: "utf8",
    });
    closeSync(input);
    expect([status, stderr]).toEqual([1, expect.stringContaining("is read by this command, as its standard input")]);
    expect(readFileSync(world.path(name)).equals(before)).toBe(true);
  });
});
