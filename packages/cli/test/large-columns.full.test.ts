/** Data that does not fit in the memory it may take: weights, splits by a column, simple methods beside, sets, cards and --dry-run, as from memory. */

import { readFileSync, writeFileSync } from "node:fs";
import { encodeNpy } from "@ranksim/data";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeWorld, notesOfAnyRows } from "./world.ts";

const world = makeWorld();
const { path } = world;
const ROWS = 700;
const FEATURES = 12;

const value = (r: number, i: number) => ((r * 31 + i * 17 + r * i) % 97) + ((i + r) % 3 === 0 ? 90 : 0);
const kind = (r: number) => ["ant", "bee", "cow"][r % 3];
/** A day of 2024, the day first: only the 13th of a month and later ones say so. */
const day = (r: number) => `${1 + ((r * 11) % 28)}/${1 + ((r * 5) % 12)}/2024`;

/** A table of numbers, or with a column of words; with a group, a moment, a whole weight and another for each row. */
function table(cell: (r: number, i: number) => string | number, from = 0, to = ROWS): string {
  const names = Array.from({ length: FEATURES }, (_, i) => `f${i}`);
  const lines = [[...names, "who", "when", "times", "weight", "kind"].join(",")];
  for (let r = from; r < to; r++) {
    const cells = names.map((_, i) => cell(r, i));
    // Groups of one number that is written in two ways are two.
    lines.push([...cells, `${r % 2 ? "0" : ""}${r % 37}`, day(r), 1 + (r % 4), (1 + (r % 9)) / 4, kind(r)].join(","));
  }
  return `${lines.join("\n")}\n`;
}

beforeAll(() => {
  writeFileSync(path("bytes.csv"), table(value));
  writeFileSync(
    path("floats.csv"),
    table((r, i) => value(r, i) / 8),
  );
  writeFileSync(path("part-1.csv"), table(value, 0, 411));
  writeFileSync(path("part-2.csv"), table(value, 411));
  writeFileSync(
    path("words.csv"),
    table((r, i) => (i === 0 ? `w${(r + (r % 3)) % 5}` : i === 1 && r % 9 === 0 ? "" : value(r, i))),
  );
  const texts = Array.from({ length: 3 * ROWS }, (_, r) => {
    const words = Array.from({ length: 12 }, (_, i) => `w${value(r, i) % (i + 9)}`);
    return `${words.join(" ")},${1 + (r % 4)},g${r % 29},${kind(r)}`;
  });
  writeFileSync(path("texts.csv"), `text,times,who,kind\n${texts.join("\n")}\n`);
});
afterAll(() => world.remove());

/** Trains from memory and from a source, and expects one model file. */
async function sameModel(line: string, memory = "40KB"): Promise<{ readonly heldOut?: { readonly rows: number } }> {
  const here = await world.ranksim(`train ${line} --label kind --json -q -m here.ranksim`);
  const large = await world.ranksim(`train ${line} --label kind --json -q -m large.ranksim --memory ${memory}`);
  expect([here.code, here.stderr, large.code, large.stderr]).toEqual([0, "", 0, ""]);
  expect(readFileSync(path("large.ranksim")).equals(readFileSync(path("here.ranksim")))).toBe(true);
  const [a, b] = [here, large].map(({ stdout }) => JSON.parse(stdout));
  expect(b.heldOut).toEqual(a.heldOut);
  return b;
}

const OTHERS = "--columns who:ignore,when:ignore";

