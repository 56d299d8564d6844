/** Jobs of a device: which of them are sent off together, and that none sees what another one wrote too early. */

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openDevice } from "../src/adapter.ts";
import { Device, type DeviceBuffer, GpuFailure, type Kernel } from "../src/device.ts";
import { Idle } from "../src/idle.ts";
import { gpuRefusal, onGpu } from "./gpu.ts";

/** Adds a number to one of a buffer's. */
const ADD: Kernel = {
  name: "add one number",
  writes: [true],
  code: `
struct Params { at: u32, value: u32 }
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1) fn main() { out[p.at] = 10u * out[p.at] + p.value; }`,
};

describe.skipIf(gpuRefusal !== undefined)(onGpu("jobs of a gpu"), () => {
  let device: Device;
  let submit: ReturnType<typeof vi.spyOn>;
  beforeEach(async () => {
    device = new Device(await openDevice());
    submit = vi.spyOn(device.opened.device.queue, "submit");
  });
  afterEach(() => device.retire(new GpuFailure("the test is over")));

  const numbers = (...values: number[]): Uint32Array => Uint32Array.from({ length: 64 }, (_, j) => values[j] ?? 0);
  const bufferOf = (...values: number[]): DeviceBuffer => {
    const buffer = device.allocate(256);
    device.write(buffer, 0, numbers(...values));
    return buffer;
  };
  const read = async (buffer: DeviceBuffer): Promise<number[]> => {
    const job = device.job();
    const answer = job.read(buffer, 8);
    job.send();
    return Array.from(new Uint32Array(await answer));
  };

  it("go with the next one that has an answer, in their order, and freed buffers wait for them", async () => {
    const [from, to] = [bufferOf(1, 2), bufferOf()];
    const copy = device.job();
    copy.copy(from, 0, to, 0, 256);
    copy.send();
    from.free();
    const other = bufferOf(8, 9); // one of the same size, written to at once
    expect(submit).not.toHaveBeenCalled();
    expect(await read(to)).toEqual([1, 2]);
    expect(submit).toHaveBeenCalledTimes(1);
    const buffer = from.handle;
    other.free();
    expect([device.allocate(256).handle, device.allocate(256).handle]).toContain(buffer);
  });

  it("keep their parameters apart, whichever is sent off first", async () => {
    const buffer = bufferOf();
    const [a, b, c] = [device.job(), device.job(), device.job()];
    await a.run(ADD, [buffer], [0, 1], 1);
    await b.run(ADD, [buffer], [0, 2], 1);
    await c.run(ADD, [buffer], [1, 3], 1);
    await a.run(ADD, [buffer], [0, 4], 1);
    for (const job of [b, a, c]) job.send();
    expect(await read(buffer)).toEqual([214, 3]);
    expect(submit).toHaveBeenCalledTimes(1);
  });

  it("are sent off when there are many, when much was freed meanwhile, and when somebody waits for all", async () => {
    const buffer = bufferOf();
    const one = async (): Promise<void> => {
      const job = device.job();
      await job.run(ADD, [buffer], [0, 1], 1);
      job.send();
    };
    for (let j = 0; j < 15; j++) await one();
    expect(submit).toHaveBeenCalledTimes(0);
    await one();
    expect(submit).toHaveBeenCalledTimes(1);
    await one();
    device.allocate(2 ** 26 + 2 ** 24).free();
    expect(submit).toHaveBeenCalledTimes(2);
    await one();
    await device.settle();
    expect(submit).toHaveBeenCalledTimes(3);
    await device.settle();
    expect(submit).toHaveBeenCalledTimes(3);
    for (let j = 0; j < 2; j++) {
      const job = device.job();
      for (let d = 0; d < 2100; d++) await job.run(ADD, [buffer], [1, 1], 1);
      job.send();
    }
    expect(submit).toHaveBeenCalledTimes(4); // more parameters than there is buffer for
    expect(await read(buffer)).toEqual([Number(BigInt.asUintN(32, BigInt("1".repeat(18)))), expect.any(Number)]);
  });

  it("end with the device", async () => {
    const buffer = bufferOf(5);
    const job = device.job();
    await job.run(ADD, [buffer], [0, 1], 1);
    job.send();
    buffer.free();
    const asked = read(bufferOf(7));
    device.retire(new GpuFailure("the test is over"));
    await expect(asked).rejects.toThrow(GpuFailure);
    expect(device.usedBytes).toBe(256);
    expect(() => device.job()).toThrow(GpuFailure);
  });
});

describe("idle buffers", () => {
  it("are kept up to a limit; those of the size that was not used for longest go first", () => {
    const gone: string[] = [];
    const buffer = (name: string): GPUBuffer => ({ name, destroy: () => gone.push(name) }) as unknown as GPUBuffer;
    const idle = new Idle(100);
    idle.keep(buffer("a"), 40);
    idle.keep(buffer("b"), 30);
    idle.keep(buffer("c"), 30);
    expect(idle.take(40)).toMatchObject({ name: "a" });
    idle.keep(buffer("a"), 40);
    idle.keep(buffer("d"), 50);
    expect(gone.sort()).toEqual(["b", "c"]);
    expect(idle.take(30)).toBeUndefined();
    idle.keep(buffer("e"), 101);
    expect(gone.sort()).toEqual(["b", "c", "e"]);
    idle.keep(buffer("f"), 100);
    expect(gone.sort()).toEqual(["a", "b", "c", "d", "e"]);
    expect(idle.take(100)).toMatchObject({ name: "f" });
  });
});
