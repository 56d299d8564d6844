/** Data that does not fit in the memory it may take: the same model files, the same answers. */

import { readFileSync, writeFileSync } from "node:fs";
import { encodeNpy } from "@ranksim/data";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeWorld } from "./world.ts";

const ROWS = 600;
const FEATURES = 40;
const world = makeWorld();
const { path } = world;
const model = (name: string) => readFileSync(path(name));

beforeAll(() => {
  const value = (r: number, i: number) => ((r * 31 + i * 17 + r * i) % 97) + ((i + r) % 3 === 0 ? 90 : 0);
  const all = Array.from({ length: ROWS * FEATURES }, (_, j) => value(Math.floor(j / FEATURES), j % FEATURES));
  const labels = Array.from({ length: ROWS }, (_, r) => ["ant", "bee", "cow"][r % 3]);
  writeFileSync(path("bytes.npy"), encodeNpy(Uint8Array.from(all), [ROWS, FEATURES]));
  writeFileSync(
    path("floats.npy"),
    encodeNpy(
      Float32Array.from(all, (v) => v / 7),
      [ROWS, FEATURES],
    ),
  );
  const half = ROWS / 2;
  writeFileSync(path("part-1.npy"), encodeNpy(Uint8Array.from(all.slice(0, half * FEATURES)), [half, FEATURES]));
  writeFileSync(path("part-2.npy"), encodeNpy(Uint8Array.from(all.slice(half * FEATURES)), [half, FEATURES]));
  writeFileSync(path("labels.txt"), `${labels.join("\n")}\n`);
  const sparse = labels.map((label, r) => {
    const entries = Array.from({ length: FEATURES }, (_, i) =>
      value(r, i) > 90 ? ` ${i + 1}:${value(r, i) / 4}` : "",
    );
    return label + entries.join("");
  });
  writeFileSync(path("sparse.svm"), `${sparse.join("\n")}\n`);
});
afterAll(() => world.remove());

describe.each([
  ["bytes", "bytes.npy --labels labels.txt"],
  ["float32", "floats.npy --labels labels.txt"],
  ["sparse", "sparse.svm"],
  ["several files", "part-*.npy --labels labels.txt"],
])("%s", (_, data) => {
  it.each([
    ["classifier", "--filters 30 --calibrate temperature"],
    ["probabilistic", "--filters 24 --distribution confusion"],
    ["transform", "--filters 24"],
  ])("train %s", async (estimator, flags) => {
    const line = `train ${data} --estimator ${estimator} ${flags} --no-table --json`;
    // Several files with labels of their own file are read as one only where they are a source.
    const here = line.replace("part-*.npy", "bytes.npy");
    expect(await world.ranksim(`${here} -m here.ranksim`)).toMatchObject({ code: 0 });
    expect(await world.ranksim(`${line} -m large.ranksim --memory 60KB`)).toMatchObject({ code: 0 });
    expect(model("large.ranksim")).toEqual(model("here.ranksim"));
  });
});

it("answers come in blocks, and are the same", async () => {
  const train = "train bytes.npy --labels labels.txt --estimator classifier --filters 30 --no-table";
  await world.ranksim(`${train} -m model.ranksim`);
  const one = await world.ranksim("predict model.ranksim bytes.npy --probabilities");
  const other = await world.ranksim("predict model.ranksim part-1.npy part-2.npy --probabilities");
  expect(one).toMatchObject({ code: 0 });
  expect(one.stdout.split("\n")).toHaveLength(ROWS + 2);
  expect(other.stdout).toBe(one.stdout);
});

it("says what needs all rows at once, and how to get it", async () => {
  const line = "train bytes.npy --labels labels.txt --memory 60KB -m no.ranksim";
  expect(await world.ranksim(line)).toMatchObject({ code: 2, stderr: expect.stringMatching(/preset.*--estimator/) });
  const refused = (flag: string) => world.ranksim(`${line} --estimator classifier ${flag}`);
  expect((await refused("--test-share 0.2")).stderr).toMatch(/--test-share needs all rows at once.*--memory/);
  expect((await refused("--table")).stderr).toMatch(/--table: a table is encoded in memory/);
  const short = await world.ranksim("train bytes.npy --memory 60KB --estimator classifier -m no.ranksim");
  expect(short.stderr).toMatch(/bytes\.npy: expected labels, found none/);
});
