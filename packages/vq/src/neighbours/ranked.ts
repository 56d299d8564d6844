/** Rows as they are compared, made by a back end: ranks are its work. */

import { type Backend, Csr, Dense, type Matrix, type RowSource } from "@ranksim/core";
import { type Similarity, type Vectors, vectorsOf } from "./similarity.ts";

/** Rows ranked at a time: ranks take more room than bytes. */
const RANKED_BYTES = 2 ** 26;

/** Rows as vectors of the similarity. */
export async function compared(x: Matrix, similarity: Similarity, backend: Backend): Promise<Vectors> {
  if (similarity !== "spearman" || x.rows === 0) return vectorsOf(similarity, x);
  return x.form === "dense" ? rankedDense(x, backend) : rankedSparse(x, backend);
}

/** Centred doubled ranks of dense rows: whole numbers from 1 - n to n - 1. */
async function rankedDense(x: Dense, backend: Backend): Promise<Vectors> {
  const n = x.features;
  const ranks = new (n <= 2 ** 15 ? Int16Array : Float64Array)(x.rows * n);
  const most = Math.max(1, Math.floor(RANKED_BYTES / (8 * n)));
  for (let from = 0; from < x.rows; from += most) {
    const { weights } = await ranksOf(x.slice(from, Math.min(x.rows, from + most)), backend);
    const at = from * n;
    for (let e = 0; e < weights.length; e++) ranks[at + e] = weights[e] - (n + 1);
  }
  return vectorsOf("spearman", Dense.of(ranks, x.rows, n));
}

/** The same of sparse rows: what zeros rank is the base, entries are what they rank beyond it. */
async function rankedSparse(x: Csr, backend: Backend): Promise<Vectors> {
  const bank = await ranksOf(x, backend);
  if (bank.form === "dense") throw new Error("expected sparse ranks of sparse rows");
  const { base, offsets, indices, weights } = bank;
  const beyond = new Float64Array(weights.length);
  for (let r = 0; r < x.rows; r++) for (let e = offsets[r]; e < offsets[r + 1]; e++) beyond[e] = weights[e] - base[r];
  const ranks = Csr.of(offsets, indices, beyond, x.features);
  return vectorsOf(
    "spearman",
    ranks,
    base.map((zeros) => zeros - (x.features + 1)),
  );
}

/** The doubled ranks of each row. */
async function ranksOf(x: RowSource, backend: Backend) {
  const held = await backend.hold(x);
  try {
    const each = Uint32Array.from({ length: x.rows + 1 }, (_, r) => r);
    const ranks = await held.rank({ offsets: each, rows: each.subarray(0, x.rows) });
    try {
      return await ranks.read();
    } finally {
      ranks.release();
    }
  } finally {
    held.release();
  }
}
