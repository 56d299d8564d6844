/** Tables, images and presets that do not fit in the memory they may take: the same model files as from memory. */

import { readFileSync, statSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { encodeNpy, packNpz } from "@ranksim/data";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeWorld, notesOfAnyRows } from "./world.ts";

const world = makeWorld();
const { path } = world;
afterAll(() => world.remove());

/** Trains from memory and from a source, and expects one model file. */
async function sameModel(line: string, memory: string): Promise<string> {
  const here = await world.ranksim(`train ${line} --json -q -m here.ranksim`);
  const large = await world.ranksim(`train ${line} --json -q -m large.ranksim --memory ${memory}`);
  expect([here.code, large.code, large.stderr]).toEqual([0, 0, ""]);
  expect(readFileSync(path("large.ranksim")).equals(readFileSync(path("here.ranksim")))).toBe(true);
  const [a, b] = [here, large].map(({ stdout }) => JSON.parse(stdout));
  for (const key of ["heldOut", "recipe"]) expect(b[key]).toEqual(a[key]);
  expect(b.notes).toEqual(notesOfAnyRows(a.notes));
  return large.stdout;
}

/** Words, dates, truths, gaps, decimal commas, a number in every row, a column that turns from numbers into words late. */
function mixedTable(rows: number, from = 0): string {
  const lines = ["key;colour;when;size;flag;late;thousands;comma late;quality"];
  for (let i = from; i < from + rows; i++) {
    const good = i % 2 === 0;
    const colour = i % 11 === 0 ? "" : good ? ["red", "blue", "green"][i % 3] : i % 4 === 1 ? "grey" : "red";
    const size = i % 13 === 0 ? "NA" : String(((good ? 50 : 20) + ((i * 5) % 17)) / 10).replace(".", ",");
    const late = i > 700 && i % 50 === 0 ? "none yet" : String((i * 3) % 7);
    const comma = i > 800 && i % 40 === 0 ? "x" : `${i % 5},50`;
    const cells = [
      i,
      colour,
      `${10 + ((i * 7) % 19)}.${good ? 11 : 2}.2023`,
      size,
      i % 5 < (good ? 4 : 1) ? "yes" : "no",
    ];
    lines.push([...cells, late, `1,${100 + (i % 3)}`, comma, good ? "good" : "bad"].join(";"));
  }
  return `${lines.join("\n")}\n`;
}

