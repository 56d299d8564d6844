/** One file, one model: the command, the command that reads in blocks, two processes, and the library's `train` give the same bytes. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { saveModel } from "@ranksim/core";
import { loadData } from "@ranksim/data/node";
import { type TrainOptions, train } from "@ranksim/learn";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isFull } from "../../core/test/tier.ts";
import { makeProcesses } from "../../mpi/test/processes.ts";
import { train as trainPath } from "../src/node.ts";
import { CASES } from "./same-model-cases.ts";
import { makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(() => {
  world = makeWorld();
});
afterAll(() => world.remove());

/** The model that two processes write together. */
async function byTwo(line: readonly string[]): Promise<Buffer> {
  const two = makeProcesses(2).map((collective) =>
    world.ranksim(line, { processes: { rank: collective.rank, size: 2, localSize: 2, join: async () => collective } }),
  );
  for (const { code, stderr } of await Promise.all(two)) expect([code, stderr]).toEqual([0, expect.any(String)]);
  return readFileSync(world.path("two.ranksim"));
}

/** Files for which there is so much to choose from that only the full tier does; the short one trains the first recipe. */
const DEAR = ["mixed.csv", "groups.csv", "weights.csv", "table.csv", "numbers.csv"];

test.each(CASES)("$name", async ({ file, make, reading = {}, inBlocks, memory = "10kB", ...given }) => {
  const isChosen = isFull || !DEAR.includes(file);
  const options: TrainOptions = { ...given.options, ...(isChosen ? {} : { preset: "fast" }) };
  const flags = [...(given.flags ?? []), ...(isChosen ? [] : ["--preset", "fast"])];
  const path = join(world.folder, file);
  make(path);
  const labels = file.endsWith(".npy") ? ["--labels", `${file}.labels.txt`] : [];
  const command = async (model: string, ...more: string[]) => {
    const { code, stderr } = await world.ranksim(["train", file, ...labels, ...flags, ...more, "--model", model]);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    return readFileSync(join(world.folder, model));
  };
  const whole = await command("whole.ranksim");
  if (inBlocks) expect(await command("blocks.ranksim", "--memory", memory)).toEqual(whole);
  expect(await byTwo(["train", file, ...labels, ...flags, "--model", "two.ranksim"])).toEqual(whole);
  const apart = labels.length > 0 ? { labels: `${path}.labels.txt` } : {};
  const { labels: _, ...remembered } = { ...reading, ...apart };
  const { model } = await train(await loadData(path, { ...reading, ...apart }), { ...options, reading: remembered });
  expect(Buffer.from(saveModel(model))).toEqual(whole);
});

test("records, a file and its path give the model that the command gives", async () => {
  const records = Array.from({ length: 200 }, (_, r) => ({
    age: 20 + (r % 50),
    town: r % 3 === 2 ? null : ["York", "Leeds"][r % 3],
    income: r % 11 === 0 ? null : 1000 * (r % 17),
    kind: r % 50 > 24 ? "old" : "young",
  }));
  const lines = records.map((record) =>
    Object.values(record)
      .map((cell) => cell ?? "")
      .join(","),
  );
  const csv = `age,town,income,kind\n${lines.join("\n")}\n`;
  writeFileSync(world.path("people.csv"), csv);
  const { code } = await world.ranksim("train people.csv --label kind --preset fast --model people.ranksim");
  expect(code).toBe(0);
  const expected = readFileSync(world.path("people.ranksim"));
  const options = { label: "kind", preset: "fast" } as const;
  const byRecords = await train(records, options);
  expect(Buffer.from(saveModel(byRecords.model))).toEqual(expected);
  const byFile = await train(new File([csv], "people.csv"), options);
  expect(Buffer.from(saveModel(byFile.model))).toEqual(expected);
  const byPath = await trainPath(world.path("people.csv"), options);
  expect(Buffer.from(saveModel(byPath.model))).toEqual(expected);
  const all = await byRecords.model.predict(records);
  expect(await byRecords.model.predict(records[3])).toEqual([all[3]]);
  const { town: _, ...lacking } = records[3];
  await expect(byRecords.model.predict(lacking)).rejects.toThrow(/expected the columns "town", which the table lacks/);
});

test("records without the column that holds the labels, or with a label missing, are refused by name", async () => {
  const records = [
    { a: 1, b: "x" },
    { a: 2, b: null },
  ];
  await expect(train(records, { label: "c" })).rejects.toThrow(/label: expected one of a, b, found "c"/);
  await expect(train(records, { label: "b" })).rejects.toThrow(/row 1, b: expected a label, found null/);
  await expect(train(records, { text: "b" })).rejects.toThrow(/row 1, b: expected text, found null/);
});
