/** A rising step from scores to probabilities, fitted on held-out rows by pooling adjacent violators. */

/** Points of a rising function: straight between them, flat beyond the first and the last. */
export interface Rising {
  /** Ascending. */
  readonly scores: Float64Array;
  /** Not falling, between 0 and 1 and neither of them. */
  readonly values: Float64Array;
}

/**
 * The rising function of least squares through (score, truth). Values stay 1 / (n + 2) away from 0 and 1, divided by the
 * number of classes that share the doubt: n rows cannot show that something never or always happens.
 */
export function fitRising(scores: Float64Array, isTrue: Uint8Array, classes = 1): Rising {
  const n = scores.length;
  const order = Uint32Array.from(scores.keys()).sort((a, b) => scores[a] - scores[b]);
  // Blocks of pooled rows: first and last score, rows, true rows. A block is kept while its share is above the one before.
  const first: number[] = [];
  const last: number[] = [];
  const rows: number[] = [];
  const hits: number[] = [];
  for (let j = 0; j < n; ) {
    const score = scores[order[j]];
    let count = 0;
    let hit = 0;
    for (; j < n && scores[order[j]] === score; j++) {
      count++;
      hit += isTrue[order[j]];
    }
    first.push(score);
    last.push(score);
    rows.push(count);
    hits.push(hit);
    for (let b = rows.length - 1; b > 0 && hits[b] * rows[b - 1] <= hits[b - 1] * rows[b]; b--) {
      last[b - 1] = last.pop() as number;
      rows[b - 1] += rows.pop() as number;
      hits[b - 1] += hits.pop() as number;
      first.pop();
    }
  }
  const margin = 1 / ((n + 2) * classes);
  const points = first.flatMap((score, b) => {
    const value = Math.min(Math.max(hits[b] / rows[b], margin), 1 - margin);
    return score === last[b] ? [[score, value]] : [[score, value], [last[b], value]]; // biome-ignore format: points
  });
  return {
    scores: Float64Array.from(points, ([score]) => score),
    values: Float64Array.from(points, ([, value]) => value),
  };
}

/** The value at a score. */
export function valueAt({ scores, values }: Rising, score: number): number {
  const last = scores.length - 1;
  if (!(score > scores[0])) return values[0];
  if (score >= scores[last]) return values[last];
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (scores[middle] <= score) low = middle;
    else high = middle;
  }
  const step = (score - scores[low]) / (scores[high] - scores[low]);
  return values[low] + step * (values[high] - values[low]);
}
