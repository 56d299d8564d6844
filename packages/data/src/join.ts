/** Several data sets as one: the rows of the first, then those of the second, and so on. */

import { Csr, Dense, type Label, type Matrix, narrowest, RanksimError } from "@ranksim/core";
import type { DataSet, MatrixData, RowLabels } from "./data-set.ts";
import { Table } from "./table/table.ts";

/** One set with the rows of all, in order. Sets of different forms or widths, and sets of which only some have labels, are refused. */
export function joinData(sets: readonly DataSet[]): DataSet {
  const [first] = sets;
  if (sets.length === 1) return first;
  const labelled = sets.filter(({ y }) => y !== undefined).length;
  if (labelled !== 0 && labelled !== sets.length) {
    throw new RanksimError(
      "bad-labels",
      `expected labels in all files or in none, found them in ${labelled} of ${sets.length}`,
    );
  }
  const { rowNames: _, ...rest } = first;
  const facts = labelled === 0 ? {} : { y: joinLabels(sets.map(({ y }) => y as RowLabels)) };
  const notes = [...new Set(sets.flatMap((set) => set.notes ?? []))];
  const said = notes.length === 0 ? {} : { notes };
  if (first.form === "text") {
    return { ...first, text: sets.flatMap((set) => (set.form === "text" ? set.text : refuse(set))), ...facts, ...said };
  }
  if (sets.some(({ form }) => form === "table")) {
    const tables = sets.map((set) => {
      if (set.form === "table") return set.table;
      return set.form === "matrix" ? Table.fromMatrix(set.x, set.featureNames) : refuse(set);
    });
    const { y: _y, rowNames: _names, notes: _notes, found } = first;
    return { form: "table", table: Table.join(tables), ...(found ? { found } : {}), ...facts, ...said };
  }
  const rows = sets.map((set) => (set.form === "matrix" ? set.x : refuse(set)));
  return { ...(rest as MatrixData), x: joinRows(rows), ...facts, ...said };
}

function refuse(set: DataSet): never {
  throw new RanksimError("bad-matrix", `expected files of one form, found ${set.form} after another`);
}

/** One row of sets makes them all sets, and one word among numbers makes them all words, as in one file. */
export function joinLabels(lists: readonly RowLabels[]): RowLabels {
  const all = lists.flat(1) as RowLabels[number][];
  const hasSets = lists.some((list) => Array.isArray(list[0]));
  const isWords = (list: RowLabels) => list.flat().some((label) => typeof label === "string");
  const words = lists.filter((list) => list.flat().length > 0).map(isWords);
  const name: (label: Label) => Label = words.includes(true) && words.includes(false) ? String : (label) => label;
  if (hasSets) return all.map((label) => [label].flat().map((one) => name(one as Label)));
  return (all as Label[]).map(name);
}

function joinRows(parts: readonly Matrix[]): Matrix {
  const { features } = parts[0];
  const other = parts.find((part) => part.features !== features);
  if (other) {
    throw new RanksimError(
      "wrong-width",
      `expected ${features} features as in the first file, found ${other.features}`,
    );
  }
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  if (parts.every((part) => part.form === "dense")) {
    const values = new Float64Array(rows * features);
    let at = 0;
    for (const part of parts) {
      values.set(part.values, at);
      at += part.values.length;
    }
    return Dense.of(narrowest(values), rows, features);
  }
  return joinSparse(parts, features);
}

function joinSparse(parts: readonly Matrix[], features: number): Csr {
  const rows: (readonly (readonly [number, number])[])[] = [];
  for (const part of parts) {
    for (let r = 0; r < part.rows; r++) {
      const row: [number, number][] = [];
      const from = part.form === "csr" ? part.offsets[r] : r * features;
      const to = part.form === "csr" ? part.offsets[r + 1] : from + features;
      for (let e = from; e < to; e++) {
        if (part.values[e] !== 0) row.push([part.form === "csr" ? part.indices[e] : e - from, part.values[e]]);
      }
      rows.push(row);
    }
  }
  return Csr.fromRows(rows, features);
}
