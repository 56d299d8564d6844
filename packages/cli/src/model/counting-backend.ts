/** A back end that counts what its searches had to compute, for the report of a prediction. */

import type { Backend, Work } from "@ranksim/core";

/** The same back end, and the work of all matrices it has held so far. */
export function countingBackend(backend: Backend): { readonly backend: Backend; readonly work: () => Work } {
  let pairs = 0;
  let exact = 0;
  return {
    work: () => ({ pairs, exact }),
    backend: {
      // Asked each time: a back end may become another with the size of its work.
      get name() {
        return backend.name;
      },
      get threads() {
        return backend.threads;
      },
      close: () => backend.close(),
      pool: (images, layers) => backend.pool(images, layers),
      async hold(x) {
        const held = await backend.hold(x);
        let counted = false;
        return {
          topFilters: (bank, k, since) => held.topFilters(bank, k, since),
          topFiltersOf: (rows, bank, k) => held.topFiltersOf(rows, bank, k),
          leaders: (bank) => held.leaders(bank),
          topRows: (bank, filters, k, divisor) => held.topRows(bank, filters, k, divisor),
          rankSums: (groups, distribution) => held.rankSums(groups, distribution),
          refining: (start) => held.refining(start),
          work: () => held.work(),
          release: () => {
            if (!counted) {
              const done = held.work();
              pairs += done.pairs;
              exact += done.exact;
              counted = true;
            }
            held.release();
          },
        };
      },
    },
  };
}
