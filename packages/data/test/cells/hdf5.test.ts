import { readFileSync } from "node:fs";
import { Csr, type Schema } from "@ranksim/core";
import { expect, test } from "vitest";
import { Budget, type ByteSource, bytesSource, type MatrixData, readBlocks, readData } from "../../src/index.ts";
import { fileSource } from "../../src/node.ts";
import { expectRefusal, rowsOf } from "../rows.ts";

const pathOf = (name: string) => new URL(`../fixtures/${name}`, import.meta.url).pathname;
const bytesOf = (name: string): ByteSource => bytesSource(new Uint8Array(readFileSync(pathOf(name))), name);
const matrix = async (reading: Promise<unknown>) => (await reading) as MatrixData;

const ROWS = [
  [5, 0, 700, 0],
  [1, 2, 0, 0],
  [0, 0, 3, 9],
];
const GENES = ["INS", "Gcg", "SST", "PPY"];

const FILES: [name: string, genes: number, labels: readonly string[] | undefined][] = [
  ["cells.h5ad", 4, ["alpha", "beta", ""]],
  ["cells-10x.h5", 3, undefined],
  ["cells.loom", 4, ["alpha", "beta", ""]],
];

test.each(FILES)(
  "%s is sparse rows, one a cell, from bytes and from a file, whole and in blocks",
  async (name, genes, y) => {
    for (const source of [bytesOf(name), await fileSource(pathOf(name))]) {
      const data = await matrix(readData(source, { emptyLabels: "keep" }));
      expect(data.x).toBeInstanceOf(Csr);
      expect(rowsOf(data)).toEqual(ROWS.map((row) => row.slice(0, genes)));
      expect([data.featureNames, data.rowNames, data.y]).toEqual([GENES.slice(0, genes), ["AA-1", "CC-1", "GG-1"], y]);
      expect(data.featureIds?.[1]).toBe("ENSG00000000002");
      const blocks: number[][] = [];
      for await (const block of readBlocks(source, { emptyLabels: "keep", budget: new Budget(1e7) })) {
        blocks.push(...rowsOf(block as MatrixData));
      }
      expect(blocks).toEqual(rowsOf(data));
    }
  },
);

test("columns of cells are labels and groups, and cells without a type are left out", async () => {
  const options = { groupColumn: "donor", emptyLabels: "leave out" } as const;
  const data = await matrix(readData(bytesOf("cells.h5ad"), options));
  expect([data.y, data.groups, data.rowNames]).toEqual([
    ["alpha", "beta"],
    ["d1", "d2"],
    ["AA-1", "CC-1"],
  ]);
  await expectRefusal(readData(bytesOf("cells.h5ad")), "bad-file", "GG-1", "cell_type", "expected a label");
  const depth = await matrix(readData(bytesOf("cells.h5ad"), { labelColumn: "depth" }));
  expect(depth.y).toEqual([705, 3, 12]);
});

test("counts are taken where they are, unless a layer is named", async () => {
  const counts = await matrix(readData(bytesOf("cells.h5ad"), { labelColumn: null }));
  expect(counts.notes?.join()).toContain("X has no counts, layers/counts has and is taken");
  const logs = await matrix(readData(bytesOf("cells.h5ad"), { labelColumn: null, layer: "X" }));
  expect(rowsOf(logs)[0][0]).toBeCloseTo(Math.log1p(5), 6);
  const strange = readData(bytesOf("cells.h5ad"), { labelColumn: null, layer: "spliced" });
  await expectRefusal(strange, "bad-params", "layer", "X, counts", '"spliced"');
});

test("genes of a model are found by number", async () => {
  const schema: Schema = {
    form: "numbers",
    width: 2,
    columns: ["ENSG00000000004", "ENSG00000000001.7"].map((name) => ({ name, type: "number" })),
    reading: { genes: true },
  };
  expect(rowsOf(await matrix(readData(bytesOf("cells.h5ad"), { schema, labelColumn: null })))).toEqual([
    [0, 5],
    [0, 1],
    [9, 0],
  ]);
});

test("other HDF5 and damaged files are refused by name", async () => {
  const { default: h5 } = await import("h5wasm");
  const { FS } = await h5.ready;
  const file = new h5.File("/other.h5", "w");
  file.create_dataset({ name: "weights", data: new Float32Array(4) });
  file.close();
  const other = bytesSource(FS?.readFile("/other.h5") as Uint8Array, "other.h5");
  await expectRefusal(readData(other), "bad-file", "AnnData (.h5ad), 10x Genomics (.h5) or loom", "weights");
  const cut = bytesSource(new Uint8Array(readFileSync(pathOf("cells.h5ad"))).subarray(0, 900), "cut.h5ad");
  await expectRefusal(readData(cut), "bad-file", "cut.h5ad");
});