describe("a column of weights", () => {
  it.each([
    [
      "bytes.csv",
      "times",
      "weight",
      "--set table=false --estimator classifier --filters 24 --set calibrate=temperature",
    ],
    ["bytes.csv", "weight", "times", "--set table=false --estimator classifier --filters 24 --set refine=true"],
    ["floats.csv", "weight", "times", "--set table=false --estimator transform --filters 20"],
    ["floats.csv", "times", "weight", "--set table=false --estimator probabilistic --filters 20 --test-share 0.2"],
    ["part-*.csv", "times", "weight", "--set table=false --estimator classifier --filters 24 --test-share 0.3"],
    ["words.csv", "weight", "times", "--estimator classifier --filters 24"],
  ])("%s %s", async (data, weight, other, flags) => {
    await sameModel(`${data} --columns ${weight}:weight ${OTHERS},${other}:ignore ${flags}`);
  });

  it("of texts", async () => {
    await sameModel("texts.csv --text --estimator classifier --filters 12 --columns times:weight", "150KB");
  });

  it("is part of what a checkpoint is of", async () => {
    const line = `train bytes.csv --label kind --set table=false --memory 40KB ${OTHERS}`;
    const kept = "--estimator classifier --filters 24 --checkpoint kept -m large.ranksim";
    expect((await world.ranksim(`${line},weight:ignore --columns times:weight ${kept}`)).code).toBe(0);
    await world.ranksim(`${line},weight:ignore,times:ignore ${kept.replace("--checkpoint kept", "")}.plain`);
    expect(readFileSync(path("large.ranksim.plain")).equals(readFileSync(path("large.ranksim")))).toBe(false);
    const other = await world.ranksim(`${line},times:ignore --columns weight:weight ${kept}`);
    expect(other.stderr).toMatch(/kept: the checkpoint is of another training: row weights digest/);
    const again = await world.ranksim(`${line},weight:ignore --columns times:weight ${kept.replace("large", "again")}`);
    expect(again.code).toBe(0);
    expect(readFileSync(path("again.ranksim")).equals(readFileSync(path("large.ranksim")))).toBe(true);
  });

  it("names the row of a weight that is none", async () => {
    const lines = table(value).split("\n");
    lines[600] = lines[600].replace(/,[^,]*,(\w+)$/, ",-1,$1");
    writeFileSync(path("bad.csv"), lines.join("\n"));
    for (const memory of ["", "--memory 40KB"]) {
      const found = await world.ranksim(
        `train bad.csv --label kind --set table=false ${OTHERS},times:ignore --columns weight:weight --estimator classifier -m no.ranksim ${memory}`,
      );
      expect(found.stderr).toMatch(
        /--columns NAME:weight: bad\.csv, line 601, column 15 \("weight"\): expected a number above 0, found "-1"/,
      );
    }
  });
});

describe("--test-share", () => {
  it.each([
    ["bytes.csv", "who", "group"],
    ["bytes.csv", "when", "time"],
    ["part-*.csv", "when", "time"],
  ])("%s by the %s of rows", async (data, column, by) => {
    const ignored = ["who", "when", "times", "weight"]
      .filter((name) => name !== column)
      .map((name) => `${name}:ignore`);
    const flags = `--estimator classifier --filters 24 --columns ${ignored.join(",")}`;
    const { heldOut } = await sameModel(`${data} --columns ${column}:${by} --test-share 0.2 ${flags}`);
    expect(heldOut?.rows).toBeGreaterThan(ROWS / 10);
  });

  it("of texts, by the group of rows", async () => {
    const flags = "--text --estimator classifier --filters 12 --columns times:ignore";
    const { heldOut } = await sameModel(`texts.csv --columns who:group --test-share 0.2 ${flags}`, "150KB");
    expect(heldOut?.rows).toBeGreaterThan(ROWS / 10);
  });

  it("refuses a column that is not there, and one without rows held out", async () => {
    const line = "train bytes.csv --label kind --estimator classifier --memory 40KB -m no.ranksim";
    expect((await world.ranksim(`${line} --columns nobody:group --test-share 0.2`)).stderr).toMatch(
      /--columns NAME:group: .*nobody/,
    );
    expect((await world.ranksim(`${line} --columns who:group`)).stderr).toMatch(
      /--columns NAME:group is about rows held out/,
    );
  });
});

const COLUMNS = "--columns who:ignore,when:ignore,times:ignore,weight:ignore";

