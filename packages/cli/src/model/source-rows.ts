/** Data that is read when it is needed: some of its rows, and all of them block by block. */

import { Csr, Dense, gatherRows, type Label, listedRows, type Matrix, type Rows } from "@ranksim/core";
import { type AnySource, type DataSet, listedTexts } from "@ranksim/data";

/** The listed rows, which ascend, with their labels and the hashes of texts. */
export async function pickSource<D extends AnySource>(data: D, rows: Uint32Array): Promise<D> {
  return {
    ...data,
    ...(await listedOf(data, rows)),
    ...(data.y ? { y: gatherRows(data.y as readonly Label[], rows) } : {}),
  };
}

async function listedOf(data: AnySource, rows: Uint32Array): Promise<object> {
  if (data.form === "tables") return { x: await data.x.pick(rows) };
  if (data.form === "source") return { x: listedRows(data.x, rows) };
  return { x: listedTexts(data.x, rows), hashes: rows.map((r) => data.hashes[r]) };
}

/** Bytes of rows that are taken at a time, sixteen times over. */
const LARGEST_BLOCK = 2 ** 29;

/** All rows, without labels. */
export async function* sourceBlocks(data: AnySource): AsyncGenerator<DataSet> {
  if (data.form === "texts") for await (const text of data.x.blocks()) yield { form: "text", text };
  else if (data.form === "tables") for await (const table of data.x.blocks()) yield { form: "table", table };
  else {
    const bytes = (data.x.room ?? LARGEST_BLOCK) / 16;
    for await (const rows of data.x.blocks(bytes)) yield { form: "matrix", x: matrixOf(rows) };
  }
}

function matrixOf(rows: Rows): Matrix {
  return rows.form === "dense"
    ? Dense.of(rows.values, rows.rows, rows.features)
    : Csr.of(rows.offsets, rows.indices, rows.values, rows.features);
}
