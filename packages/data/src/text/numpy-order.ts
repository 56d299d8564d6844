/**
 * The order in which numpy's `argsort` (its default, not a stable sort) leaves equal values. scikit-learn keeps the most
 * frequent terms by it, so which of several equally frequent terms are kept depends on it. As of numpy 1.24: quicksort
 * with the median of three, insertion sort for parts of up to 17.
 */

/** Parts this short are sorted by insertion. */
const SMALL = 16;

/** Positions of `values` in ascending order of value. */
export function numpyArgsort(values: Float64Array): Uint32Array {
  const order = Uint32Array.from(values, (_, i) => i);
  const swap = (a: number, b: number) => {
    const position = order[a];
    order[a] = order[b];
    order[b] = position;
  };
  const isLess = (a: number, b: number) => values[order[a]] < values[order[b]];

  /** Splits low..high about the median of its first, middle and last value; the place where that value comes to lie. */
  const split = (low: number, high: number): number => {
    const middle = low + ((high - low) >> 1);
    if (isLess(middle, low)) swap(middle, low);
    if (isLess(high, middle)) swap(high, middle);
    if (isLess(middle, low)) swap(middle, low);
    const pivot = values[order[middle]];
    let left = low;
    let right = high - 1;
    swap(middle, right);
    for (;;) {
      do left++;
      while (values[order[left]] < pivot);
      do right--;
      while (pivot < values[order[right]]);
      if (left >= right) break;
      swap(left, right);
    }
    swap(left, high - 1);
    return left;
  };

  const insert = (low: number, high: number) => {
    for (let at = low + 1; at <= high; at++) {
      const moved = order[at];
      let to = at;
      for (; to > low && values[moved] < values[order[to - 1]]; to--) order[to] = order[to - 1];
      order[to] = moved;
    }
  };

  const parts: [low: number, high: number][] = [[0, values.length - 1]];
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    let [low, high] = part;
    while (high - low > SMALL) {
      const at = split(low, high);
      if (at - low < high - at) {
        parts.push([at + 1, high]);
        high = at - 1;
      } else {
        parts.push([low, at - 1]);
        low = at + 1;
      }
    }
    insert(low, high);
  }
  return order;
}
