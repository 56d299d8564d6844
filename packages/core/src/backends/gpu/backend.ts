/** The `gpu` back end: kernels on a GPU through WebGPU, and a back end of the host for what they do not do. */

import type { Backend, Described } from "../contract.ts";
import { UNINTERRUPTED } from "../turn.ts";
import { openDevice } from "./adapter.ts";
import { Device } from "./device.ts";
import { estimateOf, UNTIMED } from "./estimate.ts";
import { GPU_LIMITS, type GpuLimits, House } from "./house.ts";
import { GpuRows } from "./rows.ts";
import { SOFTWARE_RATE } from "./variants.ts";

export type { GpuLimits } from "./house.ts";

/** Trainings whose rounds fill the time in which others wait for an answer. Measured. */
const OVERLAP = 10;

export interface GpuBackend extends Backend {
  /** Times the programs for products if that has not been done yet. */
  describe(): Promise<Described>;
  /** The device, for tests that take it away. */
  readonly device: Device;
}

/** Opens the back end; the one that `openHost` opens does what the GPU does not, and is closed with it. `limits` is for tests: small ones make everything go in parts. */
export async function openGpu(openHost: () => Promise<Backend>, limits: GpuLimits = GPU_LIMITS): Promise<GpuBackend> {
  const device = new Device(await openDevice());
  const house = new House(device, openHost, limits);
  let speed = device.opened.isSoftware ? { ...UNTIMED, rate: SOFTWARE_RATE } : UNTIMED;
  const backend: GpuBackend = {
    name: "gpu",
    threads: 1,
    overlap: OVERLAP,
    device,
    estimate: (work) => (device.failure ? { refused: device.failure.message } : estimateOf(work, speed)),
    hold: (source, { turn = UNINTERRUPTED } = {}) => new GpuRows(source, backend, house, turn).settle(),
    async describe() {
      const { opened } = device;
      const choice = await house.choice();
      speed = choice;
      return {
        adapter: opened.adapter,
        isSoftware: opened.isSoftware,
        variant: choice.multiply.name,
        timed: choice.timed,
        limits: { bufferBytes: device.mostBytes, workgroupBytes: device.limits.maxComputeWorkgroupStorageSize },
      };
    },
    async close() {
      await house.close();
    },
  };
  return backend;
}
