/**
 * The k best of a stream of (value, id), best first: larger value, then lower id. Ids may come in any order and more
 * than once; a NaN never enters, as in `src/kernels/top.ts`.
 */

/** Makes the k places empty. */
export function clearTop(values: usize, ids: usize, k: i32): void {
  for (let j: usize = 0; j < <usize>k; j++) {
    store<f64>(values + (j << 3), -Infinity);
    store<u32>(ids + (j << 2), 0);
  }
}

/** Offers one candidate. */
export function insert(v: f64, id: u32, values: usize, ids: usize, k: i32): void {
  let j = k - 1;
  if (!isBefore(v, id, values, ids, j)) return;
  while (j > 0 && isBefore(v, id, values, ids, j - 1)) j--;
  if (j > 0 && load<u32>(ids + (<usize>(j - 1) << 2)) == id && load<f64>(values + (<usize>(j - 1) << 3)) == v) return;
  // A loop: there are few, and a bulk copy is a call out of the module.
  for (let i = k - 1; i > j; i--) {
    store<f64>(values + (<usize>i << 3), valueAt(values, i - 1));
    store<u32>(ids + (<usize>i << 2), idAt(ids, i - 1));
  }
  store<f64>(values + (<usize>j << 3), v);
  store<u32>(ids + (<usize>j << 2), id);
}

/** Whether (v, id) goes before the entry at j. Empty places hold -Infinity, which no candidate has to beat by its id. */
// @ts-ignore: decorator
@inline
function isBefore(v: f64, id: u32, values: usize, ids: usize, j: i32): bool {
  const other = load<f64>(values + (<usize>j << 3));
  return v > other || (v == other && v != -Infinity && id < load<u32>(ids + (<usize>j << 2)));
}

/** Up to this many places an ordered list is fastest; above it a heap. */
export const LIST_LIMIT: i32 = 32;

/** Offers one candidate that was not offered before; for k over LIST_LIMIT the places form a heap, worst first, until `sortTop`. */
// @ts-ignore: decorator
@inline
export function offerNew(v: f64, id: u32, values: usize, ids: usize, k: i32): void {
  if (k <= LIST_LIMIT) insert(v, id, values, ids, k);
  else offerHeap(v, id, values, ids, k);
}

function offerHeap(v: f64, id: u32, values: usize, ids: usize, k: i32): void {
  if (!isBefore(v, id, values, ids, 0)) return;
  sink(v, id, values, ids, 0, k);
}

/** Puts (v, id) into the heap of `size` places at j or below. */
function sink(v: f64, id: u32, values: usize, ids: usize, j: i32, size: i32): void {
  for (;;) {
    let child = 2 * j + 1;
    if (child >= size) break;
    if (child + 1 < size && isBefore(valueAt(values, child), idAt(ids, child), values, ids, child + 1)) child++;
    // The child that is worst moves up unless the new entry is worse still.
    if (!isBefore(v, id, values, ids, child)) break;
    store<f64>(values + (<usize>j << 3), valueAt(values, child));
    store<u32>(ids + (<usize>j << 2), idAt(ids, child));
    j = child;
  }
  store<f64>(values + (<usize>j << 3), v);
  store<u32>(ids + (<usize>j << 2), id);
}

/** Puts the places in order, best first, after the last `offerNew`. */
export function sortTop(values: usize, ids: usize, k: i32): void {
  if (k <= LIST_LIMIT) return;
  for (let size = k - 1; size > 0; size--) {
    const v = valueAt(values, size);
    const id = idAt(ids, size);
    store<f64>(values + (<usize>size << 3), valueAt(values, 0));
    store<u32>(ids + (<usize>size << 2), idAt(ids, 0));
    sink(v, id, values, ids, 0, size);
  }
}

// @ts-ignore: decorator
@inline
function valueAt(values: usize, j: i32): f64 {
  return load<f64>(values + (<usize>j << 3));
}

// @ts-ignore: decorator
@inline
function idAt(ids: usize, j: i32): u32 {
  return load<u32>(ids + (<usize>j << 2));
}
