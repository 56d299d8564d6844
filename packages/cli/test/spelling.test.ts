/** Columns that are said to be categories: cells of other spellings are other categories, from every format, in memory and in blocks. */

import { readFileSync, writeFileSync } from "node:fs";
import { type Label, type Model, schemaOf } from "@ranksim/core";
import { rowsFor, train } from "@ranksim/learn";

import { tableFromArrays, tableToIPC } from "apache-arrow";
import { afterAll, expect, test } from "vitest";
import { cell, workbook } from "../../data/test/xlsx-files.ts";
import { loadModel } from "../src/load-model.ts";
import { makeWorld } from "./world.ts";

const world = makeWorld();
const { path } = world;
afterAll(() => world.remove());

async function done(line: string | string[]): Promise<string> {
  const { code, stdout, stderr } = await world.ranksim(line);
  expect(code, stderr).toBe(0);
  return stdout;
}

const loaded = (name: string) => loadModel<Label, object>(readFileSync(path(name)));

/** Cells that numbers cannot tell apart, after those that they can. */
const PLAIN = ["1.1", "1.2", "1", "20"];
const CELLS = [...PLAIN, "1.10", "1.20", "01", "1,50", "1,5", "9007199254740992", "9007199254740993"];
const ROWS = 264;
const sizeOf = (r: number) => (r < ROWS / 2 ? PLAIN[r % PLAIN.length] : CELLS[r % CELLS.length]);
const classOf = (size: string) => `c${CELLS.indexOf(size)}`;

interface Row {
  readonly size: string | number;
  readonly n: number;
  readonly kind: string;
}

const rows: readonly Row[] = Array.from({ length: ROWS }, (_, r) => {
  const size = sizeOf(r);
  return { size, n: (r * 7) % 5, kind: classOf(size) };
});
const plainRows = rows.slice(0, ROWS / 2);

const asText = (mark: string) => (table: readonly Row[]) =>
  `size${mark}n${mark}kind\n${table.map(({ size, n, kind }) => [size, n, kind].join(mark)).join("\n")}\n`;
const asLines = (table: readonly Row[]) => table.map((row) => JSON.stringify(row)).join("\n");
const FORMATS: { readonly [name: string]: (table: readonly Row[]) => string | Uint8Array } = {
  "rows.csv": asText(";"),
  "rows.jsonl": asLines,
  "rows.xlsx": (table) =>
    workbook([
      ["size", "n", "kind"].map(cell.inline),
      ...table.map(({ size, n, kind }) => [cell.inline(String(size)), cell.number(n), cell.inline(kind)]),
    ]),
  "rows.arrow": (table) => {
    const columns = {
      size: table.map(({ size }) => String(size)),
      n: table.map(({ n }) => n),
      kind: table.map(({ kind }) => kind),
    };
    return tableToIPC(tableFromArrays(columns), "file");
  },
};

const FLAGS = "--label kind --columns size:category --estimator classifier --filters 12 --set voters=1 --seed 1";

const kinds = rows.map(({ kind }) => kind);
const isSame = (one: string, other: string) => readFileSync(path(one)).equals(readFileSync(path(other)));
const sizeIn = (name: string) => schemaOf(loaded(name) as unknown as Model)?.columns?.[0];

test.each(Object.entries(FORMATS))(
  "%s tells spellings apart, in training, predictions, blocks and the library",
  async (name, format) => {
    const content = format(rows);
    writeFileSync(path(name), content);
    await done(`train ${name} ${FLAGS} -m here.ranksim`);
    await done(`train ${name} ${FLAGS} -m blocks.ranksim --memory 20kB`);
    expect(isSame("blocks.ranksim", "here.ranksim")).toBe(true);
    expect((await done(`predict here.ranksim ${name}`)).trim().split("\n")).toEqual(kinds);
    expect(sizeIn("here.ranksim")).toEqual({ name: "size", type: "category", written: true });
    expect(await loaded("here.ranksim").predict(rows.map(({ size, n }) => ({ size, n })))).toEqual(kinds);
    const file = new File([content as BlobPart], name);
    const columns = { size: "category" } as const;
    const { model } = await train(file, { label: "kind", columns, estimator: "classifier", preset: "fast" });
    expect(await (model as unknown as ReturnType<typeof loaded>).predict(await rowsFor(model, file))).toEqual(kinds);
  },
);

test("texts are as numbers are where all are written as these", async () => {
  const name = "rows.csv";
  writeFileSync(path(name), FORMATS[name](plainRows));
  writeFileSync(path("numbers.jsonl"), asLines(plainRows.map((row) => ({ ...row, size: Number(row.size) }))));
  for (const memory of ["", "--memory 20kB"]) {
    await done(`train numbers.jsonl ${FLAGS} -m numbers.ranksim ${memory}`);
    await done(`train ${name} ${FLAGS} -m plain.ranksim ${memory}`);
    expect(sizeIn("plain.ranksim")).toEqual({ name: "size", type: "category" });
    expect(isSame("plain.ranksim", "numbers.ranksim")).toBe(true);
  }
});

test("files after one of plain numbers, and files without names", async () => {
  const [first, ...lines] = asText(";")(rows).trim().split("\n");
  writeFileSync(path("all.csv"), `${[first, ...lines].join("\n")}\n`);
  writeFileSync(path("a.csv"), `${[first, ...lines.slice(0, ROWS / 2)].join("\n")}\n`);
  writeFileSync(path("b.csv"), `${[first, ...lines.slice(ROWS / 2)].join("\n")}\n`);
  await done(`train all.csv ${FLAGS} -m all.ranksim`);
  for (const memory of ["", "--memory 20kB"]) {
    await done(`train a.csv b.csv ${FLAGS} -m files.ranksim ${memory}`);
    expect(isSame("files.ranksim", "all.ranksim")).toBe(true);
  }
  // Such columns have names by their place.
  writeFileSync(path("bare.csv"), `${lines.join("\n")}\n`);
  const flags = ["--label", "2", "--columns", "column 0:category", "--estimator", "classifier", "--filters", "12"];
  await done(["train", "bare.csv", ...flags, "-m", "bare.ranksim"]);
  expect((await done("predict bare.ranksim bare.csv")).trim().split("\n")).toEqual(kinds);
});

test("numbers of 19 digits in JSON, which are rounded, are refused as such categories", async () => {
  writeFileSync(path("texts.jsonl"), asLines(rows));
  writeFileSync(path("rounded.jsonl"), asLines(rows).replace('"9007199254740993"', "9007199254740993"));
  await done(`train texts.jsonl ${FLAGS} -m texts.ranksim`);
  for (const line of [`train rounded.jsonl ${FLAGS} -m x.ranksim`, "predict texts.ranksim rounded.jsonl"])
    expect(await world.ranksim(line)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/line \d+, key "size": expected categories.*beyond 2\^53.*as a string/),
    });
  await expect(() => loaded("texts.ranksim").predict([{ size: 2 ** 53, n: 1 }])).rejects.toThrow(
    /write it as a string/,
  );
});
