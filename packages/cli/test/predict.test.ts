/** Answers as they come, in every format, with columns handed on; several files as one; packed files. */

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { Dense } from "@ranksim/core";
import { bytesSource, loadDigits, readData, writeData } from "@ranksim/data";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answersAsText } from "../src/commands/answers.ts";
import { EXAMPLE_CONTENTS, makeWorld, type World } from "./world.ts";

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));

let world: World;
let expected: string[];
beforeAll(async () => {
  world = makeWorld();
  for (const [name, content] of Object.entries(EXAMPLE_CONTENTS)) writeFileSync(world.path(name), content);
  const { x, y } = await loadDigits();
  const head = `id,${Array.from({ length: 64 }, (_, i) => `p${i}`).join(",")},digit`;
  const lines = y.map((label, r) => `row ${r},${x.row(r).join(",")},${label}`);
  const part = (from: number, to: number) => `${[head, ...lines.slice(from, to)].join("\n")}\n`;
  writeFileSync(world.path("train.csv"), part(0, 600));
  mkdirSync(world.path("parts"));
  writeFileSync(world.path("all.csv"), part(600, 900));
  for (const [k, [from, to]] of [
    [600, 700],
    [700, 750],
    [750, 900],
  ].entries())
    writeFileSync(world.path(`parts/p${k}.csv`), part(from, to));
  writeFileSync(world.path("all.csv.gz"), gzipSync(part(600, 900)));
  await world.ranksim(
    "train --estimator classifier train.csv --label digit --columns id:ignore --filters 60 -m m.ranksim",
  );
  expected = (await world.ranksim("predict m.ranksim all.csv")).stdout.trimEnd().split("\n");
});
afterAll(() => world.remove());

