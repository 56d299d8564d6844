/** Finding large scores among many, four at a time. */

/** The first place in [p, places) whose score is at least `least`, or `places`. */
export function nextAtLeast<T extends number>(scores: usize, p: usize, places: usize, least: T): usize {
  for (; p & 3; p++) if (p >= places || load<T>(scores + (p << 2)) >= least) return min(p, places);
  const four = v128.splat<T>(least);
  for (; p < places; p += 4) {
    const found = i32x4.bitmask(v128.ge<T>(v128.load(scores + (p << 2)), four));
    if (found) return min(p + <usize>ctz(found), places);
  }
  return places;
}

/** The first place in [p, places) whose score is above `limit`, or `places`. */
function nextAbove<T extends number>(scores: usize, p: usize, places: usize, limit: T): usize {
  for (; p & 3; p++) if (p >= places || load<T>(scores + (p << 2)) > limit) return min(p, places);
  const four = v128.splat<T>(limit);
  for (; p < places; p += 4) {
    const found = i32x4.bitmask(v128.gt<T>(v128.load(scores + (p << 2)), four));
    if (found) return min(p + <usize>ctz(found), places);
  }
  return places;
}

/** The k-th largest score; 1 <= k <= places. */
export function kthLargest<T extends number>(
  scores: usize,
  places: usize,
  k: usize,
  heap: usize, // k scores of scratch
): T {
  if (k == 1) return largest<T>(scores, places);
  // A heap of the k largest so far, the smallest of them first.
  memory.copy(heap, scores, k << 2);
  for (let j = k >> 1; j-- > 0; ) sink<T>(heap, j, k, load<T>(heap + (j << 2)));
  for (let p = nextAbove<T>(scores, k, places, load<T>(heap)); p < places; ) {
    sink<T>(heap, 0, k, load<T>(scores + (p << 2)));
    p = nextAbove<T>(scores, p + 1, places, load<T>(heap));
  }
  return load<T>(heap);
}

function largest<T extends number>(scores: usize, places: usize): T {
  let best = load<T>(scores);
  const whole = places & ~3;
  if (whole > 0) {
    let four = v128.load(scores);
    for (let p: usize = 4; p < whole; p += 4) four = v128.max<T>(four, v128.load(scores + (p << 2)));
    best = max<T>(
      max<T>(v128.extract_lane<T>(four, 0), v128.extract_lane<T>(four, 1)),
      max<T>(v128.extract_lane<T>(four, 2), v128.extract_lane<T>(four, 3)),
    );
  }
  for (let p = whole; p < places; p++) best = max<T>(best, load<T>(scores + (p << 2)));
  return best;
}

/** Puts a score into the heap at j or below. */
function sink<T extends number>(heap: usize, j: usize, size: usize, score: T): void {
  for (;;) {
    let child = (j << 1) + 1;
    if (child >= size) break;
    if (child + 1 < size && load<T>(heap + (child << 2), 4) < load<T>(heap + (child << 2))) child++;
    if (!(load<T>(heap + (child << 2)) < score)) break;
    store<T>(heap + (j << 2), load<T>(heap + (child << 2)));
    j = child;
  }
  store<T>(heap + (j << 2), score);
}
