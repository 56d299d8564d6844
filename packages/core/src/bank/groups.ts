/** Lists of rows gathered in groups, and the ways the method makes them. */

import { numbersBelow } from "../kernels/rows.ts";
import type { Groups, TopFilters } from "../kernels/shapes.ts";

/** One group for each row listed. */
export function singletons(rows: Uint32Array): Groups {
  return { offsets: numbersBelow(rows.length + 1), rows };
}

/** So many groups without rows. */
export function emptyGroups(count: number): Groups {
  return { offsets: new Uint32Array(count + 1), rows: new Uint32Array(0) };
}

// Loops over rows and filters are functions of their own, with nothing after them, here and where groups are used: an engine compiles a
// busy loop with all that is around it, and throws that away when it meets what it has not seen yet. In a job of several
// processes its compiler takes time from their work.

/** Group c holds, ascending, the positions where `codes` is c. */
export function groupByCode(codes: Uint32Array, groups: number): Groups {
  const offsets = new Uint32Array(groups + 1);
  countCodes(codes, offsets.subarray(1));
  addUp(offsets);
  const rows = new Uint32Array(codes.length);
  placeByCode(codes, offsets.slice(), rows);
  return { offsets, rows };
}

/** Adds to `counts` how often each code occurs. */
export function countCodes(codes: Uint32Array, counts: Uint32Array): void {
  for (let r = 0; r < codes.length; r++) counts[codes[r]]++;
}

/** The numbers at the listed places. */
export function pickNumbers(numbers: Uint32Array, places: Uint32Array): Uint32Array {
  const picked = new Uint32Array(places.length);
  copyNumbers(numbers, places, picked);
  return picked;
}

function copyNumbers(numbers: Uint32Array, places: Uint32Array, out: Uint32Array): void {
  for (let j = 0; j < places.length; j++) out[j] = numbers[places[j]];
}

/** Where `marks` has the value `mark`, ascending. */
export function placesOf(marks: Uint8Array, mark: number): Uint32Array {
  const found = new Uint32Array(marks.length);
  return found.slice(0, listMarked(marks, mark, found));
}

function listMarked(marks: Uint8Array, mark: number, out: Uint32Array): number {
  let count = 0;
  for (let j = 0; j < marks.length; j++) if (marks[j] === mark) out[count++] = j;
  return count;
}

function addUp(counts: Uint32Array): void {
  for (let g = 1; g < counts.length; g++) counts[g] += counts[g - 1];
}

/** `next`: where the next position of each code goes. */
function placeByCode(codes: Uint32Array, next: Uint32Array, rows: Uint32Array): void {
  for (let r = 0; r < codes.length; r++) rows[next[codes[r]]++] = r;
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
  measurePicked(groups.offsets, picked, offsets);
  const rows = new Uint32Array(offsets[picked.length]);
  copyPicked(groups.rows, groups.offsets, picked, rows);
  if (!groups.weight) return { offsets, rows };
  const weight = new Float64Array(rows.length);
  copyPicked(groups.weight, groups.offsets, picked, weight);
  return { offsets, rows, weight };
}

function measurePicked(offsets: Uint32Array, picked: Uint32Array, out: Uint32Array): void {
  for (let j = 0; j < picked.length; j++) out[j + 1] = out[j] + offsets[picked[j] + 1] - offsets[picked[j]];
}

function copyPicked<T extends Uint32Array | Float64Array>(
  from: T,
  offsets: Uint32Array,
  picked: Uint32Array,
  out: T,
): void {
  let at = 0;
  for (let j = 0; j < picked.length; j++) {
    for (let e = offsets[picked[j]]; e < offsets[picked[j] + 1]; e++) out[at++] = from[e];
  }
}

/** Groups [from, to) of `groups`, with the rows where they are. */
export function sliceGroups({ offsets, rows, weight }: Groups, from: number, to: number): Groups {
  const [first, last] = [offsets[from], offsets[to]];
  const own = offsets.slice(from, to + 1);
  takeOff(own, first);
  const sliced = { offsets: own, rows: rows.subarray(first, last) };
  return weight ? { ...sliced, weight: weight.subarray(first, last) } : sliced;
}

function takeOff(numbers: Uint32Array, less: number): void {
  for (let j = 0; j < numbers.length; j++) numbers[j] -= less;
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
