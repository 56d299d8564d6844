/**
 * The requests under way, in the order they came. A list of its own: a Set that is filled and emptied all the time leaves
 * tables behind that still point to requests long answered, which then outlive several rounds of the garbage collector.
 */

import type { IncomingMessage, ServerResponse } from "node:http";

/** A request under way. */
export class Running {
  readonly deadline: number;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Its neighbours; of the list alone. */
  before: Running | undefined;
  after: Running | undefined;
  isListed = false;

  constructor(deadline: number, request: IncomingMessage, response: ServerResponse) {
    this.deadline = deadline;
    this.request = request;
    this.response = response;
  }
}

/** A list from which any member is taken in one step, and which keeps nothing of it. */
export class RunningList {
  #first: Running | undefined;
  #last: Running | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The one that came first. */
  get first(): Running | undefined {
    return this.#first;
  }

  add(one: Running): void {
    one.before = this.#last;
    if (this.#last) this.#last.after = one;
    else this.#first = one;
    this.#last = one;
    one.isListed = true;
    this.#size++;
  }

  /** Takes a request out; does nothing where it is out already. */
  remove(one: Running): void {
    if (!one.isListed) return;
    if (one.before) one.before.after = one.after;
    else this.#first = one.after;
    if (one.after) one.after.before = one.before;
    else this.#last = one.before;
    one.before = undefined;
    one.after = undefined;
    one.isListed = false;
    this.#size--;
  }
}
