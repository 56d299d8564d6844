/** Some rows of data, and all of them block by block, whether they are in memory or read when they are needed. */

import { Csr, Dense, isMatrix, listedRows, type Matrix, type Rows } from "@ranksim/core";
import { type AnyRows, type DataSet, factsOfRows, isInMemory, type MatrixRows, rowCount } from "../data-set.ts";
import { Table } from "../table/table.ts";
import { isTextSource, listedTexts } from "../text/source.ts";

/** The listed rows with what belongs to each of them. Rows that are read have to be listed in ascending order. */
export async function pickRows<D extends AnyRows>(data: D, rows: Uint32Array): Promise<D> {
  const facts = factsOfRows(data, (values) =>
    values instanceof Float64Array ? Float64Array.from(rows, (r) => values[r]) : Array.from(rows, (r) => values[r]),
  );
  return { ...data, ...facts, ...(await listedOf(data, rows)) };
}

async function listedOf(data: AnyRows, rows: Uint32Array): Promise<object> {
  if (data.form === "table") {
    return { table: data.table instanceof Table ? data.table.gather(rows) : await data.table.pick(rows) };
  }
  if (data.form === "text") {
    const { text } = data;
    return { text: isTextSource(text) ? listedTexts(text, rows) : Array.from(rows, (r) => text[r]) };
  }
  // The table of all rows is not that of some.
  const { x, scaled } = data;
  if (!isMatrix(x)) return { x: listedRows(x, rows), asTable: undefined };
  const sizes = scaled?.sizes.map((size) => ({ ...size, x: size.x.gather(rows) }));
  return { x: x.gather(rows), ...(sizes ? { scaled: { ...scaled, sizes } } : {}) };
}

/** Bytes of rows that are taken at a time, sixteen times over. */
const LARGEST_BLOCK = 2 ** 29;

/** All rows with their labels: those in memory at once, others some at a time. */
export async function* dataBlocks(data: AnyRows): AsyncGenerator<DataSet> {
  if (isInMemory(data)) {
    yield data;
    return;
  }
  let first = 0;
  for await (const block of blocksOf(data)) {
    const [from, to] = [first, first + rowCount(block)];
    yield {
      ...block,
      ...(data.found ? { found: data.found } : {}),
      ...factsOfRows(data, (values) => values.slice(from, to)),
    };
    first = to;
  }
}

async function* blocksOf(data: AnyRows): AsyncGenerator<DataSet> {
  if (data.form === "text") {
    if (isTextSource(data.text)) for await (const text of data.text.blocks()) yield { form: "text", text };
  } else if (data.form === "table") {
    if (!(data.table instanceof Table)) for await (const table of data.table.blocks()) yield { form: "table", table };
  } else {
    for await (const rows of data.x.blocks((data.x.room ?? LARGEST_BLOCK) / 16)) yield withFacts(data, matrixOf(rows));
  }
}

function withFacts({ featureNames, imageSize, classNames }: MatrixRows, x: Matrix): DataSet {
  return {
    form: "matrix",
    x,
    ...(featureNames ? { featureNames } : {}),
    ...(imageSize ? { imageSize } : {}),
    ...(classNames ? { classNames } : {}),
  };
}

function matrixOf(rows: Rows): Matrix {
  return rows.form === "dense"
    ? Dense.of(rows.values, rows.rows, rows.features)
    : Csr.of(rows.offsets, rows.indices, rows.values, rows.features);
}
