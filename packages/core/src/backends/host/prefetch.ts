/** Blocks that are read while the one before is worked on. */

/** The same items. The next is requested before one is passed on. */
export async function* prefetch<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let next = requestNext(iterator);
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = requestNext(iterator);
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** The next item. If reading it fails while the item before is still worked on, the failure is thrown once the item is awaited. */
export function requestNext<T>(iterator: Iterator<T> | AsyncIterator<T>): Promise<IteratorResult<T, unknown>> {
  const next = Promise.resolve(iterator.next());
  next.catch(() => undefined);
  return next;
}
