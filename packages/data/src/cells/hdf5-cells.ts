/** Counts of genes in HDF5: AnnData's .h5ad, 10x Genomics' .h5 and .loom, told apart by what they hold. */

import { RanksimError } from "@ranksim/core";
import type { Reading } from "../readers/options.ts";
import type { RowBlocks } from "../readers/reader.ts";
import type { Opened } from "../source.ts";
import { type CellBatch, type CellFile, cellRows, type FileNumbers } from "./counts.ts";
import type { Genes } from "./genes.ts";
import { type H5Array, type Hdf5, readingHdf5, rowsAtATime } from "./hdf5.ts";

/** Entries that are handed on at a time, and those of genes that are turned into cells in one reading of the file. */
const BATCH = 1 << 20;
const TURNED = 1 << 24;

/** Reads a file of counts. */
export async function* readHdf5(opened: Opened, options: Reading): RowBlocks {
  const { name } = opened;
  return yield* readingHdf5(opened, options, async function* (file) {
    return yield* cellRows(name, await cellsOf(file, options), options);
  });
}

async function cellsOf(file: Hdf5, options: Reading): Promise<CellFile> {
  const root = await file.keys("");
  if (root.includes("X") && root.includes("obs") && root.includes("var")) return annData(file, options);
  if (root.includes("matrix") && root.includes("row_attrs") && root.includes("col_attrs")) return loom(file);
  for (const key of root) if (await isTenX(file, key)) return tenX(file, key);
  throw file.strange({
    expected: "AnnData (.h5ad), 10x Genomics (.h5) or loom",
    found: `HDF5 with ${root.slice(0, 8).join(", ") || "nothing in it"}`,
    cure: () => "save other arrays as NPY, NPZ or Parquet",
  });
}

async function isTenX(file: Hdf5, group: string): Promise<boolean> {
  for (const part of ["barcodes", "data", "indices", "indptr", "shape"]) {
    if (!(await file.has(`${group}/${part}`))) return false;
  }
  return true;
}

/** 10x Genomics: the matrix of genes and cells by columns, which are cells. */
async function tenX(file: Hdf5, group: string): Promise<CellFile> {
  const isNew = await file.isGroup(`${group}/features`);
  const names = await file.texts(isNew ? `${group}/features/name` : `${group}/gene_names`);
  const ids = await file.texts(isNew ? `${group}/features/id` : `${group}/genes`);
  const types =
    isNew && (await file.has(`${group}/features/feature_type`))
      ? await file.texts(`${group}/features/feature_type`)
      : [];
  const isOther = Uint8Array.from(types, (type) => (type === "Gene Expression" ? 0 : 1));
  const barcodes = await file.texts(`${group}/barcodes`);
  const shape = await file.allNumbers(`${group}/shape`);
  if (shape[0] !== names.length || shape[1] !== barcodes.length) {
    throw file.refused(`${group}/shape`, `expected ${names.length} x ${barcodes.length}`, `found ${shape.join(" x ")}`);
  }
  return {
    genes: { names, ids, ...(isOther.includes(0) && isOther.includes(1) ? { isOther } : {}) },
    barcodes,
    columns: [],
    column: () => [],
    batches: () => compressedRows(file, group, barcodes.length),
  };
}

/** Loom: genes are rows of the matrix, cells its columns. */
async function loom(file: Hdf5): Promise<CellFile> {
  const named = async (group: string, names: readonly string[]): Promise<string | undefined> => {
    const key = (await file.keys(group)).find((one) => names.includes(one.toLowerCase()));
    return key === undefined ? undefined : `${group}/${key}`;
  };
  const cells = await named("col_attrs", ["cellid", "cell_id", "obs_names", "barcode", "barcodes"]);
  const symbols = await named("row_attrs", ["gene", "genes", "gene_name", "gene_names", "var_names", "symbol"]);
  const numbers = await named("row_attrs", ["accession", "ensembl", "ensembl_id", "gene_id", "gene_ids"]);
  if (!cells || !(symbols ?? numbers)) {
    const found = `${(await file.keys("row_attrs")).join(", ")}; ${(await file.keys("col_attrs")).join(", ")}`;
    throw file.strange({ expected: "row_attrs/Gene or row_attrs/Accession, and col_attrs/CellID", found });
  }
  const names = await file.texts((symbols ?? numbers) as string);
  const barcodes = await file.texts(cells);
  const matrix = checkedShape(file, await file.array("matrix", 2), names.length, barcodes.length);
  const ids = symbols && numbers ? await file.texts(numbers) : undefined;
  const columns: string[] = [];
  for (const key of await file.keys("col_attrs")) {
    const shape = (await file.metadata(`col_attrs/${key}`))?.shape;
    if (shape?.length === 1 && shape[0] === barcodes.length) columns.push(key);
  }
  return {
    genes: { names, ids },
    barcodes,
    columns,
    column: (key) => file.texts(`col_attrs/${key}`),
    async *batches() {
      const step = rowsAtATime(names.length);
      for (let from = 0; from < barcodes.length; from += step) {
        const to = Math.min(from + step, barcodes.length);
        const values = await file.numbers(matrix, [0, names.length], [from, to]);
        yield entriesOf(to - from, names.length, (cell, gene) => values[gene * (to - from) + cell]);
      }
    },
  };
}

