/** What a mistyped name may have been meant to be. */

/** The nearest of the names, where few letters part them; undefined where none is near. */
function nearest(word: string, names: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(word.length * 0.4));
  const found = names
    .map((name) => ({ name, steps: distance(word.toLowerCase(), name.toLowerCase()) }))
    // Names of which no letter is left are other names.
    .filter(({ name, steps }) => steps <= Math.min(most, 3) && steps < Math.max(word.length, name.length))
    .sort((a, b) => a.steps - b.steps);
  return found[0]?.name;
}

/** "; did you mean x?", or nothing. */
export function didYouMean(word: string, names: readonly string[]): string {
  const name = nearest(word, names);
  return name === undefined ? "" : `; did you mean ${name}?`;
}

/** Letters to insert, drop, replace or swap with their neighbour (Damerau and Levenshtein, optimal string alignment). */
function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => i || j));
  for (let j = 0; j <= b.length; j++) rows[0][j] = j;
  for (let i = 1; i <= a.length; i++) {
    rows[i][0] = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + same);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.length][b.length];
}
