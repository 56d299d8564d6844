/** What every public call does around its work: find a back end, share time, report progress, notice an abort, hand its `Run` on to the calls it consists of. */

import type { Backend } from "../backends/contract.ts";
import { type BackendName, openBackend } from "../backends/open.ts";
import { Turn } from "../backends/turn.ts";
import { describeGiven, RanksimError } from "../errors.ts";
import { refuseLost } from "../matrix/matrix.ts";
import type { RowsLike } from "../matrix/source.ts";
import type { Checkpoint, Progress, Run } from "./estimator.ts";

/** Milliseconds after which a shared back end is closed if no call needs it: its memory only grows while it is open. */
const IDLE = 10_000;
/** How often a call is tried where its worker ends, or its device fails, during it. */
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

/**
 * Does the work of a call on its rows and its back end, in its turn. A call whose worker ended, or whose device failed, is done
 * again: it depends on nothing but its arguments. Rows that lost their memory during the call are noticed at its end.
 */
export async function withBackend<T>(run: Run, rows: RowsLike, work: (backend: Backend) => Promise<T>): Promise<T> {
  const { backend: given = "auto", signal } = run;
  const turn = new Turn(signal);
  const common = typeof given === "string" ? sharedOf(given) : undefined;
  signal?.throwIfAborted();
  for (let left = TRIES; ; left--) {
    let result: T;
    try {
      result = await work(inTurn(typeof given === "string" ? await (common as SharedBackend).enter() : given, turn));
    } catch (error) {
      if (!signal?.aborted) refuseLost(rows, error);
      if (left === 1 || !isRetryable(error)) throw error;
      continue;
    } finally {
      common?.leave();
    }
    refuseLost(rows);
    return result;
  }
}

/**
 * The options of a call, which come in one object after all else. `rest` is what followed them. One option by itself and
 * options in two objects are refused: they would be passed over in silence.
 */
export function optionsOf<O extends Run>(call: string, options: O, rest: readonly unknown[]): O {
  const isOne = rest.every((argument) => argument === undefined);
  if (isOne && typeof options === "object" && options !== null) return options;
  const found = isOne
    ? describeGiven(options)
    : `${describeGiven(rest.find((argument) => argument !== undefined))} after it`;
  throw new RanksimError(
    "bad-params",
    `${call}: expected all options in one object, the last argument, found ${found}`,
  );
}

/** The part of the options of a call that is its `Run`. */
export function runOf(options: Run): Run {
  return Object.fromEntries(RUN_NAMES.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])));
}

const RUN_NAMES = ["backend", "signal", "onProgress", "checkpoint", "memory"] as const satisfies readonly (keyof Run)[];

/** The same back end, with all rows held in the given turn. */
function inTurn(backend: Backend, turn: Turn): Backend {
  const { processes } = backend;
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
    estimate: (work) => backend.estimate(work),
    hold: (rows, plan) => backend.hold(rows, { turn, ...plan }),
    ...(processes && {
      processes: {
        count: processes.count,
        pieces: (count, work) => processes.pieces(count, (piece, own) => work(piece, inTurn(own, turn))),
      },
    }),
    close: () => backend.close(),
  };
}

/** Whether trying again may help. */
function isRetryable(error: unknown): boolean {
  return error instanceof Error && "isRetryable" in error && error.isRetryable === true;
}

/** Notes progress, waits if the listener asks for it, and stops the work if the run was aborted. */
export async function advance(run: Run, progress: Progress): Promise<void> {
  run.signal?.throwIfAborted();
  await run.onProgress?.(progress);
  run.signal?.throwIfAborted();
}

/**
 * The same run for one part of a call: shares 0..1 of the part arrive as `from`..`to` of the whole. A checkpoint is of the
 * whole call and is handed on to a `part` with a name alone, under which it keeps what it is given: other parts would take
 * each other's for their own.
 */
export function partOfRun<R extends Run>(whole: R, from: number, to: number, part?: string): R {
  const { checkpoint, onProgress, ...run } = whole;
  return {
    ...run,
    ...(checkpoint && part !== undefined && { checkpoint: checkpointOf(checkpoint, part) }),
    ...(onProgress && {
      onProgress: (progress: Progress) => onProgress({ ...progress, share: from + (to - from) * progress.share }),
    }),
  } as R;
}

/** The checkpoint of a part of a call, whose names are its own. */
function checkpointOf(checkpoint: Checkpoint, part: string): Checkpoint {
  return {
    recall: (name) => checkpoint.recall(`${part}.${name}`),
    isDue: () => checkpoint.isDue(),
    keep: (name, state) => checkpoint.keep(`${part}.${name}`, state),
  };
}

/** The run of a step that tells nothing of its progress: the back end of the call, and its signal. */
export function quietRun({ signal, memory }: Run, backend: Backend): Run {
  return { backend, ...(signal ? { signal } : {}), ...(memory ? { memory } : {}) };
}

/** Refuses (code "bad-file") to learn what takes more memory than the run may. */
export function refuseLarge({ memory }: Run, bytes: number, what: string, cure: string): void {
  if (memory === undefined || bytes <= memory) return;
  const [least, most] = [bytes, memory].map((count) => `${Math.ceil(count / 1e6)} MB`);
  throw new RanksimError("bad-file", `expected ${what} that fit in ${most} of memory, found ${least}; ${cure}`);
}

/**
 * A function to be awaited often in long loops: once in a while it lets timers and events in, and it rejects with the
 * signal's reason after an abort.
 */
export function turns({ signal }: Run): () => Promise<void> {
  const turn = new Turn(signal);
  return () => turn.pause();
}
