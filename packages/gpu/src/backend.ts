/** The `gpu` back end: kernels on a GPU through WebGPU, and a back end of the host for what they do not do. */

import {
  type Backend,
  type Described,
  type HeldRows,
  type Plan,
  type RowSource,
  UNINTERRUPTED,
} from "@ranksim/core/backend";
import { openDevice } from "./adapter.ts";
import { GPU_LIMITS, GpuContext, type GpuLimits } from "./context.ts";
import { Device } from "./device.ts";
import { estimateOf, UNTIMED } from "./estimate.ts";
import { bringRows, canHold, MOST_FEATURES } from "./resident.ts";
import { GpuRows } from "./rows.ts";
import { SOFTWARE_RATE } from "./variants.ts";

export type { GpuLimits } from "./context.ts";

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
  const context = new GpuContext(device, openHost, limits);
  let speed = device.opened.isSoftware ? { ...UNTIMED, rate: SOFTWARE_RATE } : UNTIMED;
  const backend: GpuBackend = {
    name: "gpu",
    threads: 1,
    overlap: OVERLAP,
    device,
    estimate: (work) => (device.failure ? { refused: device.failure.message } : estimateOf(work, speed)),
    async hold(source, plan = {}) {
      const why = device.failure ? failed(device.failure) : canHold(source) ? undefined : OTHER_ROWS;
      if (why) return holdElsewhere(context, source, plan, why);
      const { turn = UNINTERRUPTED } = plan;
      return new GpuRows(
        source,
        await context.onDevice(() => bringRows(context, source, turn)),
        backend,
        context,
        turn,
      );
    },
    async describe() {
      const { opened } = device;
      const choice = await context.onDevice(() => context.program());
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
      await context.close();
    },
  };
  return backend;
}

/** Rows held by the host's back end. Their notes say why. */
async function holdElsewhere(context: GpuContext, source: RowSource, plan: Plan, why: string): Promise<HeldRows> {
  const held = await (await context.host()).hold(source, plan);
  const work = held.work.bind(held);
  // These rows are not shared yet, so what they say of their work can be replaced.
  held.work = () => {
    const done = work();
    return { ...done, notes: [...done.notes, why] };
  };
  return held;
}

const OTHER_ROWS = `the GPU takes dense rows of bytes with 1 to ${MOST_FEATURES} features; the work on other rows was done on the processor`;

const failed = ({ message }: Error): string =>
  `the GPU failed and the work was done on the processor: ${message.split("\n")[0].slice(0, 200)}`;
