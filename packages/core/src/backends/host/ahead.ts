/** Blocks that are read while the one before is worked on. */

import type { Rows } from "../../kernels/shapes.ts";

/** The same blocks, of which the next is asked for before one is worked on. */
export async function* ahead(blocks: Iterable<Rows> | AsyncIterable<Rows>): AsyncGenerator<Rows> {
  const iterator = Symbol.asyncIterator in blocks ? blocks[Symbol.asyncIterator]() : blocks[Symbol.iterator]();
  let next = Promise.resolve(iterator.next());
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = Promise.resolve(iterator.next());
      next.catch(() => {}); // reported when it is awaited
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}
