/** The requests under way: how many there are, what they hold, and which of them are overdue. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { Gone, tooBusy } from "./http-error.ts";
import type { Limits } from "./limits.ts";

/** A request under way: from its first byte until its work has ended and its answer is sent. */
export class Running {
  deadline: number;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly #all: RunningList;
  /** Its neighbours, and what it holds; of the list alone. */
  before: Running | undefined;
  after: Running | undefined;
  isWaitedFor = true;
  isWorkedOn = true;
  bytes = 0;

  constructor(deadline: number, request: IncomingMessage, response: ServerResponse, all: RunningList) {
    this.deadline = deadline;
    this.request = request;
    this.response = response;
    this.#all = all;
  }

  /** Whether nobody waits for an answer any more: what is still to be done for it need not be. */
  get isGone(): boolean {
    return !this.isWaitedFor;
  }

  /** Takes memory until the request is over; refuses where all requests together hold too much. */
  take(bytes: number): void {
    this.#all.take(this, bytes);
  }
}

/**
 * A list from which any member is taken in one step, and which keeps nothing of it: a Set that is filled and emptied all the
 * time leaves tables behind that still point to requests long answered, which then outlive several rounds of the garbage
 * collector. Its members are those that someone waits for, in the order of their deadlines.
 */
export class RunningList {
  readonly #limits: Limits;
  #first: Running | undefined;
  #last: Running | undefined;
  #size = 0;
  #bytes = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Requests that are worked on, whether or not someone still waits. */
  get size(): number {
    return this.#size;
  }

  /** The first that someone waits for. */
  get first(): Running | undefined {
    return this.#first;
  }

  /** Takes in a request; refuses it where there are too many. */
  add(request: IncomingMessage, response: ServerResponse, began: number): Running {
    const { requests, timeoutMs } = this.#limits;
    if (this.#size >= requests) throw tooBusy(`${requests} requests are being answered; come back in a moment`);
    const one = new Running(began + timeoutMs, request, response, this);
    this.#append(one);
    this.#size++;
    response.once("close", () => this.leave(one));
    return one;
  }

  take(one: Running, bytes: number): void {
    if (one.isGone) throw new Gone();
    const { roomBytes } = this.#limits;
    if (this.#bytes + bytes > roomBytes) {
      throw tooBusy(
        `the requests under way hold all of ${roomBytes} bytes; come back in a moment, with fewer rows at a time`,
      );
    }
    this.#bytes += bytes;
    one.bytes += bytes;
  }

  /** Nobody waits any more: the answer is sent, the client is gone or was told that it took too long. */
  leave(one: Running): void {
    if (!one.isWaitedFor) return;
    one.isWaitedFor = false;
    this.#unlink(one);
    this.#free(one);
  }

  /** Its work has ended: its place is free, and for its answer it has the same time again. */
  finish(one: Running): void {
    one.isWorkedOn = false;
    this.#size--;
    this.#free(one);
    if (!one.isWaitedFor) return;
    this.#unlink(one);
    one.deadline = performance.now() + this.#limits.timeoutMs;
    this.#append(one);
  }

  #append(one: Running): void {
    one.before = this.#last;
    if (this.#last) this.#last.after = one;
    else this.#first = one;
    this.#last = one;
  }

  #unlink(one: Running): void {
    if (one.before) one.before.after = one.after;
    else this.#first = one.after;
    if (one.after) one.after.before = one.before;
    else this.#last = one.before;
    one.before = undefined;
    one.after = undefined;
  }

  #free(one: Running): void {
    if (one.isWorkedOn || one.isWaitedFor) return;
    this.#bytes -= one.bytes;
    one.bytes = 0;
  }
}