describe("formats", () => {
  test("a line for each row", () => {
    expect(expected).toHaveLength(300);
    expect(new Set(expected).size).toBe(10);
  });

  test("CSV and JSON lines with ids, kept columns, the top classes and probabilities", async () => {
    const flags = "--columns id:id --keep digit --top 2 --probabilities";
    const csv = await world.ranksim(`predict m.ranksim all.csv ${flags} --out a.csv`);
    expect(csv.code, csv.stderr).toBe(0);
    const [head, ...lines] = readFileSync(world.path("a.csv"), "utf8").trimEnd().split("\n");
    expect(head).toBe("id,digit,label,label 1,probability 1,label 2,probability 2,0,1,2,3,4,5,6,7,8,9");
    expect(lines.map((line) => line.split(",")[2])).toEqual(expected);
    expect(lines[0].split(",").slice(0, 2)).toEqual(["row 600", expect.stringMatching(/^\d$/)]);
    for (const line of lines) {
      const cells = line.split(",");
      const shares = cells.slice(7).map(Number);
      expect(Number(cells[4])).toBe(Math.max(...shares));
      expect(Number(cells[6])).toBeLessThanOrEqual(Number(cells[4]));
    }
    const { stdout } = await world.ranksim(`predict m.ranksim all.csv ${flags} --out-format jsonl`);
    const first = JSON.parse(stdout.split("\n")[0]);
    expect(first).toMatchObject({ id: "row 600", label: Number(expected[0]), top: [{}, {}] });
    expect(Object.keys(first.probabilities)).toHaveLength(10);
  });

  test("lines of labels are what each label is, one after the other, whatever labels there are", async () => {
    const shape = { classes: [], keptNames: [], probabilities: false, top: 0 };
    const odd = ["a", 0, -1.5, "", "ä€😀", "two\r\nlines\n", "\ud800", "a", "b,c", 1e21];
    const line = (label: (typeof odd)[number] | null | readonly string[]) =>
      `${label === null ? "" : typeof label === "object" ? label.join(",") : String(label).replace(/[\r\n]+/g, " ")}\n`;
    const blocks = [odd, [], odd.toReversed(), ["a", null, "b"], [["x", "y"], [], ["z"]], Array(5000).fill(7)];
    const found: string[] = [];
    const answers = (async function* () {
      for (const labels of blocks) yield { labels, probabilities: undefined, kept: [] };
    })();
    for await (const piece of answersAsText(answers, "lines", shape)) found.push(new TextDecoder().decode(piece));
    const expected = blocks.map((labels) => labels.map(line).join("").replaceAll("\ud800", "\ufffd"));
    expect(found).toEqual(expected);
  });

  test("a file of several blocks is answered as its rows are, or not at all where it is interrupted", async () => {
    const { x, y } = await loadDigits();
    const times = 12; // three blocks, the last of them short
    const rows = Dense.of(new Uint8Array(times * x.values.length), times * x.rows, x.features);
    for (let t = 0; t < times; t++) rows.values.set(x.values, t * x.values.length);
    const write = (name: string, x: Dense) =>
      writeFileSync(world.path(name), Buffer.concat([...writeData({ form: "matrix", x }, "npy")]));
    write("few.npy", x);
    write("many.npy", rows);
    writeFileSync(world.path("few.txt"), y.join("\n"));
    await world.ranksim(
      "train few.npy --labels few.txt --set table=false --estimator probabilistic --filters 30 -m few.ranksim",
    );
    const few = (await world.ranksim("predict few.ranksim few.npy")).stdout;
    const many = await world.ranksim("predict few.ranksim many.npy --out many.txt");
    expect(many.code, many.stderr).toBe(0);
    expect(readFileSync(world.path("many.txt"), "utf8") === few.repeat(times)).toBe(true);
    const before = readdirSync(world.folder).sort();
    const codes: number[] = [];
    for (const delay of [0, 5, 20, 40, 80]) {
      writeFileSync(world.path("many.txt"), "old");
      const controller = new AbortController();
      setTimeout(() => controller.abort(new Error("interrupted")), delay);
      const { code } = await world.ranksim("predict few.ranksim many.npy --out many.txt", {
        signal: controller.signal,
      });
      codes.push(code);
      const found = readFileSync(world.path("many.txt"), "utf8");
      expect(found === (code === 0 ? few.repeat(times) : "old")).toBe(true);
      expect(readdirSync(world.folder).sort()).toEqual(before);
    }
    expect(codes[0]).not.toBe(0);
  });

  test("a kept column of labels stands beside the answers, not in their place", async () => {
    const table = "label,a,b\nup,1,2\ndown,2,1\nup,3,9\n";
    writeFileSync(world.path("kept.csv"), table);
    await world.ranksim("train kept.csv --label label -m kept.ranksim");
    writeFileSync(world.path("kept.csv"), table.replaceAll("up,", "odd,"));
    const answers = async (flags: string) =>
      (await world.ranksim(`predict kept.ranksim kept.csv --keep label ${flags}`)).stdout.split("\n");
    expect(JSON.parse((await answers("--out-format jsonl"))[0])).toEqual({ "label (kept)": "odd", label: "up" });
    expect((await answers("")).slice(0, 2)).toEqual(["label (kept),label", "odd,up"]);
  });

  test("nothing is written where the data is refused, and the flags at fault are named", async () => {
    mkdirSync(world.path("texts/a"), { recursive: true });
    writeFileSync(world.path("texts/a/1"), "x");
    expect(await world.ranksim("predict m.ranksim texts --columns id:id")).toMatchObject({ code: 2, stdout: "" });
    const { stderr } = await world.ranksim("predict m.ranksim all.csv --columns id:id --out ids.npy");
    const none = await world.ranksim("predict m.ranksim all.csv --keep nowhere");
    expect(none.stderr).toMatch(/^error: --keep: all.csv: expected one of the columns id, p0, .*, found "nowhere"/);
    expect(stderr).toContain("npy has no place for a column of ids, --keep, --top or --coverage; write .csv");
  });

  test("Parquet, npy and npz hold the same", async () => {
    for (const name of ["a.parquet", "a.npy", "a.npz"]) {
      const { code, stderr } = await world.ranksim(`predict m.ranksim all.csv --out ${name}`);
      expect(code, stderr).toBe(0);
    }
    const parquet = await readData(bytesSource(readFileSync(world.path("a.parquet")), "a.parquet"), {
      labelColumn: null,
    });
    if (parquet.form !== "matrix" || parquet.x.form !== "dense") throw new Error("expected numbers");
    expect(Array.from(parquet.x.values, String)).toEqual(expected);
    expect(parquet.featureNames).toEqual(["label"]);
    const npy = readFileSync(world.path("a.npy"));
    expect(npy.subarray(0, 128).toString("latin1")).toContain("'shape': (300,)");
    expect(
      Array.from(new BigInt64Array(npy.buffer.slice(npy.byteOffset + 128, npy.byteOffset + 128 + 2400)), String),
    ).toEqual(expected);
    const npz = await readData(bytesSource(readFileSync(world.path("a.npz")), "a.npz"), {
      arrays: { x: "labels" },
    }).catch((error) => error);
    expect(npz).not.toBeInstanceOf(TypeError);
    await world.ranksim("predict m.ranksim all.csv --probabilities --out p.npz");
    const shares = await readData(bytesSource(readFileSync(world.path("p.npz")), "p.npz"), {
      arrays: { x: "probabilities", y: "labels" },
    });
    expect(shares).toMatchObject({ x: { rows: 300, features: 10 } });
    expect(shares.y?.map(String)).toEqual(expected);
  });

  test("Parquet with names and text columns", async () => {
    await world.ranksim("train --estimator classifier plants.csv --label species -m plants.ranksim");
    const line = "predict plants.ranksim plants.csv --keep species --top 1 --out plants.parquet";
    expect(await world.ranksim(line)).toMatchObject({ code: 0 });
    const found = await readData(bytesSource(readFileSync(world.path("plants.parquet")), "p.parquet"), {
      labelColumn: "label",
      textColumn: "species",
    });
    expect(found.y).toHaveLength(60);
    expect(found).toMatchObject({ form: "text" });
  });
});