describe("tables", () => {
  beforeAll(() => {
    writeFileSync(path("mixed.csv"), mixedTable(900));
    const [header, ...lines] = mixedTable(900).trimEnd().split("\n");
    writeFileSync(path("a.csv"), [header, ...lines.slice(0, 850), ""].join("\n"));
    // Columns in another order are found by their names.
    const turned = [header, ...lines.slice(850)].map((line) => line.split(";").reverse().join(";"));
    writeFileSync(path("b.csv"), [...turned, ""].join("\n"));
    const few = Array.from(
      { length: 1500 },
      (_, r) => `${r % 7},${(r % 3) * 1000 + (r % 11)},${r / 8},${"xyz"[r % 3]}`,
    );
    writeFileSync(path("few.csv"), `${few.join("\n")}\n`);
    const rows = Array.from(
      { length: 900 * 12 },
      (_, j) => ((j * 7919) % 101) / 3 + (j % 12 === 4 ? 1e4 * (j % 5) : 0),
    );
    writeFileSync(path("wide.npy"), encodeNpy(Float64Array.from(rows), [900, 12]));
    writeFileSync(path("wide.txt"), `${Array.from({ length: 900 }, (_, r) => "uvw"[r % 3]).join("\n")}\n`);
  });

  it.each([
    ["words, dates and gaps", "mixed.csv --label quality --filters 40"],
    ["by hand", "mixed.csv --label quality --estimator classifier --filters 30 --columns late:category --set knots=4"],
    ["with rows held out", "mixed.csv --label quality --filters 30 --test-share 0.3 --seed 3"],
    ["probabilities", "mixed.csv --label quality --estimator probabilistic --filters 20"],
    ["numbers without names", "few.csv --label 3 --filters 30"],
    ["an array", "wide.npy --labels wide.txt --filters 30"],
  ])("%s", async (_, line) => {
    await sameModel(line, "60KB");
    const shown = await world.ranksim("inspect large.ranksim --json");
    expect(JSON.parse(shown.stdout)).toMatchObject({ schema: expect.anything() });
  });

  it("of several files, columns by name", async () => {
    await sameModel("a.csv b.csv --label quality --filters 30", "60KB");
  });

  it("of several files whose labels are not used", async () => {
    for (const name of ["one.csv", "two.csv"]) {
      const rows = Array.from({ length: 300 }, (_, r) => `${r % 7},${(r * name.charCodeAt(0)) % 31},${"xyz"[r % 3]}`);
      writeFileSync(path(name), `p,q,label\n${rows.join("\n")}\n`);
    }
    await sameModel("one.csv two.csv --estimator transform --filters 20", "12KB");
  });

  it("that take more memory than their size lets expect", async () => {
    const packed = gzipSync(readFileSync(path("mixed.csv")));
    writeFileSync(path("mixed.csv.gz"), packed);
    // Just enough by size: reading whole is tried, refused, and left.
    for (const [name, memory] of [
      ["mixed.csv", 4 * statSync(path("mixed.csv")).size],
      ["mixed.csv.gz", 16 * packed.byteLength],
    ]) {
      await sameModel(`${name} --label quality --estimator classifier --filters 20`, `${memory}B`);
      const judged = await world.ranksim(`evaluate here.ranksim ${name} --json`);
      expect(await world.ranksim(`evaluate here.ranksim ${name} --json --memory ${memory}B`)).toEqual(judged);
    }
    // An archive cannot be read in blocks: it stays refused.
    const zeros = encodeNpy(new Float64Array(9e5), [9e4, 10]);
    writeFileSync(path("zeros.npy.gz"), gzipSync(zeros));
    const refused = await world.ranksim("train zeros.npy.gz --estimator transform -m no.ranksim --memory 1MB");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("can be read in 8.39 MB of memory") });
  });

  it("names a file as the user did, where reading it whole and in blocks was tried", async () => {
    writeFileSync(path("flat.idx"), Uint8Array.from([0, 0, 8, 1, 0, 0, 0, 200, ...new Uint8Array(200)]));
    const refused = await world.ranksim("train flat.idx --estimator transform -m no.ranksim --memory 9KB");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/^error: flat\.idx: .*shape \(200\)/) });
  });

  it.each([
    ["numbers", "--columns pad:ignore,word:ignore --set table=false"],
    ["a table", "--columns pad:ignore"],
    ["texts", "--columns pad:ignore,a:ignore,b:ignore --text --columns word:text"],
  ])("with labels that turn out to be words in a later block: %s", async (_, flags) => {
    // Long rows, so that the last are in a second block.
    const lines = Array.from({ length: 1200 }, (_, r) =>
      [r % 7, (r * 5) % 31, "uvw"[r % 3].repeat(2), "-".repeat(2000), r < 1190 ? r % 3 : "x"].join(","),
    );
    writeFileSync(path("blocks.csv"), `a,b,word,pad,label\n${lines.join("\n")}\n`);
    const trained = await sameModel(`blocks.csv ${flags} --estimator classifier --filters 20`, "1MB");
    expect(JSON.parse(trained).classes).toEqual(["0", "1", "2", "x"]);
  });

  it("refuses words that do not fit, and says which flag helps", async () => {
    const long = Array.from({ length: 3000 }, (_, r) => `w${r}${"long".repeat(20)},${r % 9},${"xy"[r % 2]}`);
    writeFileSync(path("long.csv"), `name,size,label\n${long.join("\n")}\n`);
    const found = await world.ranksim("train long.csv -m no.ranksim --memory 200KB");
    const told =
      /different words.*found column "name" with \d+ or more; leave it out with --columns "name:ignore", or raise --memory/;
    expect(found).toMatchObject({ code: 1, stderr: expect.stringMatching(told) });
    await sameModel("long.csv --columns name:ignore", "200KB");
    // Dates say something of their rows: there is nothing to leave out.
    const days = long.map((line, r) => line.replace(/^\w+/, new Date(r * 864e5).toISOString().slice(0, 10)));
    writeFileSync(path("days.csv"), `day,size,label\n${days.join("\n")}\n`);
    const short = await world.ranksim("train days.csv -m no.ranksim --memory 60KB");
    expect(short.stderr).toMatch(/found column "day" with 3000 or more; raise --memory\n$/);
  });
});

