/** The `gpu` back end: kernels on a GPU through WebGPU, and a back end of the host for what they do not do. */

import type { Backend, Described, Estimate, WorkShape } from "../contract.ts";
import { UNINTERRUPTED } from "../turn.ts";
import { openDevice } from "./adapter.ts";
import { Device } from "./device.ts";
import { GPU_LIMITS, type GpuLimits, House } from "./house.ts";
import { GpuRows } from "./rows.ts";
import { FLOAT_COST } from "./search-floats.ts";
import { SOFTWARE_RATE } from "./variants.ts";

export type { GpuLimits } from "./house.ts";

/** Bytes a second to the device, measured; seconds of a question whatever its size, and multiply-adds a second, before they are timed. */
const COPY_RATE = 6e9;
const LATENCY = 2e-3;
const RATE = 2e12;
/** Seconds a value of a row by which the host decides between candidates. */
const DECISION = 1e-9;

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
  let speed = { rate: device.opened.isSoftware ? SOFTWARE_RATE : RATE, latency: LATENCY };
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

function estimateOf(
  { rows, features, values, bytes, filters, searches }: WorkShape,
  { rate, latency }: { readonly rate: number; readonly latency: number },
): Estimate {
  if (bytes > values || values < rows * features) {
    // By candidates: one multiply-add of floats a value and filter.
    const products = ((FLOAT_COST * filters) / rate + DECISION) * values * searches;
    const there = 4 * (values + filters * features);
    return { seconds: (4 * values) / COPY_RATE + products + latency * (1 + searches), bytes: there };
  }
  const stride = Math.ceil(features / 64) * 64;
  const products = (2 * rows * stride * filters * searches) / rate;
  return { seconds: bytes / COPY_RATE + products + latency * (1 + searches), bytes: values + 2 * filters * stride };
}
