/** Lists of rows gathered in groups, and the ways the method makes them. */

import { numbersBelow } from "../kernels/rows.ts";
import type { Groups, TopFilters } from "../kernels/shapes.ts";

/** One group for each row listed. */
export function singletons(rows: Uint32Array): Groups {
  return { offsets: numbersBelow(rows.length + 1), rows };
}

/** Group c holds, ascending, the positions where `codes` is c. */
export function groupByCode(codes: Uint32Array, groups: number): Groups {
  const offsets = new Uint32Array(groups + 1);
  for (let r = 0; r < codes.length; r++) offsets[codes[r] + 1]++;
  for (let g = 0; g < groups; g++) offsets[g + 1] += offsets[g];
  const next = offsets.slice();
  const rows = new Uint32Array(codes.length);
  for (let r = 0; r < codes.length; r++) rows[next[codes[r]]++] = r;
  return { offsets, rows };
}

/** The same for the listed rows alone. */
export function groupListed(codes: Uint32Array, groups: number, listed: Uint32Array): Groups {
  const { offsets, rows } = groupByCode(
    listed.map((r) => codes[r]),
    groups,
  );
  return { offsets, rows: rows.map((position) => listed[position]) };
}

/** Group f holds the rows that have filter f among their strongest, each weighted by its share of the row's responses. */
export function groupByActivation(top: TopFilters, filters: number): Groups & { readonly weight: Float64Array } {
  const grouped = groupByCode(top.filter, filters);
  const weight = new Float64Array(grouped.rows.length);
  const rows = new Uint32Array(grouped.rows.length);
  for (let e = 0; e < rows.length; e++) {
    const entry = grouped.rows[e];
    const row = Math.floor(entry / top.k);
    let sum = 0;
    for (let j = row * top.k; j < (row + 1) * top.k; j++) sum += top.response[j];
    rows[e] = row;
    // A row without any response (all zeros) or with mixed signs has no meaningful shares: it counts evenly.
    weight[e] = sum > 0 ? top.response[entry] / sum : 1 / top.k;
  }
  return { offsets: grouped.offsets, rows, weight };
}

/** The listed groups of `groups`, in that order. */
export function pickGroups(groups: Groups, picked: Uint32Array): Groups {
  const offsets = new Uint32Array(picked.length + 1);
  for (let j = 0; j < picked.length; j++) {
    offsets[j + 1] = offsets[j] + groups.offsets[picked[j] + 1] - groups.offsets[picked[j]];
  }
  const rows = new Uint32Array(offsets[picked.length]);
  const weight = groups.weight && new Float64Array(rows.length);
  for (let j = 0; j < picked.length; j++) {
    const from = groups.offsets[picked[j]];
    const to = groups.offsets[picked[j] + 1];
    rows.set(groups.rows.subarray(from, to), offsets[j]);
    weight?.set((groups.weight as Float64Array).subarray(from, to), offsets[j]);
  }
  return weight ? { offsets, rows, weight } : { offsets, rows };
}

/** A copy of `groups` (weights left out) in which group `positions[j]` has the rows of group j of `fresh`. */
export function replaceGroups(groups: Groups, positions: Uint32Array, fresh: Groups): Groups {
  const count = groups.offsets.length - 1;
  const source = new Int32Array(count).fill(-1);
  for (let j = 0; j < positions.length; j++) source[positions[j]] = j;
  const offsets = new Uint32Array(count + 1);
  const rows = new Uint32Array(groups.rows.length + fresh.rows.length);
  for (let g = 0; g < count; g++) {
    const from = source[g] < 0 ? groups : fresh;
    const at = source[g] < 0 ? g : source[g];
    rows.set(from.rows.subarray(from.offsets[at], from.offsets[at + 1]), offsets[g]);
    offsets[g + 1] = offsets[g] + from.offsets[at + 1] - from.offsets[at];
  }
  return { offsets, rows: rows.slice(0, offsets[count]) };
}

/** Groups joined one after the other, each part's row numbers mapped through its own list if it has one. */
export function joinGroups(parts: readonly { groups: Groups; rows?: Uint32Array }[]): Groups {
  const count = parts.reduce((sum, part) => sum + part.groups.offsets.length - 1, 0);
  const total = parts.reduce((sum, part) => sum + part.groups.rows.length, 0);
  const offsets = new Uint32Array(count + 1);
  const rows = new Uint32Array(total);
  let g = 0;
  let at = 0;
  for (const part of parts) {
    for (let j = 1; j < part.groups.offsets.length; j++) offsets[++g] = at + part.groups.offsets[j];
    rows.set(part.rows ? mapThrough(part.groups.rows, part.rows) : part.groups.rows, at);
    at += part.groups.rows.length;
  }
  return { offsets, rows };
}

function mapThrough(rows: Uint32Array, numbers: Uint32Array): Uint32Array {
  const mapped = new Uint32Array(rows.length);
  for (let j = 0; j < rows.length; j++) mapped[j] = numbers[rows[j]];
  return mapped;
}

/** Groups (weights left out) that list each of their rows once, ascending. */
export function distinctRows(groups: Groups): Groups {
  const lists: Uint32Array[] = [];
  const offsets = new Uint32Array(groups.offsets.length);
  for (let g = 0; g + 1 < offsets.length; g++) {
    const own = groups.rows.slice(groups.offsets[g], groups.offsets[g + 1]).sort();
    lists.push(own.filter((row, j) => j === 0 || row !== own[j - 1]));
    offsets[g + 1] = offsets[g] + lists[g].length;
  }
  const rows = new Uint32Array(offsets[offsets.length - 1]);
  for (const [g, list] of lists.entries()) rows.set(list, offsets[g]);
  return { offsets, rows };
}

/** A copy of `groups` (weights left out) in which each group goes on with the rows of the same group of `more`, renumbered. */
export function appendToGroups(groups: Groups, more: Groups, numbers: Uint32Array): Groups {
  const offsets = groups.offsets.map((offset, g) => offset + more.offsets[g]);
  const rows = new Uint32Array(groups.rows.length + more.rows.length);
  for (let g = 0; g + 1 < offsets.length; g++) {
    rows.set(groups.rows.subarray(groups.offsets[g], groups.offsets[g + 1]), offsets[g]);
    const added = more.rows.subarray(more.offsets[g], more.offsets[g + 1]);
    rows.set(
      added.map((row) => numbers[row]),
      offsets[g + 1] - added.length,
    );
  }
  return { offsets, rows };
}
