/**
 * Memory of the host that the device copies from. Making it takes longer than filling it (47 MB: 12 ms against 6), so it is kept,
 * mapped, for the next rows.
 */

import { Idle } from "./idle.ts";

/** Numbers of WebGPU. */
const MAP_WRITE = 2;
const COPY_SRC = 4;
/** Bytes that are kept. */
const IDLE_BYTES = 2 ** 26;

/** Bytes on their way to the device. */
export interface Upload {
  readonly buffer: GPUBuffer;
  readonly bytes: number;
  /** To be called when the job that copies them was sent off. */
  sent(): void;
}

export class Uploads {
  readonly #gpu: GPUDevice;
  readonly #idle = new Idle(IDLE_BYTES);
  #isClosed = false;

  constructor(gpu: GPUDevice) {
    this.#gpu = gpu;
  }

  /** A copy of the values, with up to three bytes more. Throws where there is no memory for it. */
  put(values: ArrayBufferView): Upload {
    const bytes = Math.ceil(values.byteLength / 4) * 4;
    const size = 2 ** Math.ceil(Math.log2(Math.max(2 ** 16, bytes)));
    const buffer =
      this.#idle.take(size) ?? this.#gpu.createBuffer({ size, usage: MAP_WRITE | COPY_SRC, mappedAtCreation: true });
    const source = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    new Uint8Array(buffer.getMappedRange(0, bytes)).set(source);
    buffer.unmap();
    return { buffer, bytes, sent: () => this.#again(buffer, size) };
  }

  clear(): void {
    this.#isClosed = true;
    this.#idle.clear();
  }

  /** Makes it ready for the next values once the device has read these. */
  #again(buffer: GPUBuffer, size: number): void {
    buffer.mapAsync(MAP_WRITE).then(
      () => (this.#isClosed ? buffer.destroy() : this.#idle.keep(buffer, size)),
      () => buffer.destroy(), // the device is gone; the caller gets this rejection with its answer
    );
  }
}
