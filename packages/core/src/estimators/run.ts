/** What every public call does around its work: find a back end, share time, report progress, notice an abort. */

import type { Backend } from "../backends/contract.ts";
import { type BackendName, openBackend } from "../backends/open.ts";
import { Turn } from "../backends/turn.ts";
import { RanksimError } from "../errors.ts";
import type { Progress, Run } from "./estimator.ts";

/** Milliseconds after which a shared back end is closed if no call needs it: its memory only grows while it is open. */
const IDLE = 10_000;
/** How often a call is tried where its worker ends during it. */
const TRIES = 3;

/** The back end of calls that were given a name or nothing: opened by the first of them, shared by all, closed when it is idle. */
class SharedBackend {
  readonly #name: BackendName;
  #backend: Promise<Backend> | undefined;
  #users = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(name: BackendName) {
    this.#name = name;
  }

  enter(): Promise<Backend> {
    clearTimeout(this.#idle);
    this.#users++;
    this.#backend ??= openBackend(this.#name).catch((error) => {
      this.#backend = undefined;
      throw error;
    });
    return this.#backend;
  }

  leave(): void {
    if (--this.#users > 0) return;
    this.#idle = setTimeout(() => {
      const backend = this.#backend;
      this.#backend = undefined;
      // No call waits for it: one that fails to close has no work to lose.
      backend?.then((open) => open.close()).catch(() => {});
    }, IDLE);
    // A process that has nothing else to do need not wait for it.
    (this.#idle as { unref?(): void }).unref?.();
  }
}

const shared = new Map<BackendName, SharedBackend>();

function sharedOf(name: BackendName): SharedBackend {
  const found = shared.get(name) ?? new SharedBackend(name);
  shared.set(name, found);
  return found;
}

/** Does the work of a call on its back end, in its turn. A call whose worker ended is done again: it depends on nothing but its arguments. */
export async function withBackend<T>(run: Run, work: (backend: Backend) => Promise<T>): Promise<T> {
  const { backend: given = "auto", signal } = run;
  const turn = new Turn(signal);
  const common = typeof given === "string" ? sharedOf(given) : undefined;
  signal?.throwIfAborted();
  for (let left = TRIES; ; left--) {
    try {
      return await work(inTurn(typeof given === "string" ? await (common as SharedBackend).enter() : given, turn));
    } catch (error) {
      if (left === 1 || !isPassing(error)) throw isDetached(error) ? goneInUse(error) : error;
    } finally {
      common?.leave();
    }
  }
}

/** Options of a call in one object, whether they came so or as in 0.1: the option of that name by itself, and a `Run` after it. */
export function mergeOptions<O extends Run, K extends keyof O>(
  name: K,
  options: O | (O[K] & string),
  apart: Run | undefined,
): O {
  return { ...(typeof options === "string" ? { [name]: options } : (options as O)), ...apart } as O;
}

/** The part of the options of a call that is its `Run`. */
export function runOf(options: Run): Run {
  return Object.fromEntries(RUN_NAMES.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])));
}

const RUN_NAMES = ["backend", "signal", "onProgress", "checkpoint"] as const satisfies readonly (keyof Run)[];

/** The same back end, with all rows held in the given turn. */
function inTurn(backend: Backend, turn: Turn): Backend {
  const { shareOut } = backend;
  return {
    get name() {
      return backend.name;
    },
    get threads() {
      return backend.threads;
    },
    get overlap() {
      return backend.overlap ?? 1;
    },
    get processes() {
      return backend.processes ?? 1;
    },
    estimate: (work) => backend.estimate(work),
    hold: (rows, plan) => backend.hold(rows, { turn, ...plan }),
    ...(shareOut && { shareOut: (pieces, work) => shareOut(pieces, (piece, own) => work(piece, inTurn(own, turn))) }),
    close: () => backend.close(),
  };
}

/** What all engines say of memory that was transferred away. */
const isDetached = (error: unknown): boolean => error instanceof TypeError && /detached/.test(error.message);

const goneInUse = (cause: unknown): RanksimError =>
  new RanksimError("bad-matrix", "expected rows that stay until the call ends, found their buffer detached during it", {
    cause,
  });

/** Whether trying again may help. */
function isPassing(error: unknown): boolean {
  return error instanceof Error && "isPassing" in error && error.isPassing === true;
}

/** Notes progress, waits if the listener asks for it, and stops the work if the run was aborted. */
export async function advance(run: Run, progress: Progress): Promise<void> {
  run.signal?.throwIfAborted();
  await run.onProgress?.(progress);
  run.signal?.throwIfAborted();
}
