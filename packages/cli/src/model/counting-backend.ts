/** A back end that counts what its searches had to compute, for the report of a prediction. */

import type { Backend } from "@ranksim/core";

/** Row-filter pairs asked about, and those whose exact product had to be computed. */
export interface CountedWork {
  readonly pairs: number;
  readonly exact: number;
}

/** The same back end, and the work of all rows it has held and released so far. */
export function countingBackend(backend: Backend): { readonly backend: Backend; readonly work: () => CountedWork } {
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
      estimate: (work) => backend.estimate(work),
      close: () => backend.close(),
      async hold(rows, plan) {
        const held = await backend.hold(rows, plan);
        const release = held.release.bind(held);
        // These rows are not shared yet, so their release can be replaced by one that counts, once.
        held.release = () => {
          const done = held.work();
          pairs += done.pairs;
          exact += done.exact;
          held.release = release;
          release();
        };
        return held;
      },
    },
  };
}
