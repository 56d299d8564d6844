/** `/nearest`, and what `/explain` says of rows that a model keeps: as the library finds them, within the limits of the server. */

import { readFileSync } from "node:fs";
import { loadModel } from "@ranksim/core";
import { textReaders } from "@ranksim/data";
import { indexReader, type KeptRowsModel, keptRowsReader } from "@ranksim/vq";
import { beforeAll, describe, expect, test } from "vitest";
import { open, post, rows, world } from "./served-world.ts";

beforeAll(async () => {
  await world.ranksim("keep-rows digits.ranksim digits:train -m kept.ranksim --similarity cosine");
  await world.ranksim("keep-rows reviews.ranksim reviews.csv -m texts.ranksim");
});

const keptAt = (name: string) =>
  loadModel(readFileSync(world.path(name)), {
    readers: [...textReaders, indexReader, keptRowsReader],
  }) as KeptRowsModel;

const asList = ({ k, rows: found, similarities, labels }: Awaited<ReturnType<KeptRowsModel["nearest"]>>) =>
  Array.from({ length: found.length / k }, (_, r) =>
    Array.from({ length: k }, (_, j) => ({
      row: found[r * k + j],
      similarity: similarities[r * k + j],
      label: labels?.[r * k + j],
    })),
  );

describe("/nearest", () => {
  test("gives many requests at once what the library finds, five neighbours where none are asked for", async () => {
    const address = await open(["kept.ranksim"]);
    const kept = keptAt("kept.ranksim");
    const expected = asList(await kept.nearest(rows, 5));
    const found = await Promise.all(rows.map((row) => post(`${address}/nearest`, { rows: [row] })));
    expect(found.map(({ json }) => json.neighbours[0])).toEqual(expected);
    const whole = await post(`${address}/nearest?k=3`, { rows });
    expect(whole.json).toEqual({
      model: "kept",
      version: expect.any(String),
      neighbours: asList(await kept.nearest(rows, 3)),
    });
    const probed = await post(`${address}/nearest`, { rows, k: 2, probes: 4 });
    expect(probed.json.neighbours).toEqual(asList(await kept.nearest(rows, 2, { probes: 4 })));
  });

  test("takes texts and no rows, and all rows where more are asked for", async () => {
    const address = await open(["texts.ranksim", "kept.ranksim"]);
    const found = await post(`${address}/nearest?model=texts&k=1000`, { texts: ["a lovely film", ""] });
    const { index } = keptAt("texts.ranksim");
    expect(found.json.neighbours.map((list: unknown[]) => list.length)).toEqual([index.rows.rows, index.rows.rows]);
    expect((await post(`${address}/nearest?model=kept`, { rows: [] })).json.neighbours).toEqual([]);
  });

  test.each([
    ["a model that keeps no rows, with the cure", "digits", {}, 400, "ranksim keep-rows"],
    ["k that is no count", "kept", { k: 0 }, 400, "k: expected a whole number from 1 on, found 0"],
    ["probes that are no count", "kept", { probes: "many" }, 400, "probes: expected"],
    ["rows of another width", "kept", { rows: [[1, 2]] }, 400, "64 features"],
    ["numbers that are none", "kept", { rows: [Array(64).fill(null)] }, 400, "expected a number"],
    ["texts", "kept", { rows: undefined, texts: ["a"] }, 400, "expected rows of numbers"],
    ["answers that are too long", "kept", { k: 1000 }, 413, "at a time"],
  ])("refuses %s", async (_, model, more, status, words) => {
    const address = await open(["digits.ranksim", "kept.ranksim"], { limits: { answerNumbers: 20_000 } });
    const found = await post(`${address}/nearest?model=${model}`, { rows: rows.slice(0, 9), ...more });
    expect(found.status).toBe(status);
    expect(found.json.error).toContain(words);
    expect((await post(`${address}/nearest?model=kept`, { rows: [rows[0]] })).status).toBe(200);
  });

  test("is described with the other paths", async () => {
    const address = await open(["kept.ranksim"]);
    const { paths } = (await (await fetch(`${address}/openapi.json`)).json()) as { paths: Record<string, unknown> };
    expect(paths).toHaveProperty("/nearest.post");
  });
});

test("/explain names the rows most like the one asked about, where the model keeps rows", async () => {
  const address = await open(["digits.ranksim", "kept.ranksim"]);
  const { json } = await post(`${address}/explain?model=kept`, { rows: [rows[7]] });
  expect(json.neighbours).toEqual(asList(await keptAt("kept.ranksim").nearest([rows[7]], 10))[0]);
  expect((await post(`${address}/explain?model=digits`, { rows: [rows[7]] })).json).not.toHaveProperty("neighbours");
});