function checkedShape(file: Hdf5, array: H5Array, rows: number, columns: number): H5Array {
  const [r, c] = array.shape;
  if (r === rows && c === columns) return array;
  throw file.refused(array.path, `expected ${rows} x ${columns}`, `found ${r} x ${c}`);
}

/** Dense values as entries. */
function entriesOf(cells: number, genes: number, valueAt: (cell: number, gene: number) => number): CellBatch {
  const offsets = new Uint32Array(cells + 1);
  const [found, values]: [number[], number[]] = [[], []];
  for (let cell = 0; cell < cells; cell++) {
    for (let gene = 0; gene < genes; gene++) {
      const value = valueAt(cell, gene);
      if (value === 0) continue;
      found.push(gene);
      values.push(value);
    }
    offsets[cell + 1] = found.length;
  }
  return { offsets, genes: found, values };
}

/** AnnData: cells are rows. */
async function annData(file: Hdf5, options: Reading): Promise<CellFile> {
  const { path, notes } = await chosenCounts(file, options.layer);
  const obs = await frame(file, "obs");
  const genes = await genesOf(file, path.startsWith("raw") ? path.replace(/X$/, "var") : "var");
  const [cells, width] = [obs.index.length, genes.names.length];
  return {
    genes,
    barcodes: obs.index,
    columns: obs.columns,
    column: obs.column,
    async *batches() {
      yield* (await file.isGroup(path)) ? await sparse(file, path, cells, width) : dense(file, path, cells, width);
    },
    notes,
  };
}

/** What holds the counts: what was asked for, else the first that has whole numbers. */
async function chosenCounts(
  file: Hdf5,
  layer: string | undefined,
): Promise<{ readonly path: string; readonly notes: readonly string[] }> {
  const raw = (await file.has("raw/X")) ? "raw/X" : "raw.X";
  const paths = new Map<string, string>([["X", "X"]]);
  for (const key of await file.keys("layers")) paths.set(key, `layers/${key}`);
  if (await file.has(raw)) paths.set("raw", raw);
  if (layer !== undefined) {
    const path = paths.get(layer);
    if (path !== undefined) return { path, notes: [] };
    const found = JSON.stringify(layer);
    throw new RanksimError("bad-params", {
      parameter: "layer",
      file: file.name,
      expected: [...paths.keys()].join(", "),
      found,
    });
  }
  const usual = ["X", "counts", "raw"].flatMap((key) => paths.get(key) ?? []);
  const looks: ({ readonly path: string } & Look)[] = [];
  for (const path of usual) looks.push({ path, ...(await lookAt(file, path)) });
  const counts = looks.find(({ areCounts }) => areCounts);
  if (counts?.path === "X") return { path: "X", notes: [] };
  if (counts)
    return {
      path: counts.path,
      notes: [`${file.name}: X has no counts, ${counts.path} has and is taken (--set layer=X takes X)`],
    };
  // Values below 0 were shifted gene by gene, which ranks do not survive.
  const { path } = looks.find(({ hasNegative }) => !hasNegative) ?? looks[0];
  return {
    path,
    notes: [`${file.name}: the values of ${path} are no counts; a model should be trained on values of the same kind`],
  };
}

/** Values of a matrix that are looked at. */
const LOOKED_AT = 4096;

interface Look {
  readonly areCounts: boolean;
  readonly hasNegative: boolean;
}

