/** Rows in memory as a source: cut into blocks, gathered by number, sliced. Nothing is computed. */

import type { CsrRows, DenseRows, RowSource, Rows, Values } from "./shapes.ts";

/** Rows in memory, as a source. */
export function sourceOf(x: Rows): RowSource & Rows {
  return {
    ...x,
    entries: entriesOf(x),
    valueBytes: x.values.BYTES_PER_ELEMENT,
    blocks: (bytes) => blocksOf(x, bytes),
    gather: (rows) => gatherRows(x, rows),
    slice: (from, to) => sourceOf(sliceRows(x, from, to)),
  };
}

/** The listed rows of a source, in that order, as a source: they are read when they are asked for. */
export function listedRows(source: RowSource, listed: Uint32Array): RowSource {
  const { form, features, valueBytes, room, made } = source;
  const entries = Math.ceil((source.entries * listed.length) / Math.max(1, source.rows));
  const rowBytes = bytesOf(source) / Math.max(1, source.rows);
  return {
    ...{ form, rows: listed.length, features, entries, valueBytes },
    ...(room === undefined ? {} : { room }),
    ...(made === undefined ? {} : { made }),
    async *blocks(bytes) {
      const most = Math.max(1, Math.floor(bytes / Math.max(1, rowBytes)));
      for (let from = 0; from < listed.length; from += most) yield source.gather(listed.slice(from, from + most));
    },
    gather: (rows) => source.gather(rows.map((r) => listed[r])),
    slice: (from, to) => listedRows(source, listed.subarray(from, to)),
    listed: { source, rows: listed },
  };
}

/** Sparse rows as dense ones that are written out when they are asked for. */
export function denseSource(x: CsrRows): RowSource {
  const { rows, features, values } = x;
  return {
    ...{ form: "dense", rows, features, entries: rows * features, valueBytes: values.BYTES_PER_ELEMENT },
    *blocks(bytes) {
      for (const block of blocksOf(x, bytes)) yield writtenOut(block as CsrRows);
    },
    gather: (list) => writtenOut(gatherRows(x, list)),
    slice: (from, to) => denseSource(sliceRows(x, from, to) as CsrRows),
  };
}

function writtenOut({ rows, features, offsets, indices, values }: CsrRows): DenseRows {
  const all = new (values.constructor as new (length: number) => Values)(rows * features);
  for (let r = 0; r < rows; r++) {
    for (let e = offsets[r]; e < offsets[r + 1]; e++) all[r * features + indices[e]] = values[e];
  }
  return { form: "dense", rows, features, values: all };
}

/** All numbers below `count`, ascending. By a loop: `from` takes thirty times as long, which is milliseconds for the rows of a training. */
export function numbersBelow(count: number): Uint32Array {
  const numbers = new Uint32Array(count);
  number(numbers);
  return numbers;
}

function number(out: Uint32Array): void {
  for (let j = 0; j < out.length; j++) out[j] = j;
}

/** The numbers that occur, ascending. */
export function distinct(numbers: Uint32Array): Uint32Array {
  const sorted = numbers.slice().sort();
  return sorted.filter((number, j) => j === 0 || number !== sorted[j - 1]);
}

/** The first place in [from, to) of ascending numbers that is not below `number`, or `to`. */
export function lowerBound(ascending: Uint32Array, number: number, from = 0, to = ascending.length): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ascending[middle] < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Bytes of all rows in memory. */
export function bytesOf({ form, entries, valueBytes, rows }: RowSource): number {
  return form === "dense" ? entries * valueBytes : entries * (valueBytes + 4) + rows * 4;
}

/** The rows of a source that has them in memory; undefined where they have to be read. */
export function inMemory(source: RowSource): Rows | undefined {
  return "values" in source ? (source as unknown as Rows) : undefined;
}

/** Stored values of all rows. */
export function entriesOf(x: Rows): number {
  return x.form === "dense" ? x.rows * x.features : x.offsets[x.rows] - x.offsets[0];
}

/** Rows in order, in blocks of about `bytes` bytes at most and one row at least, as views. */
export function* blocksOf(x: Rows, bytes: number): Generator<Rows> {
  const size = x.values.BYTES_PER_ELEMENT;
  for (let from = 0; from < x.rows; ) {
    let to = from + 1;
    if (x.form === "dense") to = Math.min(x.rows, from + Math.max(1, Math.floor(bytes / (x.features * size))));
    else {
      const most = x.offsets[from] + bytes / (size + 4);
      while (to < x.rows && x.offsets[to + 1] + to - from <= most) to++;
    }
    yield sliceRows(x, from, to);
    from = to;
  }
}

/** Rows `from` (included) to `to` (not included), as a view of the same memory. */
export function sliceRows<T extends Rows>(x: T, from: number, to: number): Rows;
export function sliceRows(x: Rows, from: number, to: number): Rows {
  if (x.form === "csr") {
    const { features, indices, values } = x;
    return { form: "csr", rows: to - from, features, offsets: x.offsets.subarray(from, to + 1), indices, values };
  }
  const n = x.features;
  return { form: "dense", rows: to - from, features: n, values: x.values.subarray(from * n, to * n) as Values };
}

/** The listed rows, copied: dense ones to the beginning of `room`, values of the same type, or to memory of their own. */
export function gatherRows(x: DenseRows, rows: ArrayLike<number>, room?: Values): DenseRows;
export function gatherRows(x: CsrRows, rows: ArrayLike<number>): CsrRows;
export function gatherRows(x: Rows, rows: ArrayLike<number>): Rows;
export function gatherRows(x: Rows, rows: ArrayLike<number>, room?: Values): Rows {
  const Type = x.values.constructor as new (length: number) => Values;
  const n = x.features;
  if (x.form === "dense") {
    const values = (room?.subarray(0, rows.length * n) as Values | undefined) ?? new Type(rows.length * n);
    for (let j = 0; j < rows.length; j++) values.set(x.values.subarray(rows[j] * n, (rows[j] + 1) * n), j * n);
    return { form: "dense", rows: rows.length, features: n, values };
  }
  const offsets = new Uint32Array(rows.length + 1);
  for (let j = 0; j < rows.length; j++) offsets[j + 1] = offsets[j] + x.offsets[rows[j] + 1] - x.offsets[rows[j]];
  const indices = new Uint32Array(offsets[rows.length]);
  const values = new Type(indices.length);
  for (let j = 0; j < rows.length; j++) {
    indices.set(x.indices.subarray(x.offsets[rows[j]], x.offsets[rows[j] + 1]), offsets[j]);
    values.set(x.values.subarray(x.offsets[rows[j]], x.offsets[rows[j] + 1]), offsets[j]);
  }
  return { form: "csr", rows: rows.length, features: n, offsets, indices, values };
}
