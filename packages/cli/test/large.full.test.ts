/** Data that does not fit in the memory it may take: the same model files, the same answers. */

import { readFileSync, writeFileSync } from "node:fs";
import { encodeNpy } from "@ranksim/data";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeWorld } from "./world.ts";

const ROWS = 600;
const FEATURES = 40;
const world = makeWorld();

/** What was said, but for how far the work had come. */
const notes = (stderr: string) => stderr.split("\n").filter((line) => !/^\w+: +\d+ %/.test(line));

/** A table of texts, their labels and two columns of numbers. */
function texts(rows: number): string {
  const words = ["ant", "bee", "cow", "dog", "eel"];
  const lines = Array.from({ length: rows }, (_, r) => {
    const text = Array.from({ length: 12 }, (_, i) => words[(r * 7 + i * i + (r % 3) * i) % 5] + (i % (2 + (r % 3))));
    const rare = r % 11 === 0 ? ` rare${r % 700} rare${r % 700}` : "";
    return `${text.join(" ")}${rare},${["x", "y", "z"][r % 3]},${r % 50},${((r * 37) % 101) / 7}`;
  });
  return `text,label,a,b\n${lines.join("\n")}\n`;
}
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
    ["classifier", "--filters 30 --set calibrate=temperature"],
    ["probabilistic", "--filters 24 --set distribution=confusion"],
    ["probabilistic", "--filters 24 --test-share 0.3 --seed 4"],
    ["transform", "--filters 24"],
  ])("train %s %s", async (estimator, flags) => {
    const line = `train ${data} --estimator ${estimator} ${flags} --set table=false --json`;
    // Several files with labels of their own file are read as one only where they are a source.
    const here = line.replace("part-*.npy", "bytes.npy");
    const [one, other] = [
      await world.ranksim(`${here} -m here.ranksim`),
      await world.ranksim(`${line} -m large.ranksim --memory 60KB`),
    ];
    expect([one.code, other.code]).toEqual([0, 0]);
    expect(model("large.ranksim")).toEqual(model("here.ranksim"));
    expect(JSON.parse(other.stdout).heldOut).toEqual(JSON.parse(one.stdout).heldOut);
    expect("heldOut" in JSON.parse(one.stdout)).toBe(flags.includes("--test-share"));
  });
});

it("answers come in blocks, and are the same", async () => {
  const train = "train bytes.npy --labels labels.txt --estimator classifier --filters 30 --set table=false";
  await world.ranksim(`${train} -m model.ranksim`);
  const one = await world.ranksim("predict model.ranksim bytes.npy --probabilities");
  const other = await world.ranksim("predict model.ranksim part-1.npy part-2.npy --probabilities");
  expect(one).toMatchObject({ code: 0 });
  expect(one.stdout.split("\n")).toHaveLength(ROWS + 2);
  expect(other.stdout).toBe(one.stdout);
});

describe("text", () => {
  it.each([
    ["count", "--estimator classifier --filters 30 --set minDf=3"],
    ["tfidf", "--estimator probabilistic --filters 24 --set maxFeatures=300 --set sublinearTf=true"],
    ["hashing", "--estimator transform --filters 24 --set nFeatures=512"],
    ["count", "--estimator classifier --filters 30 --set binary=true"],
  ])("train with --set vectorizer=%s %s", async (vectorizer, flags) => {
    writeFileSync(path("lines.csv"), texts(4000));
    const line = `train lines.csv --label label --text --columns a:ignore,b:ignore --set vectorizer=${vectorizer} ${flags} --json`;
    expect(await world.ranksim(`${line} -m here.ranksim`)).toMatchObject({ code: 0 });
    expect(await world.ranksim(`${line} -m large.ranksim --memory 250KB`)).toMatchObject({ code: 0 });
    expect(model("large.ranksim").equals(model("here.ranksim"))).toBe(true);
  });

  it("of lines, with labels in a file of their own", async () => {
    const lines = texts(6000).split("\n").slice(1, -1);
    writeFileSync(path("lines.txt"), `${lines.map((line) => line.split(",")[0]).join("\n")}\n`);
    writeFileSync(path("lines-labels.txt"), `${lines.map((line) => line.split(",")[1]).join("\n")}\n`);
    const line = "train lines.txt --labels lines-labels.txt --text --estimator classifier --filters 30";
    expect(await world.ranksim(`${line} -m here.ranksim`)).toMatchObject({ code: 0 });
    expect(await world.ranksim(`${line} -m large.ranksim --memory 500KB`)).toMatchObject({ code: 0 });
    expect(model("large.ranksim").equals(model("here.ranksim"))).toBe(true);
    const short = await world.ranksim(`${line.replace("lines-labels", "labels")} -m no.ranksim --memory 500KB`);
    expect(short.stderr).toMatch(/labels\.txt: expected 6000 labels, one for each row, found 600/);
  });
});

