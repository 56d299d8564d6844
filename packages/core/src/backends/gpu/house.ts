/** What the rows and banks of one GPU back end share: the device, the host that does the rest, and which banks lie idle. */

import { RanksimError } from "../../errors.ts";
import type { RowSource } from "../../kernels/shapes.ts";
import type { Backend } from "../contract.ts";
import { Lock } from "../host/counted.ts";
import type { Device } from "./device.ts";
import { freeRows, type Resident } from "./resident.ts";
import { type Choice, chooseVariant } from "./variants.ts";

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

/** Something on the device that can be brought there again. */
export interface Evictable {
  readonly isInUse: boolean;
  readonly deviceBytes: number;
  evict(): void;
}

export class House {
  readonly device: Device;
  readonly limits: GpuLimits;
  /** Whoever makes a job of large rooms waits here until the one before has sent off its own. */
  readonly line = new Lock();
  readonly #openHost: () => Promise<Backend>;
  readonly #shelf = new Set<Evictable>();
  readonly #whole = new Map<RowSource, { users: number; resident: Promise<Resident> }>();
  #host: Promise<Backend> | undefined;
  #isClosed = false;
  #choice: Promise<Choice> | undefined;

  constructor(device: Device, openHost: () => Promise<Backend>, limits: GpuLimits = GPU_LIMITS) {
    this.device = device;
    this.#openHost = openHost;
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

  async close(): Promise<void> {
    this.#isClosed = true;
    this.device.destroy();
    await (await this.#host)?.close();
  }

  /** The program for products; timed by the first call. */
  choice(): Promise<Choice> {
    this.#choice ??= chooseVariant(this.device).catch((error: unknown) => {
      this.#choice = undefined;
      throw error;
    });
    return this.#choice;
  }

  /**
   * All rows of a source, brought by the first who asks and kept for others who ask at the same time; the last one to release them
   * frees them.
   */
  async whole(source: RowSource, bring: () => Promise<Resident>): Promise<{ resident: Resident; release(): void }> {
    const kept = this.#whole.get(source) ?? { users: 0, resident: bring() };
    this.#whole.set(source, kept);
    kept.users++;
    const release = (): void => {
      if (--kept.users > 0) return;
      this.#whole.delete(source);
      kept.resident.then(freeRows, () => {}); // whoever brought them has heard of it
    };
    try {
      return { resident: await kept.resident, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Notes that something on the device was just used, and makes room if too much lies idle. */
  touch(used: Evictable): void {
    this.#shelf.delete(used);
    this.#shelf.add(used);
    let bytes = 0;
    for (const each of this.#shelf) bytes += each.deviceBytes;
    for (const each of this.#shelf) {
      if (bytes <= this.limits.idleBytes) return;
      if (each === used || each.isInUse) continue;
      bytes -= each.deviceBytes;
      this.#shelf.delete(each);
      each.evict();
    }
  }

  /** Notes that something is no longer on the device. */
  forget(gone: Evictable): void {
    this.#shelf.delete(gone);
  }
}