describe("presets", () => {
  const SIDE = 8;
  beforeAll(() => {
    const pixel = (r: number, i: number) =>
      ((r % 3 === Math.floor(i / SIDE) % 3 ? 160 : 20) + ((r * 31 + i * 17) % 60)) | 0;
    const all = Uint8Array.from({ length: 240 * SIDE * SIDE }, (_, j) => pixel(Math.floor(j / 64), j % 64));
    writeFileSync(path("images.npy"), encodeNpy(all, [240, SIDE, SIDE]));
    const rows = encodeNpy(all, [240, SIDE * SIDE]);
    writeFileSync(path("rows.npy"), rows);
    const numbers = encodeNpy(
      Uint8Array.from({ length: 240 }, (_, r) => r % 3),
      [240],
    );
    const noisy = all.map((value, j) => value ^ (Math.imul(j, 2_654_435_761) >>> 28)); // so that it packs badly
    writeFileSync(path("rows.npz"), packNpz({ x: encodeNpy(noisy, [240, SIDE * SIDE]), y: numbers }));
    writeFileSync(
      path("names.txt"),
      `${Array.from({ length: 240 }, (_, r) => ["ant", "bee", "cow"][r % 3]).join("\n")}\n`,
    );
    const words = ["ant", "bee", "cow", "dog", "eel"];
    const texts = Array.from({ length: 400 }, (_, r) => {
      const text = Array.from({ length: 9 }, (_, i) => words[(r * 7 + i * i + (r % 3) * i) % 5] + (i % (2 + (r % 3))));
      return `${text.join(" ")},${["x", "y", "z"][r % 3]}`;
    });
    writeFileSync(path("texts.csv"), `text,label\n${texts.join("\n")}\n`);
    const sparse = Array.from(
      { length: 500 },
      (_, r) => `${"xyz"[r % 3]} ${1 + (r % 3)}:2 ${5 + (r % 7)}:1 ${14 + (r % 5)}:3`,
    );
    writeFileSync(path("sparse.svm"), `${sparse.join("\n")}\n`);
  });

  it.each([
    ["images by patches", "images.npy --labels names.txt", "fast"],
    ["numbers", "rows.npy --labels names.txt", "balanced"],
    ["numbers in a committee", "rows.npy --labels names.txt --filters 48 --set refineEpochs=3", "best"],
    ["sparse numbers", "sparse.svm", "balanced"],
    ["the paper's", "images.npy --labels names.txt --filters 30", "paper"],
    ["texts", "texts.csv --text", "balanced"],
    ["texts, some held out", "texts.csv --text --test-share 0.25", "fast"],
  ])("%s", async (_, line, preset) => {
    const told = await sameModel(`${line} --preset ${preset}`, "20KB");
    expect(JSON.parse(told).recipe).toMatchObject({ preset });
  });

  it("an archive of arrays, which is read whole, with its labels", async () => {
    await sameModel("rows.npz --preset fast", "10KB");
  });
});
