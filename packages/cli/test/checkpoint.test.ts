/** Training that is killed goes on from its checkpoint, on another number of threads, to the same model file. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { encodeNpy } from "@ranksim/data";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isFull } from "../../core/test/tier.ts";
import { makeWorld } from "./world.ts";

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));
const ROWS = 4000;
const FEATURES = 160;
const world = makeWorld();
const { path } = world;

beforeAll(() => {
  // Ten kinds of rows, in no order, and much else: training takes all its rounds.
  let state = 7;
  const draw = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const kinds = Array.from({ length: ROWS }, () => draw(10));
  const values = new Uint8Array(ROWS * FEATURES);
  for (let j = 0; j < values.length; j++) {
    values[j] = draw(200) + (((j % FEATURES) + kinds[Math.floor(j / FEATURES)]) % 10 === 0 ? 55 : 0);
  }
  writeFileSync(path("rows.npy"), encodeNpy(values, [ROWS, FEATURES]));
  writeFileSync(path("labels.txt"), `${kinds.join("\n")}\n`);
});
afterAll(() => world.remove());

describe.skipIf(!existsSync(BIN))("the built command (npm run build)", () => {
  const start = (line: string) =>
    spawn(process.execPath, [BIN, ...line.split(" ")], { cwd: world.folder, stdio: "ignore" });

  /** Kills the command when it has kept something for the nth time; answers whether it was in time. */
  async function killedAfter(states: number, line: string): Promise<boolean> {
    let left = states;
    const child = start(line);
    const watcher = watch(path("kept"), (event, name) => {
      if (event === "rename" && name?.endsWith(".state") && --left === 0) child.kill("SIGKILL");
    });
    const [, signal] = await once(child, "close");
    watcher.close();
    return signal === "SIGKILL";
  }

  it.each([
    ["probabilistic", "", 1],
    ["classifier", "--set committee=2", 2],
    ["probabilistic", "--memory 2MB", 3],
  ])("%s %s: killed after each round, the file is the same", async (estimator, flags, round) => {
    const rounds = isFull ? [1, 2, 3] : [round];
    const line =
      `train rows.npy --labels labels.txt --set table=false --estimator ${estimator} --filters 120 --set iterations=5 --set tolerance=0 ${flags}`.trim();
    const [code] = await once(start(`${line} -m whole.ranksim`), "close");
    expect(code).toBe(0);
    const expected = readFileSync(path("whole.ranksim"));
    let kills = 0;
    for (const states of rounds) {
      rmSync(path("kept"), { recursive: true, force: true });
      mkdirSync(path("kept"));
      // Killed again and again: each time it has gone a little further.
      for (let times = 0; times < 2; times++) {
        if (await killedAfter(states, `${line} --checkpoint kept --threads ${1 + (times % 2)} -m again.ranksim`))
          kills++;
      }
      const [code] = await once(start(`${line} --checkpoint kept --threads 2 -m again.ranksim`), "close");
      expect(code).toBe(0);
      expect(readFileSync(path("again.ranksim")).equals(expected)).toBe(true);
      expect(readdirSync(path("kept")).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    }
    expect(kills).toBeGreaterThanOrEqual(rounds.length);
  });
});

describe("a folder of another training", () => {
  const line =
    "train rows.npy --labels labels.txt --set table=false --estimator transform --filters 20 --set iterations=1 -m t.ranksim";

  it("is refused where it is a file", async () => {
    const { code, stderr } = await world.ranksim(`${line} --checkpoint labels.txt`);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/labels\.txt: expected a folder for checkpoints, found a file; name another/);
  });

  it("is refused with what differs", async () => {
    expect(await world.ranksim(`${line} --checkpoint other`)).toMatchObject({ code: 0 });
    const again = await world.ranksim(`${line} --checkpoint other --filters 21 --seed 4`);
    expect(again.code).not.toBe(0);
    expect(again.stderr).toMatch(
      /other: the checkpoint is of another training: filters 20 there, 21 here; seed 0 there, 4 here/,
    );
    const labels = readFileSync(path("labels.txt"), "utf8");
    writeFileSync(path("swapped.txt"), labels.split("\n").toReversed().slice(1).concat("").join("\n"));
    const data = await world.ranksim(`${line.replace("labels.txt", "swapped.txt")} --checkpoint other`);
    expect(data.stderr).toMatch(/data digest [0-9a-f]+.* there, [0-9a-f]+.* here/);
  });

  it("is refused where a state is damaged, by the file's name", async () => {
    expect(await world.ranksim(`${line} --checkpoint damaged`)).toMatchObject({ code: 0 });
    const state = readFileSync(path("damaged/bank.state"));
    state[state.length - 3] ^= 1;
    writeFileSync(path("damaged/bank.state"), state);
    const found = await world.ranksim(`${line} --checkpoint damaged`);
    expect(found.code).toBe(1);
    expect(found.stderr).toMatch(/bank\.state: .*digest.*; remove the file/);
    writeFileSync(path("damaged/training.json"), "[");
    expect((await world.ranksim(`${line} --checkpoint damaged`)).stderr).toMatch(
      /training\.json: expected what a training is/,
    );
  });
});

it("an interrupted training says that it can go on", async () => {
  const signal = AbortSignal.abort();
  const line = "train digits --estimator classifier -m no.ranksim";
  const [plain, kept] = [line, `${line} --checkpoint left`].map((given) => world.ranksim(given, { signal }));
  expect((await plain).stderr).toBe("interrupted: nothing was changed\n");
  expect((await kept).stderr).toBe("interrupted: no model was written; the same command goes on from its checkpoint\n");
});