describe("judged and transformed in blocks, with the same outcome", () => {
  beforeAll(async () => {
    // More rows than one block has, so that sums go on from block to block.
    writeFileSync(path("texts.csv"), texts(30_000));
    const train = (line: string) => world.ranksim(`train ${line} --label label`);
    await train(
      "texts.csv --text --columns text:text --columns a:ignore,b:ignore --estimator classifier --filters 30 -m text.ranksim",
    );
    await train(
      "texts.csv --columns text:ignore --estimator classifier --filters 30 --set table=true -m table.ranksim",
    );
    await train(
      "texts.csv --text --columns text:text --columns a:ignore,b:ignore --estimator transform --filters 20 -m terms.ranksim",
    );
    const numbers = "train bytes.npy --labels labels.txt --set table=false";
    await world.ranksim(`${numbers} --estimator classifier --filters 30 --set calibrate=temperature -m bytes.ranksim`);
    await world.ranksim(`${numbers} --estimator transform --filters 24 -m transform.ranksim`);
    await world.ranksim(`${numbers} --estimator transform --filters 24 --set nBest=1 -m nearest.ranksim`);
  });

  it.each([
    ["bytes", "bytes.ranksim bytes.npy --labels labels.txt", "60KB"],
    ["text", "text.ranksim texts.csv", "8MB"],
    ["a table", "table.ranksim texts.csv", "8MB"],
  ])("evaluate %s", async (_, data, memory) => {
    const here = await world.ranksim(`evaluate ${data} --json`);
    const large = await world.ranksim(`evaluate ${data} --json --memory ${memory}`);
    expect(here.code).toBe(0);
    expect(JSON.parse(large.stdout)).toEqual(JSON.parse(here.stdout));
    expect(notes(large.stderr)).toEqual(notes(here.stderr));
  });

  it.each([
    ["bytes", "transform.ranksim bytes.npy --labels labels.txt", "60KB", ["svm", "csv", "jsonl", "npz"]],
    // Each similarity is 1, so that bytes hold them.
    ["bytes to bytes", "nearest.ranksim part-1.npy part-2.npy", "60KB", ["npz"]],
    ["text", "terms.ranksim texts.csv", "8MB", ["csv"]],
  ])("transform %s", async (_, data, memory, endings) => {
    for (const ending of endings) {
      const here = await world.ranksim(`transform ${data} -o here.${ending} --json`);
      const large = await world.ranksim(`transform ${data} -o large.${ending} --json --memory ${memory}`);
      expect([here.code, large.code]).toEqual([0, 0]);
      expect(model(`large.${ending}`).equals(model(`here.${ending}`))).toBe(true);
    }
  });

  it.each(["csv", "jsonl", "svm"])(
    "evaluate and transform lines of %s, however little memory there is",
    async (ending) => {
      const [rows, names] = [6_000, ["x", "y", "z"]];
      const cells = Array.from({ length: rows }, (_, r) => [r % 7, (r * 5) % 11, (r * 3) % 13, names[r % 3]]);
      const written = {
        csv: `a,b,c,kind\n${cells.map((row) => row.join(",")).join("\n")}\n`,
        jsonl: cells.map(([a, b, c, kind]) => JSON.stringify({ a, b, c, kind })).join("\n"),
        svm: cells.map(([a, b, c, kind]) => `${kind} 1:${a} 2:${b} 3:${c}`).join("\n"),
      };
      const name = `lines.${ending}`;
      writeFileSync(path(name), written[ending as keyof typeof written]);
      const columns = ending === "svm" ? "" : "--label kind";
      for (const [estimator, line] of [
        ["classifier", `evaluate lines.ranksim ${name} --json`],
        ["transform", `transform lines.ranksim ${name} -o -`],
      ]) {
        const flags = `${columns} --set table=false --estimator ${estimator} --filters 9 -m lines.ranksim`;
        expect((await world.ranksim(`train ${name} ${flags}`)).code).toBe(0);
        const here = await world.ranksim(line);
        for (const memory of ["300KB", "100KB", "2KB"]) {
          const little = await world.ranksim(`${line} --memory ${memory}`);
          expect(little.code, little.stderr).toBe(0);
          expect(little.stdout).toBe(here.stdout);
        }
      }
    },
  );

  it("labels are numbers where those of the whole file are, not those of a block", async () => {
    const rows = 10_000;
    const file = (last: string) =>
      `a,b,kind\n${Array.from({ length: rows }, (_, r) => `${r % 7},${(r * 5) % 11},${r === rows - 1 ? last : 1 + (r % 3)}`).join("\n")}\n`;
    writeFileSync(path("words-late.csv"), file("a"));
    writeFileSync(path("numbers.csv"), file("1"));
    for (const [estimator, line] of [
      ["classifier", "evaluate labels.ranksim DATA --json"],
      ["transform", "transform labels.ranksim DATA -o - --json"],
    ]) {
      const flags = `--label kind --set table=false --estimator ${estimator} --filters 9 -m labels.ranksim`;
      expect((await world.ranksim(`train words-late.csv ${flags}`)).code).toBe(0);
      for (const data of ["words-late.csv", "numbers.csv", "numbers.csv words-late.csv"]) {
        const here = await world.ranksim(line.replace("DATA", data));
        const large = await world.ranksim(`${line.replace("DATA", data)} --memory 300KB`);
        expect([here.code, large.code]).toEqual([0, 0]);
        expect(large.stdout).toBe(here.stdout);
      }
    }
  });

  it("refuses labels that do not match the rows", async () => {
    writeFileSync(path("fewer.txt"), "ant\nbee\n");
    const found = await world.ranksim("evaluate bytes.ranksim bytes.npy --labels fewer.txt --memory 60KB");
    expect(found.stderr).toMatch(/fewer\.txt: expected 600 labels, one for each row, found 2/);
    writeFileSync(path("one-more.txt"), `${"ant\n".repeat(ROWS)}bee\n`);
    const two = await world.ranksim("evaluate bytes.ranksim bytes.npy bytes.npy --labels one-more.txt --memory 60KB");
    expect(two.stderr).toContain(`expected ${2 * ROWS} labels, one for each row, found ${ROWS + 1}`);
    const none = await world.ranksim("evaluate bytes.ranksim bytes.npy --memory 60KB");
    expect(none.stderr).toMatch(/bytes\.npy: expected labels, found none/);
  });
});

it("says what needs all rows at once, and how to get it", async () => {
  const line = "train bytes.npy --labels labels.txt --memory 60KB -m no.ranksim";
  const refused = (flag: string) => world.ranksim(`${line} --estimator classifier ${flag}`);
  const median = await refused("--set filterFunction=medianRank");
  expect(median.stderr).toMatch(/filterFunction: expected rows in memory.*leave it out.*raise --memory/);
  const little = await world.ranksim(line.replace("60KB", "2KB"));
  expect(little).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^error: --memory: expected at least \d.* for rows of \d+ bytes \(bytes\.npy\), found 2\.0 kB/,
    ),
  });
  const short = await world.ranksim("train bytes.npy --memory 60KB --estimator classifier -m no.ranksim");
  expect(short.stderr).toMatch(/bytes\.npy: expected labels, found none/);
});
