/**
 * A GPU as this room uses it: buffers with owners, kernels compiled once, and jobs, which are lists of dispatches that go to
 * the queue together. Everything that goes wrong on the device ends in a `GpuFailure`, which callers answer by doing the work
 * on the host.
 */

import { messageOf, type OpenedDevice } from "./adapter.ts";
import { Idle } from "./idle.ts";
import { type Upload, Uploads } from "./uploads.ts";

/** Numbers of WebGPU, which are globals in a browser and not in Node. */
const MAP_READ = 1;
const COPY_SRC = 4;
const COPY_DST = 8;
const UNIFORM = 64;
const STORAGE = 128;
const COMPUTE_STAGE = 4;

/** Bytes from the parameters of one dispatch to those of the next, and room for all of a job. */
const PARAMS_STRIDE = 256;
const PARAMS_WORDS = PARAMS_STRIDE / 4;
const MOST_DISPATCHES = 4096;
/** What kernels work on, kept for the next time: so many combinations of buffers. */
const MOST_BINDINGS = 4096;
/** Workgroups in one dimension of a dispatch; more give zeros without a word on some systems. */
export const MOST_GROUPS = 65_535;
/** Idle buffers that are kept, in bytes: for answers, and on the device. */
const IDLE_ANSWERS = 2 ** 27;
const IDLE_ROOMS = 2 ** 29;

