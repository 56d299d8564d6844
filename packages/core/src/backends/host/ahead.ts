/** Blocks that are read while the one before is worked on. */

/** The same things, of which the next is asked for before one is handed out. */
export async function* ahead<T>(things: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = Symbol.asyncIterator in things ? things[Symbol.asyncIterator]() : things[Symbol.iterator]();
  let next = asked(iterator);
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = asked(iterator);
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** What comes next. A failure may come while what came before is still at work, and is thrown when it is its turn. */
export function asked<T>(iterator: Iterator<T> | AsyncIterator<T>): Promise<IteratorResult<T, unknown>> {
  const next = Promise.resolve(iterator.next());
  next.catch(() => undefined);
  return next;
}
