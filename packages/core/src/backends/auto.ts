/**
 * The default back end, `auto`: it asks each back end that runs here what the work would take, and gives rows to
 * the one that would be done first. Workers are started by the first rows that are worth them, a back end of another
 * package (a GPU) by the first stretch of work that is.
 */

import { RanksimError } from "../errors.ts";
import type { RowSource } from "../kernels/shapes.ts";
import type { Backend, Opener, Plan, WorkShape } from "./contract.ts";

/** The number of filters assumed where nothing is known: as many as there are by default for a few thousand rows. */
const USUAL_FILTERS = 1000;
/** Seconds that starting the workers takes. Measured. */
const START = 0.05;

/** Seconds that a GPU takes until its first answer, with its kernels compiled. Measured. */
const START_GPU = 0.5;

/** Opens the best back ends that run here, with at most `threads` workers. `openers` open those of other packages. */
export async function openAuto(threads?: number, openers: readonly Opener[] = []): Promise<Backend> {
  const { hasSimd } = await import("./wasm/engine/module.ts");
  const standIn = async (why: string) => (await import("./reference.ts")).openReference(`${why}: plain loops were run`);
  if (!hasSimd()) return standIn("there is no WebAssembly with SIMD here");
  const { openWasm, secondsOf } = await import("./wasm/backend.ts");
  const single = await openWasm().catch(refused);
  if (!single) return standIn("WebAssembly is not allowed here");
  const { availableThreads } = await import("./threads/worker.ts");
  const { openThreads, threadsRefusal } = await import("./threads/backend.ts");
  const most = threadsRefusal() ? 1 : (threads ?? availableThreads());
  let pool: Promise<Backend> | undefined;
  let opened: Backend | undefined;
  const many = async (): Promise<Backend> => {
    pool ??= openThreads(threads).catch((error: unknown) => {
      // A page may forbid workers; that is no reason to fail where one thread does.
      if (error instanceof RanksimError && error.code === "no-backend") return single;
      throw error;
    });
    opened = await pool;
    return opened;
  };
  const others = openers.map((open) => new Other(() => openHardware(open, async () => (most === 1 ? single : many()))));
  const used = (): Backend | undefined => others.find((other) => other.used)?.used;
  const best = async (work: WorkShape): Promise<Backend> => {
    const alone = secondsOf(work, 1);
    const together = most === 1 ? Number.POSITIVE_INFINITY : (opened ? 0 : START) + secondsOf(work, most);
    for (const other of others) {
      const found = await other.for(work, Math.min(alone, together));
      if (found) return found;
    }
    return alone <= together ? single : many();
  };
  return {
    get name() {
      return used()?.name ?? opened?.name ?? single.name;
    },
    get threads() {
      return opened?.threads ?? single.threads;
    },
    get overlap() {
      return used()?.overlap ?? 1;
    },
    estimate: (work) => (opened ?? single).estimate(work),
    hold: async (rows, plan) => (await best(shapeOf(rows, plan))).hold(rows, plan),
    async close() {
      // One that fails to close leaves none of the others open. Workers that never started have nothing to close.
      const many = async () => (await pool?.catch(() => undefined))?.close();
      const closed = await Promise.allSettled([single.close(), many(), ...others.map((other) => other.close())]);
      for (const each of closed) if (each.status === "rejected") throw each.reason;
    },
  };
}

/** Nothing in place of a back end that cannot run here; any other failure is told. */
function refused(error: unknown): undefined {
  if (!(error instanceof RanksimError && error.code === "no-backend")) throw error;
}

/**
 * A back end of another package. Opening it costs as much as some work on the processor, so it is opened once that much work
 * was asked for, and the processor does the work until then; only work that is many times as long waits for it.
 */
class Other {
  /** The back end, once it was given work. */
  used: Backend | undefined;
  readonly #open: () => Promise<Backend>;
  #opening: Promise<void> | undefined;
  #opened: Backend | undefined;
  #seconds = 0;

  constructor(open: () => Promise<Backend>) {
    this.#open = open;
  }

  /** The back end if it would finish this work before the processor, which would take `seconds`. */
  async for(work: WorkShape, seconds: number): Promise<Backend | undefined> {
    // A server asks for milliseconds of work all day: a GPU would be opened for nothing.
    if (seconds < LEAST_GPU) return undefined;
    this.#seconds += seconds;
    if (this.#seconds < START_GPU) return undefined;
    this.#opening ??= this.#open().then(
      (opened) => {
        this.#opened = opened;
      },
      () => {}, // there is none here: the processor does it
    );
    if (seconds > PATIENCE * START_GPU) await this.#opening;
    const estimate = this.#opened?.estimate(work);
    if (!estimate || !("seconds" in estimate) || estimate.seconds >= seconds) return undefined;
    this.used = this.#opened;
    return this.used;
  }

  async close(): Promise<void> {
    await this.#opening;
    await this.#opened?.close();
  }
}

/** Seconds of work below which a GPU is not worth asking: rows have to get there, and answers back. */
const LEAST_GPU = 0.005;

/** Work this many times as long as opening a GPU waits for it. */
const PATIENCE = 4;

/** A device in hardware: one that a program plays is slower than the processor it runs on. */
async function openHardware(open: Opener, openProcessor: () => Promise<Backend>): Promise<Backend> {
  const opened = await open(openProcessor);
  const device = await opened.describe?.(); // times its programs
  if (!device?.isSoftware) return opened;
  await opened.close();
  throw new RanksimError("no-backend", `${opened.name}: expected a device, found a program that plays one`);
}

function shapeOf(rows: RowSource, { filters = USUAL_FILTERS, searches = 1 }: Plan = {}): WorkShape {
  const { entries: values, valueBytes, features } = rows;
  return { rows: rows.rows, features, values, bytes: values * valueBytes, filters, searches };
}