/** A device that refused, ran out of memory or is gone. */
export class GpuFailure extends Error {}

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
  /** Bytes of all rooms that have an owner. */
  usedBytes = 0;
  readonly #gpu: GPUDevice;
  readonly #params: GPUBuffer;
  readonly #pipelines = new Map<Kernel, Promise<GPUComputePipeline>>();
  /** Idle buffers by their size: for answers, and on the device. */
  readonly #landings = new Idle(IDLE_ANSWERS);
  readonly #spare = new Idle(IDLE_ROOMS);
  readonly #uploads: Uploads;
  readonly #bindings = new Map<string, GPUBindGroup>();
  #numbered = 0;
  readonly #numbers = new WeakMap<GPUBuffer | GPUComputePipeline, number>();
  #failure: GpuFailure | undefined;
  /** Checks of allocations that have not been answered yet. */
  #checks: Promise<unknown>[] = [];

  constructor(opened: OpenedDevice) {
    this.opened = opened;
    this.#gpu = opened.device;
    this.#uploads = new Uploads(this.#gpu);
    const { maxBufferSize, maxStorageBufferBindingSize } = this.#gpu.limits;
    this.mostBytes = Math.min(maxBufferSize, maxStorageBufferBindingSize);
    this.#gpu.lost.then(({ reason, message }) => {
      this.#failure ??= new GpuFailure(`the device was lost (${reason}): ${message}`);
    });
    this.#gpu.addEventListener("uncapturederror", (event) => {
      event.preventDefault?.();
      this.#failure ??= new GpuFailure((event as GPUUncapturedErrorEvent).error.message);
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
   * Room for so many bytes, of any content. The caller frees it. Jobs happen in the order in which they are sent off, so a room that
   * is freed may serve the next job before the one that was sent off is done.
   */
  room(bytes: number): Room {
    this.#throwIfFailed();
    const least = Math.max(256, Math.ceil(bytes / 16) * 16);
    if (least > this.mostBytes) throw new GpuFailure(`a buffer of ${least} bytes is more than the device allows`);
    // A quarter more at most, in steps, so that rooms of about one size serve each other.
    const step = 2 ** Math.max(4, Math.floor(Math.log2(least)) - 2);
    const size = Math.min(this.mostBytes, Math.ceil(least / step) * step);
    const buffer = this.#spare.take(size) ?? this.#allocate(size);
    this.usedBytes += size;
    return new Room(buffer, size, () => {
      this.usedBytes -= size;
      if (this.#failure) buffer.destroy();
      else this.#spare.keep(buffer, size);
    });
  }

  #allocate(size: number): GPUBuffer {
    this.#gpu.pushErrorScope("out-of-memory");
    const buffer = this.#gpu.createBuffer({ size, usage: STORAGE | COPY_SRC | COPY_DST });
    const check = this.#gpu.popErrorScope().then((error) => {
      if (error) throw new GpuFailure(`out of memory: ${error.message}`);
    });
    check.catch(() => {}); // whoever waits for answers hears of it
    this.#checks.push(check);
    return buffer;
  }

  /** Calls `work` with a way to borrow rooms, and frees them at its end. */
  async borrowing<T>(work: (borrow: (bytes: number) => Room) => Promise<T>): Promise<T> {
    const borrowed: Room[] = [];
    try {
      return await work((bytes) => {
        const room = this.room(bytes);
        borrowed.push(room);
        return room;
      });
    } finally {
      for (const room of borrowed) room.free();
    }
  }

  /** Copies values into a buffer, from a byte that is a multiple of 4 on. */
  write(room: Room, at: number, values: ArrayBufferView): void {
    const { buffer, byteOffset, byteLength } = values;
    const whole = byteLength - (byteLength % 4);
    this.#gpu.queue.writeBuffer(room.buffer, at, buffer as ArrayBuffer, byteOffset, whole);
    if (whole === byteLength) return;
    const rest = new Uint8Array(4);
    rest.set(new Uint8Array(buffer, byteOffset + whole, byteLength - whole));
    this.#gpu.queue.writeBuffer(room.buffer, at + whole, rest);
  }

  job(): Job {
    this.#throwIfFailed();
    return new Job(this, this.#gpu.createCommandEncoder());
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

  /** What a kernel works on. Making it takes longer than finding it again, and the same rooms come back round after round. */
  bind(pipeline: GPUComputePipeline, rooms: readonly Room[]): GPUBindGroup {
    const key = [pipeline, ...rooms.map(({ buffer }) => buffer)].map((each) => this.#numberOf(each)).join();
    const known = this.#bindings.get(key);
    if (known) return known;
    if (this.#bindings.size === MOST_BINDINGS) this.#bindings.clear();
    const params = { buffer: this.#params, size: PARAMS_STRIDE };
    const made = this.#gpu.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [params, ...rooms.map(({ buffer }) => ({ buffer }))].map((resource, binding) => ({ binding, resource })),
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

  /** Sends a job off. Its parameters are written at this moment, so that jobs made at the same time keep theirs apart. */
  submit(commands: GPUCommandBuffer, params: Uint32Array): void {
    if (params.length > 0) this.#gpu.queue.writeBuffer(this.#params, 0, params as Uint32Array<ArrayBuffer>);
    this.#gpu.queue.submit([commands]);
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
    await Promise.all(this.#checks.splice(0));
    await this.#gpu.queue.onSubmittedWorkDone();
    this.#throwIfFailed();
  }

  destroy(): void {
    this.#failure ??= new GpuFailure("the back end was closed");
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
interface Landing {
  readonly buffer: GPUBuffer;
  readonly size: number;
}

/** Memory of the device, with one owner. */
export class Room {
  readonly buffer: GPUBuffer;
  readonly bytes: number;
  #free: (() => void) | undefined;

  constructor(buffer: GPUBuffer, bytes: number, free: () => void) {
    this.buffer = buffer;
    this.bytes = bytes;
    this.#free = free;
  }

  /** Gives it back; jobs that were sent off before go on to their end. May be called twice. */
  free(): void {
    this.#free?.();
    this.#free = undefined;
  }
}

/** Dispatches and copies that happen one after the other, once the job is sent off. */
export class Job {
  readonly #device: Device;
  readonly #encoder: GPUCommandEncoder;
  #params = new Uint32Array(4 * PARAMS_WORDS);
  #dispatches = 0;
  readonly #uploads: Upload[] = [];
  #landings: {
    readonly landing: Landing;
    readonly bytes: number;
    readonly arrive: (landing: Landing, bytes: number) => void;
  }[] = [];

  constructor(device: Device, encoder: GPUCommandEncoder) {
    this.#device = device;
    this.#encoder = encoder;
  }

  /** Runs a kernel on so many workgroups across and down. */
  async run(
    kernel: Kernel,
    rooms: readonly Room[],
    params: readonly number[],
    across: number,
    down = 1,
  ): Promise<void> {
    if (across === 0 || down === 0) return;
    if (across > MOST_GROUPS || down > MOST_GROUPS) throw new GpuFailure(`${kernel.name}: too many workgroups`);
    if (this.#dispatches === MOST_DISPATCHES) throw new GpuFailure(`${kernel.name}: too many dispatches`);
    const pipeline = await this.#device.pipeline(kernel);
    const at = this.#dispatches++ * PARAMS_WORDS;
    if (at === this.#params.length) {
      const larger = new Uint32Array(4 * at);
      larger.set(this.#params);
      this.#params = larger;
    }
    this.#params.set(params, at);
    const pass = this.#encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, this.#device.bind(pipeline, rooms), [4 * at]);
    pass.dispatchWorkgroups(across, down);
    pass.end();
  }

  copy(from: Room, fromByte: number, to: Room, toByte: number, bytes: number): void {
    this.#encoder.copyBufferToBuffer(from.buffer, fromByte, to.buffer, toByte, bytes);
  }

  /** Copies values to the beginning of a room, with up to three bytes of any content behind them: for large ones, by memory that is kept for it. */
  bring(room: Room, values: ArrayBufferView): void {
    const upload = this.#device.upload(values);
    this.#uploads.push(upload);
    this.#encoder.copyBufferToBuffer(upload.buffer, 0, room.buffer, 0, upload.bytes);
  }

  clear(room: Room): void {
    this.#encoder.clearBuffer(room.buffer);
  }

  /** What the first bytes of a buffer are at this point of the job; to be awaited after `send`. */
  read(room: Room, bytes: number): Promise<ArrayBuffer> {
    return this.take(room, bytes, (there) => there.slice(0, bytes));
  }

  /** What `take` makes of them, without a copy of their own. */
  take<T>(room: Room, bytes: number, take: (there: ArrayBuffer) => T | Promise<T>): Promise<T> {
    const size = Math.ceil(bytes / 4) * 4;
    const landing = this.#device.landing(size);
    this.#encoder.copyBufferToBuffer(room.buffer, 0, landing.buffer, 0, size);
    const taken = new Promise<T>((resolve) => {
      const arrive = (at: Landing, count: number): void => resolve(this.#device.collect(at, count, take));
      this.#landings.push({ landing, bytes, arrive });
    });
    taken.catch(() => {}); // of two answers that fail only one may be waited for
    return taken;
  }

  /** Sends it off. */
  send(): void {
    this.#device.submit(this.#encoder.finish(), this.#params.subarray(0, this.#dispatches * PARAMS_WORDS));
    for (const upload of this.#uploads) upload.sent();
    for (const { landing, bytes, arrive } of this.#landings) arrive(landing, bytes);
    this.#landings = [];
  }
}
