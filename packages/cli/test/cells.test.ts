/** Naming cells by the command: folders of counts, genes that a query lacks or calls otherwise, and answers with barcodes. */

import { readFileSync, writeFileSync } from "node:fs";
import { fileSource, readData } from "@ranksim/data/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isFull } from "../../core/test/tier.ts";
import { writeCells } from "./cell-folders.ts";
import { makeWorld } from "./world.ts";

const world = makeWorld();
const { path } = world;
afterAll(() => world.remove());

const GENES = Array.from({ length: 60 }, (_, g) => `Gene${g}`);
const TYPES = ["T cell", "B cell", "mono, CD14"];
/** Two thirds of the genes, in another order and in upper case. */
const FEWER = GENES.filter((_, g) => g % 3 !== 1 || g < 30)
  .reverse()
  .map((gene) => gene.toUpperCase());

const ran = async (line: string) => {
  const { code, stdout, stderr } = await world.ranksim(line);
  expect(stderr).not.toContain("error");
  expect(code, stderr).toBe(0);
  return { stdout, stderr };
};

beforeAll(async () => {
  writeCells(path("reference"), { cells: 150, genes: GENES, types: TYPES });
  writeCells(path("query"), { cells: 60, genes: FEWER, types: TYPES, depth: 20, seed: 7 });
  writeCells(path("strange"), { cells: 20, genes: GENES.map((_, g) => `Zzz${g + 500}`), types: TYPES });
});

/** The full tier asks all of them. */
const MODELS: [name: string, flags: string][] = [
  ["filters", "--estimator classifier --filters 3 --set distribution=savage"],
  ["planes", "--preset balanced --for onnx"],
  ["what is chosen", "--preset fast"],
];

describe.each(MODELS.slice(0, isFull ? MODELS.length : 1))("a model of cells, %s", (_, flags) => {
  beforeAll(async () => {
    await ran(`train reference --metadata reference/metadata.csv ${flags} -q -m cells.ranksim`);
  });

  it("names the cells of a query with fewer genes", async () => {
    const { stderr } = await ran("predict cells.ranksim query -o named.csv");
    expect(stderr).toContain(`query: ${FEWER.length} of 60 genes of the model found; the others take no part`);
    const [head, ...lines] = readFileSync(path("named.csv"), "utf8").trim().split("\n");
    expect(head).toBe("barcode,label,label 1,probability 1,label 2,probability 2");
    expect(lines.map((line) => line.split(",")[0])).toEqual(Array.from({ length: 60 }, (_, c) => `CELL${c}-1`));
    expect(lines.filter((line, c) => line.includes(TYPES[c % 3])).length).toBeGreaterThan(55);
    const { stdout } = await ran("predict cells.ranksim query -q");
    expect(stdout).toBe(readFileSync(path("named.csv"), "utf8"));
  });

  it("is judged, shown and explained on it", async () => {
    const { stdout } = await ran("evaluate cells.ranksim query --metadata query/metadata.csv --json");
    expect(JSON.parse(stdout).accuracy).toBeGreaterThan(0.9);
    await ran("report cells.ranksim query --metadata query/metadata.csv -o report.html");
    expect(readFileSync(path("report.html"), "utf8")).toMatch(/Gene\d/);
    const explained = await ran("explain cells.ranksim query --row 0");
    expect(explained.stdout).toMatch(/Gene\d/);
  });

  it("refuses files of other genes", async () => {
    const { code, stderr } = await world.ranksim("predict cells.ranksim strange");
    expect(code).toBe(1);
    expect(stderr).toContain("expected at least 20 % of the model's 60 genes");
  });
});

it("calls cells unlike the reference unassigned", async () => {
  await ran(
    "train reference --metadata reference/metadata.csv --estimator classifier --filters 3 --sets -q -m sure.ranksim",
  );
  const { stdout } = await ran("predict sure.ranksim query --reject 0.9 -q");
  expect(stdout.split("\n").filter((line) => line.split(",")[1] === "unassigned").length).toBeGreaterThan(0);
});

it("writes an AnnData file again with the types of its cells", async () => {
  const original = readFileSync(new URL("../../data/test/fixtures/cells.h5ad", import.meta.url));
  writeFileSync(path("few.h5ad"), original);
  await ran("train few.h5ad --estimator classifier --filters 2 -q -m few.ranksim");
  await ran("predict few.ranksim few.h5ad -o named.h5ad");
  expect(readFileSync(path("few.h5ad")).equals(original)).toBe(true);
  const { y, rowNames } = await readData(await fileSource(path("named.h5ad")), { labelColumn: "ranksim_type" });
  const { stdout } = await ran("predict few.ranksim few.h5ad -q");
  const lines = stdout.trim().split("\n").slice(1);
  expect(lines.map((line) => line.split(",").slice(0, 2))).toEqual(rowNames?.map((name, r) => [name, y?.[r]]));
  const sure = await readData(await fileSource(path("named.h5ad")), { labelColumn: "ranksim_probability" });
  expect(lines.map((line) => Number(line.split(",")[3]))).toEqual(sure.y);
  const again = await world.ranksim("predict few.ranksim named.h5ad -o again.h5ad");
  expect(again.stderr).toContain("expected a table of cells without ranksim_type");
  const other = await world.ranksim("predict few.ranksim query -o other.h5ad");
  expect(other.stderr).toContain("give one such file");
});
