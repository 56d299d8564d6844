/** The candidates with the largest estimates: those worth an exact response before bounds decide on the others. */

import { keepLevels } from "./compact";

/** What all candidates reach that `listClosest` listed and no others; the largest number if it did not list them all. */
export let listedFrom: i32 = 0;

/**
 * Lists `wanted` candidates with the largest estimates, or some more; returns how many, at most twice as many. Lists are
 * full up to a multiple of four.
 */
export function listClosest(
  candidates: usize, // in: u16
  estimates: usize, // in: i32
  count: i32,
  wanted: i32, // in: no more than `count`
  out: usize, // out: u16, room for `count`
  outEstimates: usize, // out: i32
  table: usize,
): i32 {
  const most = wanted << 1;
  let least = reachedBy(estimates, (count + 3) >> 2, (wanted + 3) >> 2);
  let left = keepLevels(candidates, estimates, count, least, out, outEstimates, table);
  if (left > most) {
    least = narrow(outEstimates, left, least, wanted);
    left = keepLevels(out, outEstimates, left, least, out, outEstimates, table);
  }
  listedFrom = left > most ? i32.MAX_VALUE : least;
  return min(left, most);
}

/** An estimate that at least four in each of `sections` sections of the `blocks` reach, one in each lane. */
function reachedBy(estimates: usize, blocks: i32, sections: i32): i32 {
  let least = i32x4.splat(i32.MAX_VALUE);
  for (let section = 0; section < sections; section++) {
    let at = estimates + (<usize>((section * blocks) / sections) << 4);
    const end = estimates + (<usize>(((section + 1) * blocks) / sections) << 4);
    let best = v128.load(at);
    for (; at < end; at += 16) best = i32x4.max_s(best, v128.load(at));
    least = i32x4.min_s(least, best);
  }
  least = i32x4.min_s(least, v128.shuffle<i32>(least, least, 2, 3, 0, 1));
  least = i32x4.min_s(least, v128.shuffle<i32>(least, least, 1, 0, 3, 2));
  return i32x4.extract_lane(least, 0);
}

/** An estimate that `wanted` of the `count` reach and not many more, found by halving from `low`, which all reach. */
function narrow(estimates: usize, count: i32, low: i32, wanted: i32): i32 {
  let high = low;
  for (let j = 0; j < count; j++) high = max(high, load<i32>(estimates + (<usize>j << 2)));
  while (high - low > 1) {
    const middle = low + ((high - low) >> 1);
    let reached = 0;
    for (let j = 0; j < count; j++) reached += load<i32>(estimates + (<usize>j << 2)) >= middle ? 1 : 0;
    if (reached < wanted) high = middle;
    else low = middle;
    if (reached >= wanted && reached <= wanted + (wanted >> 2)) break;
  }
  return low;
}
