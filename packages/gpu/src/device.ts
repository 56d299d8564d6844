/**
 * A GPU as this module uses it: buffers with owners, kernels compiled once, and jobs (`job.ts`), which are lists of dispatches that
 * happen one after the other. Everything that goes wrong on the device ends in a `GpuFailure`: the call that
 * it happened in is done again without the device.
 *
 * A submission takes the host 50 µs, a write of parameters 10. So a job that nobody waits for is kept until one follows that somebody
 * does wait for, and all go to the queue at once. Until then buffers that were freed stay as they are, since writes
 * to a buffer do not wait in line with jobs.
 */

import { RanksimError } from "@ranksim/core";
import { messageOf, type OpenedDevice } from "./adapter.ts";
import { Idle } from "./idle.ts";
import { Job } from "./job.ts";
import { type Upload, Uploads } from "./uploads.ts";

/** Numbers of WebGPU, which are globals in a browser and not in Node. */
const MAP_READ = 1;
const COPY_SRC = 4;
const COPY_DST = 8;
const UNIFORM = 64;
const STORAGE = 128;
const COMPUTE_STAGE = 4;

/** Bytes from the parameters of one dispatch to those of the next, and dispatches of a job at most. */
const PARAMS_STRIDE = 256;
const PARAMS_WORDS = PARAMS_STRIDE / 4;
export const MOST_DISPATCHES = 4096;
/** What kernels work on, kept for the next time: so many combinations of buffers, which bounds the map. */
const MOST_BINDINGS = 4096;
/** Workgroups in one dimension of a dispatch; more give zeros without a word on some systems. */
export const MOST_GROUPS = 65_535;
/** Idle buffers that are kept, in bytes: for answers, and on the device. They bound the memory of a device that does nothing. */
const IDLE_ANSWERS = 2 ** 27;
const IDLE_BYTES = 2 ** 29;
/** Jobs that are kept back at most, so that the device has something to do, and bytes of buffers that were freed meanwhile. Chosen, not measured. */
const MOST_KEPT = 16;
const KEPT_BYTES = 2 ** 26;

/** A device that refused, ran out of memory or is gone. The work can be done again: the back end goes on without it. */
export class GpuFailure extends RanksimError {
  /** Doing the same again is of use. */
  readonly isRetryable = true;

  constructor(why: string) {
    super("no-backend", `gpu: ${why}`);
  }
}

/** A program for the device. Binding 0 has its parameters, whole numbers in the order of the struct `Params`; the buffers follow. */
export interface Kernel {
  readonly name: string;
  readonly code: string;
  /** For each buffer whether it is written to. */
  readonly writes: readonly boolean[];
}

export class Device {
  readonly opened: OpenedDevice;
  /** Largest buffer a kernel can see. */
  readonly mostBytes: number;
  /** Bytes of all buffers that have an owner. */
  usedBytes = 0;
  readonly #gpu: GPUDevice;
  readonly #params: GPUBuffer;
  readonly #pipelines = new Map<Kernel, Promise<GPUComputePipeline>>();
  /** Idle buffers by their size: for answers, and on the device. */
  readonly #landings = new Idle(IDLE_ANSWERS);
  readonly #spare = new Idle(IDLE_BYTES);
  readonly #uploads: Uploads;
  readonly #bindings = new Map<string, GPUBindGroup>();
  #numbered = 0;
  readonly #numbers = new WeakMap<GPUBuffer | GPUComputePipeline, number>();
  #failure: GpuFailure | undefined;
  /** Jobs that wait for one with an answer, and what gives back the buffers that were freed since. */
  #kept: Job[] = [];
  #freed: (() => void)[] = [];
  #freedBytes = 0;
  /** Checks of allocations that have not been answered yet. */
  #checks: Promise<unknown>[] = [];

