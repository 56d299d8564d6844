/** Rows that are read: a matrix behind a source that hands out copies, as a file would, and notes what is asked of it. */

import type { RowSource } from "@ranksim/core";
import { blocksOf, bytesOf, entriesOf, gatherRows, sliceRows, sourceOf } from "../../src/kernels/rows.ts";
import type { Rows } from "../../src/kernels/shapes.ts";

/** What was asked of a source. */
export interface Reads {
  /** Passes over all rows. */
  passes: number;
  /** Bytes of the largest block or list of rows. */
  largest: number;
}

/** The rows as a source that may take so many bytes. `stop` ends a pass early, as a file that shrank would. */
export function readRows(x: Rows, room: number, reads: Reads = { passes: 0, largest: 0 }, stop = false): RowSource {
  const noted = (rows: Rows): Rows => {
    reads.largest = Math.max(reads.largest, bytesOf(sourceOf(rows)));
    return rows;
  };
  return {
    ...{ form: x.form, rows: x.rows, features: x.features, entries: entriesOf(x), room },
    valueBytes: x.values.BYTES_PER_ELEMENT,
    async *blocks(bytes) {
      reads.passes++;
      for (const block of blocksOf(x, bytes)) {
        await Promise.resolve();
        yield noted(
          gatherRows(
            block,
            Uint32Array.from({ length: block.rows }, (_, r) => r),
          ),
        );
        if (stop) return;
      }
    },
    gather: async (rows) => noted(gatherRows(x, rows)),
    slice: (from, to) => readRows(sliceRows(x, from, to), room, reads),
  };
}