async function lookAt(file: Hdf5, path: string): Promise<Look> {
  const isSparse = await file.isGroup(path);
  const array = await (isSparse ? file.array(`${path}/data`) : file.array(path, 2));
  const [rows, width = 1] = array.shape;
  const few = Math.min(rows, isSparse ? LOOKED_AT : Math.ceil(LOOKED_AT / Math.max(1, width)));
  const values = await file.numbers(array, [0, few], ...(isSparse ? [] : [[0, width] as const]));
  let [areCounts, hasNegative] = [true, false];
  for (const value of values) {
    if (!Number.isInteger(value) || value < 0) areCounts = false;
    if (value < 0) hasNegative = true;
  }
  return { areCounts, hasNegative };
}

const IDS = /^(gene_?ids?|ensembl(_?(gene_?)?ids?)?|accession|feature_?ids?)$/i;
const SYMBOLS = /^(feature_?names?|gene_?symbols?|gene_?names?|gene_?short_?names?|symbols?|hgnc(_symbol)?)$/i;

/** Genes by the index of a frame, and the column that has their other names. */
async function genesOf(file: Hdf5, path: string): Promise<Genes> {
  const { index, columns, column } = await frame(file, path);
  const areIds = 2 * index.filter((name) => /^ENS[A-Z]*\d{11}/i.test(name)).length > index.length;
  const other = columns.find((name) => (areIds ? SYMBOLS : IDS).test(name));
  if (other === undefined) return { names: index };
  const others = await column(other);
  return areIds ? { names: others, ids: index } : { names: index, ids: others };
}

/** A table of AnnData. */
interface Frame {
  readonly index: readonly string[];
  readonly columns: readonly string[];
  column(name: string): Promise<readonly string[]>;
}

async function frame(file: Hdf5, path: string): Promise<Frame> {
  if (!(await file.isGroup(path))) return oldFrame(file, path);
  const key = await file.attribute(path, "_index");
  const name = typeof key === "string" ? key : "_index";
  const index = await file.texts(`${path}/${name}`);
  const columns = (await file.keys(path)).filter((column) => column !== name && column !== "__categories");
  return {
    index,
    columns,
    async column(column) {
      return checkedColumn(file, `${path}/${column}`, index.length, await columnOf(file, path, column));
    },
  };
}

/** Frames of AnnData before 0.7 are one array of records. */
async function oldFrame(file: Hdf5, path: string): Promise<Frame> {
  const { members: names, shape, total, size } = (await file.metadata(path)) ?? {};
  if (!names || shape?.length !== 1) throw file.refused(path, "expected a table", "found none");
  file.account.take(Number(total) * Number(size) * 2);
  const rows = await file.records(path);
  const textsOf = (c: number) => rows.map((row) => (Number.isNaN(row[c]) ? "" : String(row[c])));
  const key = Math.max(
    0,
    names.findIndex((name) => name === "index" || name === "_index"),
  );
  return {
    index: textsOf(key),
    columns: names.filter((_, c) => c !== key),
    async column(name) {
      const texts = textsOf(names.indexOf(name));
      const categories = `uns/${name}_categories`;
      return (await file.has(categories)) ? decode(texts.map(Number), await file.texts(categories)) : texts;
    },
  };
}

function checkedColumn(file: Hdf5, path: string, rows: number, texts: readonly string[]): readonly string[] {
  if (texts.length === rows) return texts;
  throw file.refused(path, `expected ${rows} values, one for each row`, `found ${texts.length}`);
}

/** A column as texts, whatever encoding it has; "" for nothing. */
async function columnOf(file: Hdf5, frame: string, name: string): Promise<readonly string[]> {
  const path = `${frame}/${name}`;
  if (await file.isGroup(path)) {
    const keys = await file.keys(path);
    if (keys.includes("codes")) return coded(file, `${path}/codes`, `${path}/categories`);
    if (!keys.includes("values")) throw file.refused(path, "expected a column of texts or numbers", "found others");
    const missing = keys.includes("mask") ? await file.allNumbers(`${path}/mask`) : [];
    return (await file.texts(`${path}/values`)).map((text, row) => (missing[row] ? "" : text));
  }
  const categories = `${frame}/__categories/${name}`;
  return (await file.has(categories)) ? coded(file, path, categories) : file.texts(path);
}

const coded = async (file: Hdf5, codes: string, categories: string): Promise<string[]> =>
  decode(await file.allNumbers(codes), await file.texts(categories));

const decode = (codes: ArrayLike<number>, categories: readonly string[]): string[] =>
  Array.from(codes, (code) => categories[code] ?? "");

