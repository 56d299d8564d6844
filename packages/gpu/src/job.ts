/** Work for a device: dispatches and copies that happen one after the other, once they are sent off. */

import {
  type Device,
  type DeviceBuffer,
  GpuFailure,
  type Kernel,
  type Landing,
  MOST_DISPATCHES,
  MOST_GROUPS,
} from "./device.ts";
import type { Upload } from "./uploads.ts";

/** A kernel to run, bytes to copy or a buffer to fill with zeros. */
type Step =
  | {
      readonly pipeline: GPUComputePipeline;
      readonly buffers: readonly GPUBuffer[];
      readonly params: readonly number[];
      readonly across: number;
      readonly down: number;
    }
  | {
      readonly from: GPUBuffer;
      readonly fromByte: number;
      readonly to: GPUBuffer;
      readonly toByte: number;
      readonly bytes: number;
    }
  | { readonly cleared: GPUBuffer };

/** An answer on its way to the host, and what is to be done with it once the job was sent off. */
interface Expected {
  readonly landing: Landing;
  readonly bytes: number;
  readonly arrive: (landing: Landing, bytes: number) => void;
}

export class Job {
  readonly steps: Step[] = [];
  readonly uploads: Upload[] = [];
  readonly landings: Expected[] = [];
  dispatches = 0;
  readonly #device: Device;

  constructor(device: Device) {
    this.#device = device;
  }

  /** Runs a kernel on so many workgroups across and down. */
  async run(
    kernel: Kernel,
    on: readonly DeviceBuffer[],
    params: readonly number[],
    across: number,
    down = 1,
  ): Promise<void> {
    if (across === 0 || down === 0) return;
    if (across > MOST_GROUPS || down > MOST_GROUPS) throw new GpuFailure(`${kernel.name}: too many workgroups`);
    if (this.dispatches === MOST_DISPATCHES) throw new GpuFailure(`${kernel.name}: too many dispatches`);
    const pipeline = await this.#device.pipeline(kernel);
    this.dispatches++;
    this.steps.push({ pipeline, buffers: on.map(({ handle }) => handle), params, across, down });
  }

  copy(from: DeviceBuffer, fromByte: number, to: DeviceBuffer, toByte: number, bytes: number): void {
    this.steps.push({ from: from.handle, fromByte, to: to.handle, toByte, bytes });
  }

  /** Copies values to the beginning of a buffer, with up to three bytes of any content behind them: for large ones, by memory that is kept for it. */
  bring(to: DeviceBuffer, values: ArrayBufferView): void {
    const upload = this.#device.upload(values);
    this.uploads.push(upload);
    this.steps.push({ from: upload.buffer, fromByte: 0, to: to.handle, toByte: 0, bytes: upload.bytes });
  }

  clear(buffer: DeviceBuffer): void {
    this.steps.push({ cleared: buffer.handle });
  }

  /** What the first bytes of a buffer are at this point of the job; to be awaited after `send`. */
  read(from: DeviceBuffer, bytes: number): Promise<ArrayBuffer> {
    return this.take(from, bytes, (there) => there.slice(0, bytes));
  }

  /** What `take` makes of them, without a copy of their own. */
  take<T>(from: DeviceBuffer, bytes: number, take: (there: ArrayBuffer) => T | Promise<T>): Promise<T> {
    const size = Math.ceil(bytes / 4) * 4;
    const landing = this.#device.landing(size);
    this.steps.push({ from: from.handle, fromByte: 0, to: landing.buffer, toByte: 0, bytes: size });
    const taken = new Promise<T>((resolve) => {
      const arrive = (at: Landing, count: number): void => resolve(this.#device.collect(at, count, take));
      this.landings.push({ landing, bytes, arrive });
    });
    taken.catch(() => {}); // of two answers that fail only one may be waited for
    return taken;
  }

  /** Sends it off; it cannot be added to any more. */
  send(): void {
    this.#device.send(this);
  }
}
