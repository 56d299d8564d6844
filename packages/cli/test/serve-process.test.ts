/** `ranksim serve` as a process: what it prints, SIGHUP, SIGTERM, and the lines its help and README show. */

import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ENDLESS_EXAMPLES } from "../src/commands/examples.ts";
import { EXAMPLE_CONTENTS, makeWorld, type World, words } from "./world.ts";

const bin = fileURLToPath(new URL("../dist/bin.js", import.meta.url));

let world: World;
let child: ChildProcess | undefined;
beforeAll(async () => {
  world = makeWorld();
  writeFileSync(world.path("reviews.csv"), EXAMPLE_CONTENTS["reviews.csv"]);
  await world.ranksim("train digits:train --filters 30 --model digits.ranksim");
  await world.ranksim("train digits:train --filters 20 --seed 3 --model other.model");
  await world.ranksim("train reviews.csv --text --columns review:text --label stars --model reviews.ranksim");
});
afterEach(() => child?.kill("SIGKILL"));
afterAll(() => world.remove());

interface Serving {
  readonly address: string;
  readonly ended: Promise<number | null>;
  readonly log: () => string;
}

/** Starts the built command and waits for the address it prints. */
function serve(...args: string[]): Promise<Serving> {
  const started = spawn(process.execPath, [bin, "serve", ...args, "--json"], { cwd: world.folder });
  child?.kill("SIGKILL"); // a test that starts a second one is done with the first
  child = started;
  const ended = new Promise<number | null>((resolve) => started.on("exit", resolve));
  let log = "";
  started.stderr.on("data", (chunk) => {
    log += chunk;
  });
  return new Promise((resolve, reject) => {
    let printed = "";
    started.stdout.on("data", (chunk) => {
      printed += chunk;
      if (printed.endsWith("}\n")) resolve({ address: JSON.parse(printed).address, ended, log: () => log });
    });
    ended.then(() => reject(new Error(log)));
  });
}

describe.skipIf(!existsSync(bin))("serve (needs npm run build:code)", () => {
  test("is not ready at SIGTERM, answers during the grace period, and ends with 0", async () => {
    const { address, ended, log } = await serve("digits.ranksim", "--port", "0", "--grace", "700");
    expect((await fetch(`${address}/v2/health/ready`)).status).toBe(200);
    child?.kill("SIGTERM");
    await expect.poll(async () => (await fetch(`${address}/v2/health/ready`)).status).toBe(503);
    const answer = await fetch(`${address}/predict`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(new Array(64).fill(1)),
    });
    expect(answer.status).toBe(200);
    expect(await ended).toBe(0);
    const events = log()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).event);
    expect(events).toEqual(["ending", "ended"]);
  });

  test("loads files again at SIGHUP", async () => {
    copyFileSync(world.path("digits.ranksim"), world.path("live.ranksim"));
    const { address, ended } = await serve("live.ranksim", "--port", "0", "--grace", "0");
    const versionOf = async () => (await (await fetch(`${address}/v2/models/live`)).json()).versions[0];
    const first = await versionOf();
    copyFileSync(world.path("other.model"), world.path("live.ranksim"));
    child?.kill("SIGHUP");
    await expect.poll(versionOf).not.toBe(first);
    child?.kill("SIGINT");
    expect(await ended).toBe(0);
  });

  test("reads its token from a file, and refuses one that holds none", async () => {
    writeFileSync(world.path("token"), "a-long-token\n");
    const { address } = await serve("digits.ranksim", "--port", "0", "--token-file", "token");
    expect((await fetch(`${address}/metrics`)).status).toBe(401);
    const headers = { Authorization: "Bearer a-long-token" };
    expect((await fetch(`${address}/metrics`, { headers })).status).toBe(200);
    writeFileSync(world.path("empty"), "\n");
    await expect(serve("digits.ranksim", "--port", "0", "--token-file", "empty")).rejects.toThrow(/expected one word/);
  });

  test.each(ENDLESS_EXAMPLES.serve.map(({ line }) => line))("%s", async (line) => {
    const [, , ...args] = words(line);
    // Another port than in the example, which may be taken here.
    const at = args.indexOf("--port");
    const others = at < 0 ? args : args.toSpliced(at, 2);
    const { address } = await serve(...others, "--port", "0");
    expect((await fetch(`${address}/v2/health/ready`)).status).toBe(200);
  });

  test("the README's lines of JavaScript ask it", async () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    const [, script] = /```js\n([\s\S]*?)```/.exec(readme) ?? [];
    expect(script).toContain("fetch(");
    const { address } = await serve("digits.ranksim", "--port", "0");
    const run = new Function(
      "row",
      `return (async () => { ${script.replace("http://localhost:8080", address)}; return labels; })()`,
    );
    expect(await run(new Array(64).fill(1))).toHaveLength(1);
  });
});