describe("several files", () => {
  test("are read as one, by name or by pattern", async () => {
    for (const line of ["parts/p0.csv parts/p1.csv parts/p2.csv", "'parts/*.csv'", "'**/p[0-2].csv'", "all.csv.gz"]) {
      const { stdout, stderr, code } = await world.ranksim(`predict m.ranksim ${line}`);
      expect(code, stderr).toBe(0);
      expect(stdout.trimEnd().split("\n")).toEqual(expected);
    }
    expect(await world.ranksim("predict m.ranksim 'parts/*.tsv'")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("parts/*.tsv: no file has a name like that"),
    });
  });

  test("train the model that their rows in one file train", async () => {
    const flags = "--label digit --columns id:ignore --filters 30";
    await world.ranksim(`train --estimator classifier all.csv ${flags} -m one.ranksim`);
    await world.ranksim(`train --estimator classifier 'parts/*.csv' ${flags} -m several.ranksim`);
    expect(readFileSync(world.path("several.ranksim")).equals(readFileSync(world.path("one.ranksim")))).toBe(true);
    const judged = JSON.parse((await world.ranksim("evaluate m.ranksim 'parts/*.csv' --json")).stdout);
    expect(judged.rows).toBe(300);
  });
});

test.skipIf(!existsSync(BIN))("a line in is a line out, before the next one comes", async () => {
  const child = spawn(process.execPath, [BIN, "predict", "m.ranksim", "-", "-q"], { cwd: world.folder, stdio: "pipe" });
  const [head, ...lines] = readFileSync(world.path("all.csv"), "utf8").trimEnd().split("\n");
  const answers: string[] = [];
  let heard = () => {};
  child.stdout.on("data", (chunk) => {
    answers.push(...String(chunk).trimEnd().split("\n"));
    heard();
  });
  child.stdin.write(`${head}\n`);
  for (const line of lines.slice(0, 5)) {
    const answered = new Promise<void>((resume) => {
      heard = resume;
    });
    child.stdin.write(`${line}\n`);
    await answered;
  }
  expect(answers).toEqual(expected.slice(0, 5));
  child.stdin.end();
  expect(await new Promise((resume) => child.on("close", resume))).toBe(0);
});
