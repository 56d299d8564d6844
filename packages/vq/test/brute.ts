/** The similarities a second time, straight from their textbook formulas, and rows to try them on. */

import { Csr, Dense, type Matrix, toDense } from "@ranksim/core";

/** Average-tie ranks from 1. */
const ranksOf = (row: readonly number[]): number[] =>
  row.map((value) => {
    const below = row.filter((other) => other < value).length;
    const equal = row.filter((other) => other === value).length;
    return below + (equal + 1) / 2;
  });

function pearson(a: readonly number[], b: readonly number[]): number {
  const centred = (row: readonly number[]) => {
    const mean = row.reduce((sum, value) => sum + value, 0) / row.length;
    return row.map((value) => value - mean);
  };
  return cosine(centred(a), centred(b));
}

const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, value, i) => sum + value * b[i], 0);

function cosine(a: readonly number[], b: readonly number[]): number {
  const length = Math.sqrt(dot(a, a) * dot(b, b));
  return length === 0 ? 0 : dot(a, b) / length;
}

const FORMULAS: Readonly<Record<string, (a: readonly number[], b: readonly number[]) => number>> = {
  spearman: (a, b) => pearson(ranksOf(a), ranksOf(b)),
  cosine,
  euclidean: (a, b) => -Math.sqrt(a.reduce((sum, value, i) => sum + (value - b[i]) ** 2, 0)),
};

/** The similarity of every row of `x` to each of `queries`. */
export function allSimilarities(x: Matrix, queries: Matrix, similarity: string): number[][] {
  const [rows, asked] = [x, queries].map((each) => {
    const dense = toDense(each);
    return Array.from({ length: dense.rows }, (_, r) => Array.from(dense.row(r)));
  });
  return asked.map((query) => rows.map((row) => FORMULAS[similarity](query, row)));
}

/** Numbers from 0 to 1 that look drawn. */
export function drawer(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (((state >>> 8) * 0x9e3779b1) % 0x1000000) / 0x1000000;
  };
}

/** Rows in clusters, of one of the forms that rows have. */
export function clusters(form: string, rows: number, features: number, seed: number): Matrix {
  const draw = drawer(seed);
  const centres = Array.from({ length: 5 }, () => Array.from({ length: features }, () => draw()));
  const values = Array.from({ length: rows * features }, (_, e) => {
    const centre = centres[Math.floor(e / features) % 5][e % features];
    return centre + (draw() - 0.5) * 0.8;
  });
  if (form === "bytes")
    return Dense.of(
      Uint8Array.from(values, (v) => Math.max(0, v) * 180),
      rows,
      features,
    );
  if (form === "float32")
    return Dense.of(
      Float32Array.from(values, (v) => v - 0.5),
      rows,
      features,
    );
  if (form === "far")
    return Dense.of(
      Float64Array.from(values, (v) => v + 1e6),
      rows,
      features,
    );
  const dense = Dense.of(
    Float64Array.from(values, (v) => (v > 0.7 ? v : 0)),
    rows,
    features,
  );
  const entries = Array.from({ length: rows }, (_, r) =>
    Array.from(dense.row(r)).flatMap((v, i) => (v === 0 ? [] : [[i, v] as const])),
  );
  return form === "sparse" ? Csr.fromRows(entries, features) : dense;
}
