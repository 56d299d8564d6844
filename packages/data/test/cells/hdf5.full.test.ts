import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { Csr, type Schema } from "@ranksim/core";
import { expect, onTestFinished, test, vi } from "vitest";
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
  const text = bytesSource(new TextEncoder().encode("gene,cell\nINS,3\n".repeat(9)), "text.h5ad");
  await expectRefusal(
    readData(text),
    "bad-file",
    "text.h5ad",
    "expected the first bytes 89 48 44 46",
    "found 67 65 6e 65",
  );
});

/** Files in the form of 10x Genomics whose heap of texts is read in two parts; in the second one a flipped byte makes the library loop for ever. */
async function endless(): Promise<{ readonly good: ByteSource; readonly bad: ByteSource }> {
  const { default: h5 } = await import("h5wasm");
  const { FS } = await h5.ready;
  const file = new h5.File("/long.h5", "w");
  const matrix = file.create_group("matrix");
  const features = matrix.create_group("features");
  matrix.create_dataset({ name: "barcodes", data: ["b".repeat(6000), "c"] });
  features.create_dataset({ name: "name", data: ["INS"] });
  features.create_dataset({ name: "id", data: ["ENSG00000000001"] });
  const numbers = { data: [1, 2], indices: [0, 0], indptr: [0, 1, 2], shape: [1, 2] };
  for (const [name, data] of Object.entries(numbers)) matrix.create_dataset({ name, data: Int32Array.from(data) });
  file.close();
  const good = FS?.readFile("/long.h5") as Uint8Array;
  const heap = Buffer.from(good).indexOf("GCOL");
  const view = new DataView(good.buffer, good.byteOffset);
  // Objects lie one behind the other, each with its number and its length before it; that of the free space at the end is 0.
  let free = heap + 16;
  while (view.getUint16(free, true) !== 0) free += 16 + 8 * Math.ceil(view.getUint32(free + 8, true) / 8);
  const bad = good.slice();
  bad[free + 9] ^= 8;
  expect([free > heap + 4096, good[free + 9], bad[free + 9]]).toEqual([true, 8, 0]);
  return { good: bytesSource(good, "good.h5"), bad: bytesSource(bad, "bad.h5") };
}

test("a file over which the library loops for ever is refused after its time, and others are read meanwhile", async () => {
  const { good, bad } = await endless();
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  let isOver = false;
  const refusal = expectRefusal(readData(bad), "bad-file", "bad.h5", "60 seconds", "fetch it again").finally(() => {
    isOver = true;
  });
  expect(rowsOf(await matrix(readData(good)))).toEqual([[1], [2]]);
  vi.advanceTimersByTime(59_000);
  expect(isOver).toBe(false);
  while (!isOver) {
    vi.advanceTimersByTime(60_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await refusal;
});

test("a signal ends the reading, whatever the library does", async () => {
  const { bad } = await endless();
  const stop = new AbortController();
  const reason = new Error("enough");
  const reading = readData(bad, { signal: stop.signal });
  setTimeout(() => stop.abort(reason), 300);
  await expect(reading).rejects.toBe(reason);
  await expect(readData(bad, { signal: stop.signal })).rejects.toBe(reason);
  const blocks = readBlocks(await fileSource(pathOf("cells.h5ad")), {
    emptyLabels: "keep",
    signal: AbortSignal.abort(reason),
  });
  await expect(blocks.next()).rejects.toBe(reason);
});

test("the library breaks down over any number of files, and reads the next one", async () => {
  const bytes = new Uint8Array(readFileSync(pathOf("cells.loom")));
  bytes[2145] = 154;
  for (let time = 0; time < 4; time++) {
    await expectRefusal(
      readData(bytesSource(bytes, "bad.loom")),
      "bad-file",
      "bad.loom",
      "broke down",
      "fetch it again",
    );
  }
  expect(rowsOf(await matrix(readData(bytesOf("cells.loom"), { emptyLabels: "keep" })))).toEqual(ROWS);
});

test("eight files are read at a time", async () => {
  const readings = Array.from({ length: 8 }, (_, j) => {
    const [name, genes] = FILES[j % FILES.length];
    return [readData(bytesOf(name), { emptyLabels: "keep" }), ROWS.map((row) => row.slice(0, genes))] as const;
  });
  for (const [reading, rows] of readings) expect(rowsOf(await matrix(reading))).toEqual(rows);
});

const BUILT = new URL("../../dist/node.js", import.meta.url);

test.skipIf(!existsSync(BUILT))(
  "a process ends after the reading, with the reason of one that was stopped, and where a file is left half read",
  async () => {
    const { bad } = await endless();
    const bytes: number[] = [];
    for await (const chunk of bad.stream()) bytes.push(...chunk);
    const script = `
      import { bytesSource, fileSource, readBlocks, readData } from ${JSON.stringify(BUILT.href)};
      const bad = bytesSource(Uint8Array.from(${JSON.stringify(bytes)}), "bad.h5");
      const stopped = await readData(bad, { signal: AbortSignal.timeout(1000) }).catch((error) => error.name);
      const source = await fileSource(${JSON.stringify(pathOf("cells.h5ad"))});
      const { rowNames } = await readData(source, { emptyLabels: "keep" });
      await readBlocks(source, { emptyLabels: "keep" }).next();
      console.log(stopped, rowNames.join());`;
    const given = ["--input-type=module", "-e", script];
    const printed = execFileSync(process.execPath, given, { encoding: "utf8", timeout: 240_000 });
    expect(printed).toBe("TimeoutError AA-1,CC-1,GG-1\n");
  },
);
