/** The rows most like others, as commands and servers tell of them. */

import type { Label } from "@ranksim/core";
import type { Neighbours } from "@ranksim/vq";

/** Neighbours with their labels, of which a row may have several. */
export type Found = Neighbours & { readonly labels?: readonly (Label | readonly Label[])[] };

/** The neighbours of one row, most alike first. */
export function neighboursOf({ k, rows, similarities, labels }: Found, r: number) {
  return Array.from(rows.subarray(r * k, (r + 1) * k), (row, j) => ({
    row,
    similarity: similarities[r * k + j],
    ...(labels ? { label: labels[r * k + j] } : {}),
  }));
}
