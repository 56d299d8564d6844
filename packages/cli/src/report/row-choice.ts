/** Which rows a report shows: one of each class as they come, and the mistakes that were made with most confidence. */

import { compareLabels, type Dense, type Label } from "@ranksim/core";
import type { RowLabels } from "@ranksim/data";

/** The first row of each class, in the order of classes, spread evenly where there are too many; the first rows without labels. */
export function sampleRows(rows: number, y: RowLabels | undefined, most: number): number[] {
  const first = new Map<Label, number>();
  y?.forEach((labels, row) => {
    const label = Array.isArray(labels) ? labels[0] : (labels as Label);
    if (label !== undefined && !first.has(label)) first.set(label, row);
  });
  if (first.size === 0) return Array.from({ length: Math.min(rows, most) }, (_, row) => row);
  const chosen = [...first].sort(([a], [b]) => compareLabels(a, b)).map(([, row]) => row);
  const kept = Math.min(most, chosen.length);
  return Array.from({ length: kept }, (_, j) => chosen[Math.floor((j * chosen.length) / kept)]);
}

/** Rows with a wrong answer, by how much more probable the wrong label was than the right one. */
export function confidentMistakes(
  predicted: readonly (Label | readonly Label[])[],
  y: RowLabels,
  probabilities: Dense,
  classes: readonly Label[],
  most: number,
): number[] {
  const column = new Map(classes.map((label, c) => [label, c]));
  const found: { row: number; excess: number }[] = [];
  for (let row = 0; row < predicted.length; row++) {
    const truth = setOf(y[row]);
    const guess = setOf(predicted[row]);
    const of = (label: Label) => {
      const c = column.get(label);
      return c === undefined ? 0 : probabilities.row(row)[c];
    };
    const wrong = [...guess].filter((label) => !truth.has(label));
    const missed = [...truth].filter((label) => !guess.has(label));
    if (wrong.length === 0 && missed.length === 0) continue;
    const excess = Math.max(0, ...wrong.map(of)) - (missed.length > 0 ? Math.min(...missed.map(of)) : 0);
    found.push({ row, excess });
  }
  found.sort((a, b) => b.excess - a.excess || a.row - b.row);
  return found.slice(0, most).map(({ row }) => row);
}

function setOf(labels: Label | readonly Label[]): ReadonlySet<Label> {
  return new Set(Array.isArray(labels) ? labels : [labels as Label]);
}
