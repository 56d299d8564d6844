/** Commands that run in several processes: what each tells the others before they work, and how much all of them may read. */

import { readFileSync, writeFileSync } from "node:fs";
import type { Collective } from "@ranksim/mpi";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Processes } from "../src/io.ts";
import { makeWorld } from "./world.ts";

const world = makeWorld();
const { path, ranksim } = world;
const ROWS = 400;

const table = (row: (r: number) => readonly (string | number)[], head: string) =>
  `${[head, ...Array.from({ length: ROWS }, (_, r) => row(r).join(","))].join("\n")}\n`;
const kind = (r: number) => (r % 2 === 0 ? "even" : "odd");

beforeAll(() => {
  const numbers = (last: string) => table((r) => [r % 7, (r * 5) % 11, r === ROWS - 2 ? last : kind(r)], "a,b,kind");
  writeFileSync(path("rows.csv"), numbers("even"));
  writeFileSync(path("other-label.csv"), numbers("odd"));
  const words = (word: string) => table((r) => [r === 201 ? word : `w${r % 5}`, r % 11, kind(r)], "a,b,kind");
  writeFileSync(path("words.csv"), words("w1"));
  writeFileSync(path("other-word.csv"), words("w2"));
  const texts = (word: string) => table((r) => [`${kind(r)} ${r === 201 ? word : "same"}`, kind(r)], "text,kind");
  writeFileSync(path("texts.csv"), texts("same"));
  writeFileSync(path("other-text.csv"), texts("other"));
  const weighed = (last: number) =>
    table((r) => [r % 7, (r * 5) % 11, r === ROWS - 1 ? last : 1, kind(r)], "a,b,weight,kind");
  writeFileSync(path("weighed.csv"), weighed(1));
  writeFileSync(path("other-weight.csv"), weighed(2));
  const arrow = new URL("../../data/test/fixtures/plain.arrow", import.meta.url);
  writeFileSync(path("plain.arrow"), readFileSync(arrow));
});
afterAll(() => world.remove());

/** The first of two processes. The other may take as little memory as `memory` says. */
function firstOfTwo(memory: number, gather: Collective["gather"]): Processes {
  const other = new Uint8Array(Float64Array.of(memory).buffer);
  const collective = {
    rank: 0,
    size: 2,
    gather: async (own: Uint8Array) => (own.byteLength === 8 ? [own, other] : gather(own)),
  } as unknown as Collective;
  return { rank: 0, size: 2, localSize: 1, join: async () => collective };
}

/** What a process tells the others of its work. */
async function toldBy(line: string, memory: number): Promise<{ [name: string]: string }> {
  let told: { [name: string]: string } = {};
  const processes = firstOfTwo(memory, async (own) => {
    told = JSON.parse(new TextDecoder().decode(own));
    throw new Error("heard");
  });
  const { stderr } = await ranksim(line, { processes });
  expect(stderr).toContain("heard");
  return told;
}

const LINE = "--label kind --estimator classifier --filters 4 -m no.ranksim";

describe("processes learn before training that", () => {
  it.each([
    ["labels of large data", `--set table=false ${LINE}`, "rows.csv", "other-label.csv", ["labels digest"]],
    ["a word of a large table", `--set table=true ${LINE}`, "words.csv", "other-word.csv", ["data digest"]],
    ["a large text", `--text --columns text:text ${LINE}`, "texts.csv", "other-text.csv", ["data digest"]],
  ])("%s differs", async (_, line, one, other, expected) => {
    const [a, b] = [await toldBy(`train ${one} ${line}`, 9e3), await toldBy(`train ${other} ${line}`, 9e3)];
    expect(a.reading).toBe("in blocks");
    expect(Object.keys({ ...a, ...b }).filter((name) => a[name] !== b[name])).toEqual(expected);
  });

  it.each([1e9, 9e3])("a weight of a row differs, with %s bytes of memory", async (memory) => {
    const line = `--columns weight:weight --set table=false ${LINE}`;
    const [a, b] = [
      await toldBy(`train weighed.csv ${line}`, memory),
      await toldBy(`train other-weight.csv ${line}`, memory),
    ];
    expect(a.reading).toBe(memory < 1e9 ? "in blocks" : "in memory");
    expect(Object.keys({ ...a, ...b }).filter((name) => a[name] !== b[name])).toEqual(["row weights digest"]);
  });
});

it("a checkpoint of other weights is refused", async () => {
  const line = `--columns weight:weight --set table=false ${LINE} --checkpoint kept`;
  expect((await ranksim(`train weighed.csv ${line}`)).code).toBe(0);
  const { code, stderr } = await ranksim(`train other-weight.csv ${line}`);
  expect(code).not.toBe(0);
  expect(stderr).toContain("row weights digest");
});

it.each(["evaluate", "evaluate --baselines plain.arrow", "transform -o no.svm", "predict"])(
  "%s takes no more memory than the process that has least",
  async (command) => {
    const estimator = command.startsWith("transform") ? "transform" : "classifier";
    const line = `train plain.arrow --label label --set table=false --estimator ${estimator} --filters 4 -m ${estimator}.ranksim`;
    expect((await ranksim(line)).code).toBe(0);
    const [name, ...flags] = command.split(" ");
    const processes = firstOfTwo(500, async () => Promise.reject(new Error("not asked")));
    const { code, stderr } = await ranksim([name, `${estimator}.ranksim`, "plain.arrow", ...flags], { processes });
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/memory/);
  },
);