describe("--baselines", () => {
  // The first has more rows than simple methods are given.
  it.each([
    ["rows.npy", "--labels kinds.txt --set table=false --test-share 0.02"],
    ["words.csv", `--label kind --test-share 0.2 ${COLUMNS}`],
  ])("%s", async (data, flags) => {
    const many = 5200;
    const values = Uint8Array.from({ length: many * 6 }, (_, j) => value(Math.floor(j / 6), j % 6));
    writeFileSync(path("rows.npy"), encodeNpy(values, [many, 6]));
    writeFileSync(path("kinds.txt"), `${Array.from({ length: many }, (_, r) => kind(r)).join("\n")}\n`);
    const line = `train ${data} ${flags} --baselines --estimator classifier --filters 12 --json -q -m no.ranksim`;
    const [here, large] = [await world.ranksim(line), await world.ranksim(`${line} --memory 40KB`)];
    expect([here.code, here.stderr, large.code, large.stderr]).toEqual([0, "", 0, ""]);
    const { heldOut } = JSON.parse(large.stdout);
    expect(heldOut).toEqual(JSON.parse(here.stdout).heldOut);
    const [most, neighbours] = heldOut.baselines.map(({ rows }: { rows: number[] }) => rows);
    expect(most[1]).toBe(heldOut.rows);
    expect(neighbours[0]).toBe(Math.min(5000, most[0]));
  });
});

describe("--sets", () => {
  it.each([
    [
      "bytes.csv",
      `--set table=false --estimator classifier --filters 24 --set calibrate=temperature ${COLUMNS}`,
      "40KB",
    ],
    [
      "bytes.csv",
      `--set table=false --estimator probabilistic --filters 20 --seed 3 --test-share 0.2 ${COLUMNS}`,
      "40KB",
    ],
    [
      "words.csv",
      "--estimator classifier --filters 24 --columns times:weight --columns who:ignore,when:ignore,weight:ignore",
      "40KB",
    ],
    ["texts.csv", "--text --estimator classifier --filters 12 --columns times:ignore,who:ignore", "150KB"],
  ])("%s %s", async (data, flags, memory) => {
    await sameModel(`${data} --sets ${flags}`, memory);
    const told = await world.ranksim(`predict large.ranksim ${data} --coverage 0.9 --json`);
    expect(JSON.parse(told.stdout).sets.length).toBeGreaterThanOrEqual(ROWS);
  });
});

describe.each([
  ["bytes.csv", `--set table=false --estimator classifier --filters 24 ${COLUMNS}`, "40KB"],
  ["bytes.csv", `--set table=false --preset fast ${COLUMNS}`, "40KB"],
  ["words.csv", COLUMNS, "40KB"],
  ["texts.csv", "--text --columns times:ignore,who:ignore", "150KB"],
])("%s %s", (data, flags, memory) => {
  it("--dry-run says what it says of rows in memory", async () => {
    for (const json of ["--json", ""]) {
      const line = `train ${data} --label kind ${flags} --dry-run ${json}`;
      const [here, large] = [await world.ranksim(line), await world.ranksim(`${line} --memory ${memory}`)];
      expect([here.code, large.code]).toEqual([0, 0]);
      if (json === "") expect(large.stdout).toBe(here.stdout);
      else {
        const [a, b] = [here, large].map(({ stdout }) => JSON.parse(stdout));
        expect(b).toEqual({ ...a, notes: notesOfAnyRows(a.notes) });
      }
    }
  });
});

it("--card is the page that it is of rows in memory", async () => {
  const card = async (more: string) => {
    const line = `train words.csv --label kind ${COLUMNS} --test-share 0.2 -m words.ranksim --card card.md`;
    const { code } = await world.ranksim(`${line} ${more}`, { env: { SOURCE_DATE_EPOCH: "0" } });
    expect(code).toBe(0);
    return readFileSync(path("card.md"), "utf8").replace(` ${more}`, "");
  };
  const here = await card("--quiet");
  expect(here).toContain("| ant |");
  expect(here).toMatch(/^\| recipe \| balanced, for a table of /m);
  expect(here).toMatch(/^\| macro F1 \| [01]\.\d{4} \|$/m);
  expect(await card("--memory 40KB")).toBe(here.replace(" --quiet", ""));
});
