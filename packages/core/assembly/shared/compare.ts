/** What updates on dense and on sparse rows share, as `src/kernels/refine.ts` defines it. */

import * as slot from "../../src/backends/wasm/shared/refine-slots";

/** Prototypes that are moved by factors stay within these. */
export const LOWEST: f64 = 1e-50;
export const HIGHEST: f64 = 1e50;

/** Bytes of the responses of a row to the filters listed for it, four at a time. */
export function responsesBytes(context: usize): usize {
  return (<usize>load<u32>(context, slot.LISTED) + 3) << 3;
}

/** The place of row j of a batch in CODES and LISTS. */
export function placeOf(context: usize, j: u32): usize {
  const places = load<usize>(context, slot.LIST_PLACES);
  return places ? <usize>load<u32>(places + (<usize>j << 2)) : <usize>j;
}

/** From the responses of row j of a batch: the strongest own and the strongest other of the filters listed for it, and the margin. */
export function judge(context: usize, j: u32, responses: usize): void {
  const k = <usize>load<u32>(context, slot.LISTED);
  const place = placeOf(context, j);
  const list = load<usize>(context, slot.LISTS) + (place * k << 2);
  const classes = load<usize>(context, slot.FILTER_CLASS);
  const code = load<u32>(load<usize>(context, slot.CODES) + (place << 2));
  let best = -Infinity;
  let other = -Infinity;
  let own: u32 = 0;
  let rival: u32 = 0;
  for (let q: usize = 0; q < k; q++) {
    const f = load<u32>(list + (q << 2));
    const response = load<f64>(responses + (q << 3));
    if (load<u32>(classes + (<usize>f << 2)) == code) {
      if (response > best || (response == best && f < own)) {
        best = response;
        own = f;
      }
    } else if (response > other || (response == other && f < rival)) {
      other = response;
      rival = f;
    }
  }
  const found = load<usize>(context, slot.FOUND) + (<usize>j << 3);
  store<u32>(found, own);
  store<u32>(found, rival, 4);
  const sum = abs(best) + abs(other);
  store<f64>(load<usize>(context, slot.MARGINS) + (<usize>j << 3), sum > 0 && sum < Infinity ? (best - other) / sum : 1);
}
