/** The columns that say how rows are split and how much they count: what has none, groups of several files, and times of several forms. */

import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { Dense } from "@ranksim/core";
import { saveData } from "@ranksim/data/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeWorld } from "./world.ts";

const world = makeWorld();
const { path } = world;
afterAll(() => world.remove());

const ROWS = 120;
const FLAGS = "--estimator classifier --filters 12 -q";
const MEMORY = ["", "--memory 2KB"];

describe("files without columns", () => {
  beforeAll(async () => {
    const x = Dense.of(
      Float64Array.from({ length: ROWS * 4 }, (_, i) => (i * 37) % 101),
      ROWS,
      4,
    );
    const y = Array.from({ length: ROWS }, (_, r) => 1 + (r % 3));
    for (const name of ["rows.svm", "rows.npz", "rows.npy"]) await saveData(path(name), { form: "matrix", x, y });
    writeFileSync(path("y.txt"), `${y.join("\n")}\n`);
    writeFileSync(path("lines.txt"), `${y.map((label) => `word${label} and more`).join("\n")}\n`);
  });

  it.each([
    ["rows.svm", "the svmlight file"],
    ["rows.npz", "the npz file"],
    ["rows.npy --labels y.txt", "the npy file"],
    ["lines.txt --text --labels y.txt", "lines of text"],
    [".", "the folder"],
    ["digits", "the data set"],
  ])("%s", async (data, found) => {
    const refused = async (line: string, flag: string) => {
      const { code, stderr } = await world.ranksim(`${line} ${FLAGS} --${flag}-column g`);
      expect(stderr).toContain(
        `expected a file with columns (CSV, TSV, JSON lines, Parquet or Arrow), found ${found}; save its rows`,
      );
      expect(code).toBe(1);
    };
    for (const memory of MEMORY) {
      await refused(`train ${data} ${memory} -m no.ranksim`, "weight");
      for (const flag of ["group", "time"])
        await refused(`train ${data} ${memory} --test-share 0.2 -m no.ranksim`, flag);
    }
    for (const flag of ["group", "time"]) await refused(`cross-validate ${data} --folds 3`, flag);
  });
});

describe("a group is the same in all files", () => {
  // In the second file a word makes the groups words: 01 is no number there.
  const part = (from: number, word: string) => {
    const lines = Array.from({ length: ROWS }, (_, i) => {
      const [r, n] = [from + i, (i * 7) % 10];
      return `${(r * 37) % 101},${(r * 53) % 97},${i === 50 ? word : `0${n}`},k${n},${"abc"[r % 3]}`;
    });
    return `u,v,g,same,label\n${lines.join("\n")}\n`;
  };
  beforeAll(() => {
    writeFileSync(path("ga.csv"), part(0, "00"));
    writeFileSync(path("gb.csv"), part(ROWS, "x1"));
  });

  it("where one of them has numbers alone, in memory and not", async () => {
    const held: number[] = [];
    for (const memory of MEMORY) {
      const line = `train ga.csv gb.csv --label label --columns same:ignore --test-share 0.3 ${FLAGS} --json`;
      const { code, stdout, stderr } = await world.ranksim(
        `${line} --columns g:group -m m${held.length}.ranksim ${memory}`,
      );
      expect(code, stderr).toBe(0);
      held.push(JSON.parse(stdout).heldOut.rows);
    }
    expect(readFileSync(path("m0.ranksim")).equals(readFileSync(path("m1.ranksim")))).toBe(true);
    // Of eleven groups ten have 24 rows, or 23: were they twenty, of 12 rows, a part of three would have about 80.
    expect(held[1]).toBe(held[0]);
    expect([...Array(5).keys()].flatMap((n) => [24 * n, 24 * n + 1, 24 * n - 1])).toContain(held[0]);
  });
});

describe("a column of times of several forms is refused", () => {
  const lines = (odd: string) =>
    Array.from({ length: ROWS }, (_, r) => {
      const day = r === 77 ? odd : `${String(1 + (r % 28)).padStart(2, "0")}.${1 + (r % 12)}.2024`;
      return `${(r * 37) % 101},${(r * 53) % 97},${day},${"abc"[r % 3]}`;
    });
  it.each(["unknown", "2024-03-05", "17"])("%s among days", async (odd) => {
    writeFileSync(path("first.csv"), `u,v,t,label\n${lines("1.1.2024").join("\n")}\n`);
    writeFileSync(path("odd.csv"), `u,v,t,label\n${lines(odd).join("\n")}\n`);
    const message = `--columns NAME:time: odd.csv, row 77: expected a time in the form of "01.1.2024" as in other rows, found "${odd}"; correct it, or write all`;
    const train = `train first.csv odd.csv --label label --columns t:time --test-share 0.2 ${FLAGS} -m no.ranksim`;
    const judge = `cross-validate first.csv odd.csv --label label --columns t:time --folds 3 ${FLAGS}`;
    for (const line of [...MEMORY.map((memory) => `${train} ${memory}`), judge]) {
      const { code, stderr } = await world.ranksim(line);
      expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    }
  });
});

it.skipIf(process.platform !== "linux")("a weight that is none leaves no file open", async () => {
  // Longer than the first block and what is read ahead of it.
  const rows = Array.from(
    { length: 4000 },
    (_, r) => `${r % 101},${r === 3 ? -1 : 1},${"x".repeat(2500)},${"abc"[r % 3]}`,
  );
  writeFileSync(path("bad.csv"), `u,w,note,label\n${rows.join("\n")}\n`);
  const { stderr } = await world.ranksim(
    `train bad.csv --label label --columns note:ignore --columns w:weight ${FLAGS} -m no.ranksim`,
  );
  expect(stderr).toContain(
    '--columns NAME:weight: bad.csv, line 5, column 1 ("w"): expected a number above 0, found "-1"',
  );
  const isOpen = () =>
    readdirSync("/proc/self/fd").some((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === path("bad.csv");
      } catch {
        return false; // the one that lists them
      }
    });
  await expect.poll(isOpen).toBe(false);
});
