/** Small folders of counts as 10x Genomics writes them, drawn: each type of cells has genes of its own. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What is drawn. */
export interface DrawnCells {
  readonly cells: number;
  readonly genes: readonly string[];
  readonly types: readonly string[];
  /** What each count is multiplied by: another lab sequences deeper. */
  readonly depth?: number;
  readonly seed?: number;
}

/** The counts of a cell, gene by gene: a gene belongs to the type that its number says. */
export function drawnCounts({ cells, genes, types, depth = 1, seed = 1 }: DrawnCells): number[][] {
  let state = seed;
  const draw = () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
  return Array.from({ length: cells }, (_, c) =>
    genes.map((gene) => {
      const isOwn = Number(gene.replace(/\D/g, "")) % types.length === c % types.length;
      return draw() < (isOwn ? 0.6 : 0.15) ? Math.ceil((isOwn ? 6 : 2) * draw() * depth) : 0;
    }),
  );
}

/** Writes a folder with its matrix, its names and its metadata. */
export function writeCells(folder: string, drawn: DrawnCells): void {
  const { cells, genes, types } = drawn;
  mkdirSync(folder, { recursive: true });
  const entries = drawnCounts(drawn).flatMap((row, c) =>
    row.flatMap((count, g) => (count > 0 ? [`${g + 1} ${c + 1} ${count}`] : [])),
  );
  const write = (name: string, lines: readonly string[]) => writeFileSync(join(folder, name), `${lines.join("\n")}\n`);
  const head = "%%MatrixMarket matrix coordinate integer general";
  write("matrix.mtx", [head, `${genes.length} ${cells} ${entries.length}`, ...entries]);
  write(
    "features.tsv",
    genes.map((gene) => `ENSG${gene.replace(/\D/g, "").padStart(11, "0")}\t${gene}\tGene Expression`),
  );
  const barcodes = Array.from({ length: cells }, (_, c) => `CELL${c}-1`);
  write("barcodes.tsv", barcodes);
  write("metadata.csv", [
    "barcode,cell_type",
    ...barcodes.map((barcode, c) => `${barcode},"${types[c % types.length]}"`),
  ]);
}

/** Writes an AnnData file without types: dense counts, barcodes and genes. */
export async function writeH5ad(path: string, drawn: DrawnCells): Promise<void> {
  const { default: h5 } = await import("h5wasm");
  const { FS } = await h5.ready;
  const { cells, genes } = drawn;
  const file = new h5.File("/drawn.h5ad", "w");
  file.create_dataset({ name: "X", data: Float32Array.from(drawnCounts(drawn).flat()), shape: [cells, genes.length] });
  for (const [table, index] of [
    ["obs", Array.from({ length: cells }, (_, c) => `CELL${c}-1`)],
    ["var", genes],
  ] as const) {
    const group = file.create_group(table);
    group.create_attribute("_index", "_index");
    group.create_dataset({ name: "_index", data: [...index] });
  }
  file.close();
  writeFileSync(path, FS?.readFile("/drawn.h5ad") as Uint8Array);
}
