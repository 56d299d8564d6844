/** `ranksim play`: the page is served until interrupted, with a model if one is named. */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { type Schema, schemaOf } from "@ranksim/core";
import { bytesSource, readData, type TableData } from "@ranksim/data";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { loadModel } from "../src/index.ts";
import { makeWorld, mixed, type World } from "./world.ts";

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
function play(...args: string[]): ReturnType<typeof playIn> {
  return playIn(process.env, ...args);
}

/** The same with variables of the environment. */
function playIn(
  env: NodeJS.ProcessEnv,
  ...args: string[]
): Promise<{ address: string; ended: Promise<number | null> }> {
  const started = spawn(process.execPath, [bin, "play", "--json", ...args], { cwd: world.path(""), env });
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

/** What comes back, byte for byte. */
function get(address: string, headers: OutgoingHttpHeaders): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> {
  return new Promise((resolve, reject) => {
    request(address, { headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part) => parts.push(part));
      response.on("end", () => resolve({ headers: response.headers, body: Buffer.concat(parts) }));
    })
      .on("error", reject)
      .end();
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

  test("sends text compressed to those who take it, the same bytes to all", async () => {
    const { address } = await play();
    const plain = await get(address, {});
    const small = await get(address, { "Accept-Encoding": "br, gzip;q=0.5" });
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(small.headers["content-encoding"]).toBe("gzip");
    expect(small.body.length).toBeLessThan(plain.body.length);
    expect(gunzipSync(small.body).equals(plain.body)).toBe(true);
    expect(small.headers.etag).toBe(plain.headers.etag);
    const icon = await get(new URL("/card.png", address).href, { "Accept-Encoding": "gzip" });
    expect(icon.headers["content-encoding"]).toBeUndefined();
  });

  test("opens the browser that BROWSER names", async () => {
    const opened = world.path("opened.txt");
    writeFileSync(world.path("browser"), `#!/bin/sh\nprintf %s "$1" > "${opened}"\n`, { mode: 0o755 });
    const { address } = await playIn({ ...process.env, BROWSER: world.path("browser") }, "--open");
    await expect.poll(() => existsSync(opened) && readFileSync(opened, "utf8")).toBe(address);
  });

  test("serves a model that loads to the same predictions", async () => {
    const { address } = await play("digits.ranksim");
    const name = new URLSearchParams(new URL(address).hash.slice(1)).get("model");
    const bytes = new Uint8Array(await (await fetch(new URL(`/${name}`, address))).arrayBuffer());
    expect(loadModel(bytes).kind).toBe("classifier");
  });

  test("serves rows beside a model of tables by the names of its columns", async () => {
    writeFileSync(world.path("mixed.csv"), mixed());
    await world.ranksim("train mixed.csv --label quality --model mixed.ranksim");
    const { address } = await play("mixed.ranksim", "mixed.csv");
    const view = new URLSearchParams(new URL(address).hash.slice(1));
    const get = async (name: string | null) =>
      new Uint8Array(await (await fetch(new URL(`/${name}`, address))).arrayBuffer());
    const model = loadModel<string>(await get(view.get("model")));
    const name = view.get("data") as string;
    const schema = schemaOf(model) as Schema;
    const data = await readData(bytesSource(await get(name), name), { schema, labelColumn: "quality" });
    const found = await model.predict((data as TableData).table);
    expect(data.y).toEqual(
      mixed()
        .trim()
        .split("\n")
        .slice(1)
        .map((line) => line.split(";")[5]),
    );
    const { stdout } = await world.ranksim("predict mixed.ranksim mixed.csv");
    expect(found).toEqual(stdout.trim().split("\n"));
  });

  test("refuses a file that is no model, and a port that is none", async () => {
    const { ended } = await play("--port", "x").catch(() => ({
      ended: new Promise((done) => child?.on("exit", done)),
    }));
    expect(await ended).toBe(2);
    await expect(play("missing.ranksim")).rejects.toThrow(/no such file/);
  });
});