async function* dense(file: Hdf5, path: string, cells: number, width: number): AsyncGenerator<CellBatch> {
  const matrix = checkedShape(file, await file.array(path, 2), cells, width);
  const step = rowsAtATime(width);
  for (let from = 0; from < cells; from += step) {
    const to = Math.min(from + step, cells);
    const values = await file.numbers(matrix, [from, to], [0, width]);
    yield entriesOf(to - from, width, (cell, gene) => values[cell * width + gene]);
  }
}

async function sparse(file: Hdf5, path: string, cells: number, width: number): Promise<AsyncIterable<CellBatch>> {
  const said = (await file.attribute(path, "encoding-type")) ?? (await file.attribute(path, "h5sparse_format"));
  const isByGene = said === "csc_matrix" || said === "csc";
  if (!isByGene && said !== "csr_matrix" && said !== "csr") {
    throw file.refused(path, "expected a csr_matrix or a csc_matrix", `found ${String(said)}`);
  }
  const shape = ((await file.attribute(path, "shape")) ?? (await file.attribute(path, "h5sparse_shape"))) as
    | readonly number[]
    | undefined;
  if (shape?.[0] !== cells || shape[1] !== width) {
    throw file.refused(path, `expected ${cells} x ${width}`, `found ${shape?.join(" x ") ?? "no shape"}`);
  }
  return isByGene ? turned(file, path, cells, width) : compressedRows(file, path, cells);
}

/** The places where rows begin, checked not to fall. */
async function startsOf(file: Hdf5, path: string, rows: number, entries: number): Promise<FileNumbers> {
  const starts = await file.allNumbers(`${path}/indptr`);
  const isRising = () => {
    for (let r = 0; r < rows; r++) if (!(starts[r + 1] >= starts[r])) return false;
    return true;
  };
  if (starts.length !== rows + 1 || starts[0] !== 0 || !isRising() || starts[rows] > entries) {
    throw file.refused(`${path}/indptr`, `expected ${rows + 1} rising places up to ${entries}`, "found others");
  }
  return starts;
}

/** Rows that are stored one after the other. */
async function* compressedRows(file: Hdf5, path: string, rows: number): AsyncGenerator<CellBatch> {
  const [indices, data] = [await file.array(`${path}/indices`), await file.array(`${path}/data`)];
  const starts = await startsOf(file, path, rows, Math.min(indices.shape[0], data.shape[0]));
  for (let from = 0; from < rows; ) {
    let to = from + 1;
    while (to < rows && starts[to + 1] - starts[from] <= BATCH) to++;
    const range = [starts[from], starts[to]] as const;
    const offsets = Float64Array.from({ length: to - from + 1 }, (_, r) => starts[from + r] - starts[from]);
    yield { offsets, genes: await file.numbers(indices, range), values: await file.numbers(data, range) };
    from = to;
  }
}

/** Cells of a matrix that is stored gene by gene: the file is read once for as many cells as have so many entries. */
async function* turned(file: Hdf5, path: string, cells: number, width: number): AsyncGenerator<CellBatch> {
  const [indices, data] = [await file.array(`${path}/indices`), await file.array(`${path}/data`)];
  const starts = await startsOf(file, path, width, Math.min(indices.shape[0], data.shape[0]));
  const entries = starts[width];
  const counts = new Uint32Array(cells);
  for (let from = 0; from < entries; from += BATCH) {
    for (const cell of await file.numbers(indices, [from, Math.min(from + BATCH, entries)])) {
      if (!(cell >= 0 && cell < cells))
        throw file.refused(`${path}/indices`, `expected cells below ${cells}`, `found ${cell}`);
      counts[cell]++;
    }
  }
  for (let first = 0; first < cells; ) {
    let last = first;
    const offsets = [0];
    while (last < cells && (last === first || offsets[offsets.length - 1] + counts[last] <= TURNED)) {
      offsets.push(offsets[offsets.length - 1] + counts[last++]);
    }
    const count = offsets[offsets.length - 1];
    file.account.take(count * 12);
    const [genes, values] = [new Uint32Array(count), new Float64Array(count)];
    const next = offsets.slice();
    let gene = 0;
    for (let from = 0; from < entries; from += BATCH) {
      const range = [from, Math.min(from + BATCH, entries)] as const;
      const [at, own] = [await file.numbers(indices, range), await file.numbers(data, range)];
      for (let e = 0; e < at.length; e++) {
        while (starts[gene + 1] <= from + e) gene++;
        if (at[e] < first || at[e] >= last) continue;
        const place = next[at[e] - first]++;
        genes[place] = gene;
        values[place] = own[e];
      }
    }
    yield { offsets, genes, values };
    file.account.give(count * 12);
    first = last;
  }
}
