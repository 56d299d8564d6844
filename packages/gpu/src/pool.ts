/**
 * Pooled patches on the device, by one kernel (`pool-fused.ts`) where device, windows and filters allow it.
 *
 * **Exact.** With d and D below 255 · Σw, the quotient ⌊(255·d + ⌊D/2⌋) / D⌋ of `kernels/patches.ts` is one of whole numbers below 2^32
 * where Σw is at most 60,000 (ranks: 244 values a window). Sums of similarities are whole, and their bytes (`byteOf`) take 32 bits.
 */

import {
  layersFeatures,
  type PatchLayer,
  type Pooled,
  pooledFeatures,
  pooledValues,
  type Turn,
  type Weights,
  type Windows,
} from "@ranksim/core/backend";
import { GpuBank, type Planes } from "./bank.ts";
import type { GpuContext } from "./context.ts";
import type { DeviceBuffer, Kernel } from "./device.ts";
import { addFused, fusedKernel } from "./pool-fused.ts";
import type { Part, Resident } from "./resident.ts";

/** The largest sum of a filter's weights: with more than 65,900, quotients could exceed 32 bits. */
const MOST_WEIGHT = 60_000;
/** Pooled values that are read at a time, in bytes, and blocks that are computed or on their way to the host at a time. Measured. */
const ANSWER_BYTES = 2 ** 23;
const IN_FLIGHT = 3;
/** Seconds of products before others may have a turn: how long these wait at most, about. */
const JOB_SECONDS = 0.1;

/** The pooled values of all images, the layers side by side; undefined where the device cannot pool by one of them. */
export async function poolOnDevice(
  context: GpuContext,
  x: Resident,
  layers: readonly PatchLayer[],
  turn: Turn,
): Promise<Pooled | undefined> {
  const banks = layers.map(({ bank }) => new GpuBank(context, { host: bank }));
  try {
    const programs = layers.map((layer, j) => programOf(context, layer, banks[j]));
    if (!programs.every((program) => program !== undefined)) return undefined;
    const features = layersFeatures(layers);
    const out = pooledValues(layers, x.rows * features);
    let at = 0;
    for (const program of programs) {
      const own = pooledFeatures(program.layer.windows, program.layer.filters);
      for (const part of x.parts) await poolPart(context, x, part, program, { out, features, at, own }, turn);
      at += own;
    }
    return out;
  } finally {
    for (const bank of banks) bank.release();
  }
}

/** A layer on the device, and the kernel that pools by it; undefined where there is none. */
function programOf({ device }: GpuContext, { bank, windows }: PatchLayer, held: GpuBank): Program | undefined {
  const planes = isLight(bank.weights, bank.features) ? held.onDevice() : undefined;
  const layer = planes && { planes, filters: bank.filters, windows };
  const kernel = layer && fusedKernel(device, layer);
  return kernel && { layer, kernel };
}

/** Whether no filter weighs too much for exact quotients. */
function isLight(weights: Weights, n: number): boolean {
  for (let at = 0; at < weights.length; at += n) {
    let sum = 0;
    for (let i = at; i < at + n; i++) sum += weights[i];
    if (sum > MOST_WEIGHT) return false;
  }
  return true;
}

interface Program {
  readonly layer: Layer;
  readonly kernel: Kernel;
}

/** A layer on the device. */
export interface Layer {
  readonly planes: Planes;
  readonly filters: number;
  readonly windows: Windows;
}

/** Consecutive images of a buffer, each of so many bytes. */
export interface SomeImages {
  readonly buffer: DeviceBuffer;
  readonly stride: number;
  readonly image: number;
  readonly count: number;
}

/** Where pooled values go: `own` of `features` numbers a row, from `at` on. */
interface Place {
  readonly out: Pooled;
  readonly features: number;
  readonly at: number;
  readonly own: number;
}

async function poolPart(
  context: GpuContext,
  x: Resident,
  part: Part,
  { layer, kernel }: Program,
  place: Place,
  turn: Turn,
): Promise<void> {
  const { device, limits } = context;
  const { planes, windows } = layer;
  const { rate } = await context.program();
  const work = windows.across * windows.down * planes.padded * planes.stride * planes.planes;
  const answer = Math.min(limits.answerBytes, ANSWER_BYTES);
  const each = place.own * place.out.BYTES_PER_ELEMENT;
  // Images whose values are computed and read at a time.
  const most = Math.max(1, Math.floor(Math.min(answer / each, (JOB_SECONDS * rate) / work)));
  const reading: Promise<void>[] = [];
  for (let from = 0; from < part.rows; from += most) {
    const count = Math.min(most, part.rows - from);
    const { read } = await context.largeJobs.run(() =>
      device.borrowing(async (borrow) => {
        const bytes = each * count;
        const pooled = borrow(bytes);
        const job = device.job();
        const images = { buffer: part.buffer, stride: x.stride, image: from, count };
        await addFused(job, kernel, images, layer, pooled);
        const read = job.take(pooled, bytes, (there) => spread(there, place.own * count, part.first + from, place));
        job.send();
        return { read };
      }),
    );
    // One block is read while the next ones are computed.
    reading.push(read);
    if (reading.length === IN_FLIGHT) await reading.shift();
    await turn.pause();
  }
  for (const read of reading) await read;
}

/** Puts the values of one layer where they belong in the rows of all. */
function spread(there: ArrayBuffer, count: number, first: number, { out, features, at, own }: Place): void {
  const values = out instanceof Uint8Array ? new Uint8Array(there, 0, count) : new Uint16Array(there, 0, count);
  if (own === features) {
    out.set(values, first * features);
    return;
  }
  for (let r = 0; r * own < count; r++) out.set(values.subarray(r * own, (r + 1) * own), (first + r) * features + at);
}
