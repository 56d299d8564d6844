/** `ranksim play`: the page is served until interrupted, with a model if one is named. */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loadModel } from "@ranksim/core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { makeWorld, type World } from "./world.ts";

const bin = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const isBuilt = existsSync(fileURLToPath(new URL("../dist/playground/index.html", import.meta.url)));

let world: World;
let child: ChildProcess | undefined;
beforeAll(async () => {
  world = makeWorld();
  await world.ranksim(["train", "--estimator", "classifier", "digits", "--filters", "20", "--model", "digits.ranksim"]);
});
afterEach(() => child?.kill());
afterAll(() => world.remove());

/** Starts the built command and waits for the address it prints. */
function play(...args: string[]): Promise<{ address: string; ended: Promise<number | null> }> {
  const started = spawn(process.execPath, [bin, "play", "--json", ...args], { cwd: world.path("") });
  child = started;
  const ended = new Promise<number | null>((resolve) => started.on("exit", resolve));
  return new Promise((resolve, reject) => {
    let printed = "";
    started.stdout.on("data", (chunk) => {
      printed += chunk;
      if (printed.endsWith("}\n")) resolve({ address: JSON.parse(printed).address, ended });
    });
    started.stderr.on("data", (chunk) => reject(new Error(String(chunk))));
  });
}

describe.skipIf(!isBuilt)("play (needs npm run build)", () => {
  test("serves the page and ends at an interrupt", async () => {
    const { address, ended } = await play();
    const page = await fetch(address);
    expect(page.status).toBe(200);
    expect(page.headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(await page.text()).toContain("<title>");
    child?.kill("SIGINT");
    expect(await ended).toBe(0);
  });

  test("serves a model that loads to the same predictions", async () => {
    const { address } = await play("digits.ranksim");
    const name = new URLSearchParams(new URL(address).hash.slice(1)).get("model");
    const bytes = new Uint8Array(await (await fetch(new URL(`/${name}`, address))).arrayBuffer());
    expect(loadModel(bytes).kind).toBe("classifier");
  });

  test("refuses a file that is no model, and a port that is none", async () => {
    const { ended } = await play("--port", "x").catch(() => ({
      ended: new Promise((done) => child?.on("exit", done)),
    }));
    expect(await ended).toBe(2);
    await expect(play("missing.ranksim")).rejects.toThrow(/no such file/);
  });
});
