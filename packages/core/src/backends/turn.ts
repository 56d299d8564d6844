/**
 * How long work shares the event loop. A back end awaits `pause` between slices of its work; once a stretch of computing
 * has lasted long enough, the caller waits until timers, input and other calls have had their turn. All calls of a process
 * wait in one queue, so that many calls block the loop no longer than one.
 */

declare global {
  // What browsers and Node declare; named here so that declarations compile where neither's types are there.
  interface AbortSignal {}
}

/** Milliseconds of computing between two turns of the event loop. */
const STRETCH = 20;

/** Runs a function in a later turn of the event loop, as soon as there is one. Taken when the module loads, so that fake timers do not stop work. */
const later: (work: () => void) => void = laterOf();

const waiting: (() => void)[] = [];
let scheduled = false;
/** When the event loop last gave the floor to one of us. */
let began = Number.NEGATIVE_INFINITY;

/** Whether a stretch of computing is over. */
export function isDue(): boolean {
  return performance.now() - began > STRETCH;
}

/** Waits for a turn of the event loop, in the order of the calls. */
function nextTurn(): Promise<void> {
  return new Promise((resume) => {
    waiting.push(resume);
    schedule();
  });
}

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  later(() => {
    scheduled = false;
    const resume = waiting.shift();
    if (waiting.length > 0) schedule(); // one at a time: the others have theirs after the loop has turned again
    began = performance.now();
    resume?.();
  });
}

/** How one call shares time: between slices of work it lets others in, and ends when it is aborted. */
export class Turn {
  readonly signal: AbortSignal | undefined;

  constructor(signal?: AbortSignal) {
    this.signal = signal;
  }

  /** To be awaited between slices of work. Rejects with the signal's reason after an abort. */
  async pause(): Promise<void> {
    if (isDue()) await nextTurn();
    this.signal?.throwIfAborted();
  }
}

/** A call that cannot be aborted. */
export const UNINTERRUPTED = new Turn();

function laterOf(): (work: () => void) => void {
  const host = globalThis as {
    setImmediate?: (work: () => void) => unknown;
    MessageChannel?: typeof MessageChannel;
    setTimeout: (work: () => void) => unknown;
  };
  if (host.setImmediate) {
    const { setImmediate } = host;
    return (work) => setImmediate(work);
  }
  if (!host.MessageChannel) {
    const { setTimeout } = host; // a page that a test runner plays
    return (work) => setTimeout(work);
  }
  // Browsers slow nested timers down to four milliseconds each; messages come at once.
  const channel = new MessageChannel();
  let next: (() => void) | undefined;
  channel.port1.onmessage = () => next?.();
  return (work) => {
    next = work;
    channel.port2.postMessage(0);
  };
}
