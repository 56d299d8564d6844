/** One value that changes as a whole, and the hook with which components follow parts of it. */

import { useEffect, useState } from "preact/hooks";

export class Store<S extends object> {
  #state: S;
  readonly #listeners = new Set<() => void>();

  constructor(state: S) {
    this.#state = state;
  }

  get state(): S {
    return this.#state;
  }

  /** Replaces some fields; listeners hear of it at once. */
  update(changes: Partial<S>): void {
    this.#state = { ...this.#state, ...changes };
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` after each change; returns the way to stop. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** A part of the state; the component renders again when that part is another value. */
export function usePart<S extends object, T>(store: Store<S>, pick: (state: S) => T): T {
  const [, render] = useState(0);
  const value = pick(store.state);
  useEffect(() => {
    let known = pick(store.state);
    if (known !== value) render((n) => n + 1);
    return store.listen(() => {
      const now = pick(store.state);
      if (now === known) return;
      known = now;
      render((n) => n + 1);
    });
  }, [store]);
  return value;
}
