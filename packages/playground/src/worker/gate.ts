/**
 * Lets a run pass after each iteration: at once, after a pause that eyes can follow, or when told to. The library waits for
 * whatever its `onProgress` returns, so this one promise is step, play and pause.
 */

import type { Pace } from "../protocol.ts";

/** How long each iteration stays in view at the pace "watch". */
const WATCH_MILLISECONDS = 450;

/** At full pace the worker still listens to the page this often. */
const LISTEN_MILLISECONDS = 12;

export class Gate {
  #pace: Pace;
  #release: (() => void) | undefined;
  #listened = performance.now();
  readonly #channel = new MessageChannel();

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  get pace(): Pace {
    return this.#pace;
  }

  /** Resolves when the run may go on. */
  async pass(): Promise<void> {
    await this.listen();
    if (this.#pace === "full") return;
    await new Promise<void>((resolve) => {
      this.#release = resolve;
      if (this.#pace === "watch") setTimeout(resolve, WATCH_MILLISECONDS);
    });
    this.#release = undefined;
  }

  /** Lets messages of the page in, if none were let in for a while: one of them may change the pace or stop the run. */
  async listen(): Promise<void> {
    if (performance.now() - this.#listened < LISTEN_MILLISECONDS) return;
    // One turn of the event loop, without the delay that browsers give nested timers.
    await new Promise<void>((resolve) => {
      this.#channel.port1.onmessage = () => resolve();
      this.#channel.port2.postMessage(null);
    });
    this.#listened = performance.now();
  }

  /** Sets the pace and lets a waiting run pass. */
  go(pace: Pace): void {
    this.#pace = pace;
    this.#release?.();
  }

  /** Ends the gate's own means; a waiting run passes. */
  close(): void {
    this.#release?.();
    this.#channel.port1.close();
  }
}
