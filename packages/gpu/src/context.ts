/** What the rows and banks of one GPU back end share: the device, the host that does the rest, and which banks lie idle. */

import { RanksimError } from "@ranksim/core";
import { type Backend, BankCache, Lock, type RowSource, Shared } from "@ranksim/core/backend";
import { type Device, GpuFailure } from "./device.ts";
import { freeRows, type Resident } from "./resident.ts";
import { type ChosenProgram, chooseVariant } from "./variants.ts";

/** Bytes of the device that are used at a time. */
export interface GpuLimits {
  /** Rows in one buffer. */
  readonly partBytes: number;
  /** Products of a block. */
  readonly productBytes: number;
  /** Answers of a block. */
  readonly answerBytes: number;
  /** Banks of models that nobody uses at the moment. */
  readonly idleBytes: number;
}

export const GPU_LIMITS: GpuLimits = {
  partBytes: 2 ** 31,
  productBytes: 2 ** 28,
  answerBytes: 2 ** 25,
  idleBytes: 2 ** 30,
};

export class GpuContext {
  readonly device: Device;
  readonly limits: GpuLimits;
  /** Whoever makes a job of large buffers waits here until the one before has sent off its own. */
  readonly largeJobs = new Lock();
  readonly #openHost: () => Promise<Backend>;
  /** Banks on the device that can be brought there again. */
  readonly banks: BankCache;
  readonly #whole = new Map<RowSource, Shared<Promise<Resident>>>();
  #host: Promise<Backend> | undefined;
  #isClosed = false;
  #program: Promise<ChosenProgram> | undefined;

  constructor(device: Device, openHost: () => Promise<Backend>, limits: GpuLimits = GPU_LIMITS) {
    this.device = device;
    this.#openHost = openHost;
    this.banks = new BankCache(limits.idleBytes);
    this.limits = {
      ...limits,
      partBytes: Math.min(limits.partBytes, device.mostBytes),
      productBytes: Math.min(limits.productBytes, device.mostBytes),
    };
  }

  /** The back end that does what the device does not; opened when it is first needed. */
  host(): Promise<Backend> {
    if (this.#isClosed) return Promise.reject(new RanksimError("no-backend", "the back end was closed"));
    this.#host ??= this.#openHost().catch((error: unknown) => {
      this.#host = undefined;
      throw error;
    });
    return this.#host;
  }

  /**
   * Does work on the device. If that fails, so does the call that asked for it, which is done again (`isRetryable`): on the
   * processor, since a device that failed once is not asked again.
   */
  async onDevice<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof GpuFailure) this.device.retire(error);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.device.retire(new GpuFailure("the back end was closed"));
    await (await this.#host)?.close();
  }

  /** The program for products; timed by the first call. */
  program(): Promise<ChosenProgram> {
    this.#program ??= chooseVariant(this.device).catch((error: unknown) => {
      this.#program = undefined;
      throw error;
    });
    return this.#program;
  }

  /**
   * All rows of a source, brought by the first who asks and kept for others who ask at the same time; the last one to release them
   * frees them.
   */
  whole(source: RowSource, bring: () => Promise<Resident>): Shared<Promise<Resident>> {
    const kept = this.#whole.get(source)?.keep();
    if (kept) return kept;
    const resident = bring();
    const shared = new Shared(resident, () => {
      this.#whole.delete(source);
      resident.then(freeRows, () => {}); // the caller already got this rejection
    });
    this.#whole.set(source, shared);
    return shared;
  }
}