  constructor(opened: OpenedDevice) {
    this.opened = opened;
    this.#gpu = opened.device;
    this.#uploads = new Uploads(this.#gpu);
    const { maxBufferSize, maxStorageBufferBindingSize } = this.#gpu.limits;
    this.mostBytes = Math.min(maxBufferSize, maxStorageBufferBindingSize);
    this.#gpu.lost.then(({ reason, message }) =>
      this.retire(new GpuFailure(`the device was lost (${reason}): ${message}`)),
    );
    this.#gpu.addEventListener("uncapturederror", (event) => {
      event.preventDefault?.();
      this.retire(new GpuFailure((event as GPUUncapturedErrorEvent).error.message));
    });
    this.#params = this.#gpu.createBuffer({ size: PARAMS_STRIDE * MOST_DISPATCHES, usage: UNIFORM | COPY_DST });
  }

  get limits(): GPUSupportedLimits {
    return this.#gpu.limits;
  }

  /** Why the device is of no more use, if it is. */
  get failure(): GpuFailure | undefined {
    return this.#failure;
  }

  /**
   * A buffer of so many bytes, of any content. The caller frees it. Jobs happen in the order in which they are sent off, so one that
   * is freed may serve the next job before the one that was sent off is done.
   */
  allocate(bytes: number): DeviceBuffer {
    this.#throwIfFailed();
    const least = Math.max(256, Math.ceil(bytes / 16) * 16);
    if (least > this.mostBytes) throw new GpuFailure(`a buffer of ${least} bytes is more than the device allows`);
    // A quarter more at most, in steps, so that buffers of about one size serve each other.
    const step = 2 ** Math.max(4, Math.floor(Math.log2(least)) - 2);
    const size = Math.min(this.mostBytes, Math.ceil(least / step) * step);
    const handle = this.#spare.take(size) ?? this.#create(size);
    this.usedBytes += size;
    const giveBack = (): void => {
      if (this.#failure) handle.destroy();
      else this.#spare.keep(handle, size);
    };
    return new DeviceBuffer(handle, size, () => {
      this.usedBytes -= size;
      if (this.#kept.length === 0) return giveBack();
      this.#freed.push(giveBack);
      this.#freedBytes += size;
      if (this.#freedBytes > KEPT_BYTES) this.#flush();
    });
  }

  #create(size: number): GPUBuffer {
    this.#gpu.pushErrorScope("out-of-memory");
    const buffer = this.#gpu.createBuffer({ size, usage: STORAGE | COPY_SRC | COPY_DST });
    const check = this.#gpu.popErrorScope().then((error) => {
      if (error) throw new GpuFailure(`out of memory: ${error.message}`);
    });
    check.catch(() => {}); // the caller gets this rejection with its answer
    this.#checks.push(check);
    return buffer;
  }

  /** Calls `work` with a way to borrow buffers, and frees them at its end. */
  async borrowing<T>(work: (borrow: (bytes: number) => DeviceBuffer) => Promise<T>): Promise<T> {
    const borrowed: DeviceBuffer[] = [];
    try {
      return await work((bytes) => {
        const buffer = this.allocate(bytes);
        borrowed.push(buffer);
        return buffer;
      });
    } finally {
      for (const buffer of borrowed) buffer.free();
    }
  }

  /** Copies values into a buffer that no job has used yet, from a byte that is a multiple of 4 on. */
  write({ handle }: DeviceBuffer, at: number, values: ArrayBufferView): void {
    const { buffer, byteOffset, byteLength } = values;
    const whole = byteLength - (byteLength % 4);
    this.#gpu.queue.writeBuffer(handle, at, buffer as ArrayBuffer, byteOffset, whole);
    if (whole === byteLength) return;
    const rest = new Uint8Array(4);
    rest.set(new Uint8Array(buffer, byteOffset + whole, byteLength - whole));
    this.#gpu.queue.writeBuffer(handle, at + whole, rest);
  }

  job(): Job {
    this.#throwIfFailed();
    return new Job(this);
  }

  /** Values on their way to the device. */
  upload(values: ArrayBufferView): Upload {
    try {
      return this.#uploads.put(values);
    } catch (error) {
      throw new GpuFailure(`no memory for rows on their way: ${messageOf(error)}`);
    }
  }

  /** Compiles a kernel, the first time it is asked for. */
  pipeline(kernel: Kernel): Promise<GPUComputePipeline> {
    let made = this.#pipelines.get(kernel);
    if (!made) {
      made = this.#compile(kernel).catch((error: unknown) => {
        this.#pipelines.delete(kernel);
        throw new GpuFailure(`${kernel.name}: ${messageOf(error)}`);
      });
      this.#pipelines.set(kernel, made);
    }
    return made;
  }

  async #compile({ name, code, writes }: Kernel): Promise<GPUComputePipeline> {
    this.#gpu.pushErrorScope("validation");
    const module = this.#gpu.createShaderModule({ label: name, code });
    const checked = this.#gpu.popErrorScope();
    const bindings: GPUBufferBindingLayout[] = [
      { type: "uniform", hasDynamicOffset: true },
      ...writes.map((isWritten) => ({ type: isWritten ? ("storage" as const) : ("read-only-storage" as const) })),
    ];
    const layout = this.#gpu.createBindGroupLayout({
      entries: bindings.map((buffer, binding) => ({ binding, visibility: COMPUTE_STAGE, buffer })),
    });
    const refused = await checked;
    if (refused) throw new Error(refused.message);
    return this.#gpu.createComputePipelineAsync({
      label: name,
      layout: this.#gpu.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module },
    });
  }

  /** What a kernel works on. Making it takes longer than finding it again, and the same buffers come back round after round. */
  #bind(pipeline: GPUComputePipeline, buffers: readonly GPUBuffer[]): GPUBindGroup {
    let key = `${this.#numberOf(pipeline)}`;
    for (const buffer of buffers) key += `,${this.#numberOf(buffer)}`;
    const known = this.#bindings.get(key);
    if (known) return known;
    if (this.#bindings.size === MOST_BINDINGS) this.#bindings.clear();
    const params = { buffer: this.#params, size: PARAMS_STRIDE };
    const made = this.#gpu.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [params, ...buffers.map((buffer) => ({ buffer }))].map((resource, binding) => ({ binding, resource })),
    });
    this.#bindings.set(key, made);
    return made;
  }

  /** A number that is never given twice. */
  #numberOf(thing: GPUBuffer | GPUComputePipeline): number {
    const known = this.#numbers.get(thing);
    if (known !== undefined) return known;
    this.#numbers.set(thing, this.#numbered);
    return this.#numbered++;
  }

  /** Sends a job off, or keeps it until one follows that has an answer. */
  send(job: Job): void {
    if (dispatchesOf([...this.#kept, job]) > MOST_DISPATCHES) this.#flush();
    this.#kept.push(job);
    if (this.#kept.length === MOST_KEPT || job.landings.length > 0 || job.uploads.length > 0) this.#flush();
  }

  /** Sends off all jobs that were kept, in their order. */
  #flush(): void {
    const jobs = this.#kept;
    this.#kept = [];
    try {
      if (jobs.length > 0 && !this.#failure) this.#submit(jobs);
    } catch (error) {
      this.retire(new GpuFailure(messageOf(error))); // for all whose jobs these were, not only for who asked last
    }
    for (const { uploads, landings } of jobs) {
      for (const upload of uploads) upload.sent();
      for (const { landing, bytes, arrive } of landings) arrive(landing, bytes);
    }
    for (const giveBack of this.#freed.splice(0)) giveBack();
    this.#freedBytes = 0;
  }

  /** Parameters are written at this moment, so that jobs made at the same time keep theirs apart. */
  #submit(jobs: readonly Job[]): void {
    const params = new Uint32Array(dispatchesOf(jobs) * PARAMS_WORDS);
    const encoder = this.#gpu.createCommandEncoder();
    let pass: GPUComputePassEncoder | undefined;
    let at = 0;
    for (const step of jobs.flatMap(({ steps }) => steps)) {
      if ("pipeline" in step) {
        params.set(step.params, at);
        pass ??= encoder.beginComputePass();
        pass.setPipeline(step.pipeline);
        pass.setBindGroup(0, this.#bind(step.pipeline, step.buffers), [4 * at]);
        pass.dispatchWorkgroups(step.across, step.down);
        at += PARAMS_WORDS;
        continue;
      }
      pass?.end();
      pass = undefined;
      if ("cleared" in step) encoder.clearBuffer(step.cleared);
      else encoder.copyBufferToBuffer(step.from, step.fromByte, step.to, step.toByte, step.bytes);
    }
    pass?.end();
    if (at > 0) this.#gpu.queue.writeBuffer(this.#params, 0, params);
    this.#gpu.queue.submit([encoder.finish()]);
  }

  /** A buffer that the host can read once a job has filled it. */
  landing(bytes: number): Landing {
    const size = 2 ** Math.ceil(Math.log2(Math.max(256, bytes)));
    return { buffer: this.#landings.take(size) ?? this.#gpu.createBuffer({ size, usage: MAP_READ | COPY_DST }), size };
  }

  /** What `take` makes of the bytes that a job left in a buffer for the host; they are there until it is done. */
  async collect<T>(
    { buffer, size: whole }: Landing,
    bytes: number,
    take: (there: ArrayBuffer) => T | Promise<T>,
  ): Promise<T> {
    const size = Math.max(4, Math.ceil(bytes / 4) * 4);
    try {
      await Promise.all(this.#checks.splice(0));
      await buffer.mapAsync(MAP_READ, 0, size);
    } catch (error) {
      buffer.destroy();
      throw this.#failure ?? (error instanceof GpuFailure ? error : new GpuFailure(messageOf(error)));
    }
    this.#throwIfFailed();
    try {
      return await take(buffer.getMappedRange(0, size));
    } finally {
      buffer.unmap();
      this.#landings.keep(buffer, whole);
    }
  }

  /** Waits until everything sent so far is done. */
  async settle(): Promise<void> {
    this.#throwIfFailed();
    this.#flush();
    await Promise.all(this.#checks.splice(0));
    await this.#gpu.queue.onSubmittedWorkDone();
    this.#throwIfFailed();
  }

  /** Gives the device up: whatever is asked of it from now on, or waits for an answer, fails for the first reason that was given. */
  retire(why: GpuFailure): void {
    if (this.#failure) return;
    this.#failure = why;
    this.#flush();
    this.#landings.clear();
    this.#spare.clear();
    this.#uploads.clear();
    this.#gpu.destroy();
  }

  #throwIfFailed(): void {
    if (this.#failure) throw this.#failure;
  }
}

/** A buffer that the host can read, and its size: asking the buffer itself is a call out of the engine. */
export interface Landing {
  readonly buffer: GPUBuffer;
  readonly size: number;
}

function dispatchesOf(jobs: readonly Job[]): number {
  return jobs.reduce((sum, { dispatches }) => sum + dispatches, 0);
}

/** Memory of the device, with one owner. */
export class DeviceBuffer {
  readonly handle: GPUBuffer;
  readonly bytes: number;
  #free: (() => void) | undefined;

  constructor(handle: GPUBuffer, bytes: number, free: () => void) {
    this.handle = handle;
    this.bytes = bytes;
    this.#free = free;
  }

  /** Gives it back; jobs that were sent off before go on to their end. May be called twice. */
  free(): void {
    this.#free?.();
    this.#free = undefined;
  }
}
