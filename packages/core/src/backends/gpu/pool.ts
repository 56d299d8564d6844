/**
 * Pooled patches on the device: by one kernel (`pool-fused.ts`) where device and windows allow it, else by those of a search
 * (`pool-blocks.ts`).
 *
 * **Exact.** With d and D below 255 · Σw, the quotient ⌊(255·d + ⌊D/2⌋) / D⌋ of `kernels/patches.ts` is one of whole numbers below 2^32
 * where Σw is at most 60,000 (ranks: 244 values a window). Sums of similarities are whole, and their bytes (`byteOf`) take 32 bits.
 */

import { layersFeatures, type Pooled, pooledFeatures, pooledValues, windowFeatures } from "../../kernels/patches.ts";
import type { PatchLayer, Windows } from "../../kernels/shapes.ts";
import type { Turn } from "../turn.ts";
import { GpuBank, type Planes } from "./bank.ts";
import type { Room } from "./device.ts";
import { FreshNumbers } from "./fresh.ts";
import type { House } from "./house.ts";
import type { Job } from "./job.ts";
import { addPooled, deskOf } from "./pool-blocks.ts";
import { addFused, fusedKernel } from "./pool-fused.ts";
import { valuesInWord } from "./pool-words.ts";
import type { Part, Resident } from "./resident.ts";

/** The largest sum of a filter's weights: with more than 65,900, quotients could exceed 32 bits. */
const MOST_WEIGHT = 60_000;
/** The most strongest filters of a window: each takes `select.ts` a pass over all filters. Presets take 8; the bound was not measured. */
const MOST_BEST = 64;
/** Pooled values that are read at a time, in bytes, and blocks that are computed or on their way to the host at a time. Measured. */
const ANSWER_BYTES = 2 ** 23;
const IN_FLIGHT = 3;
/** Seconds of products before others may have a turn: how long these wait at most, about. */
const JOB_SECONDS = 0.1;

/** Whether the device pools by such layers: small windows, filters of one norm whose values fill whole words. */
export function canPool(layers: readonly PatchLayer[]): boolean {
  return layers.every(({ bank, windows }) => {
    const n = windowFeatures(windows);
    const isSmall = n * (n + 1) <= MOST_WEIGHT && Math.min(windows.nBest, bank.filters) <= MOST_BEST;
    const isWhole = bank.filters % valuesInWord(windows) === 0;
    return isSmall && isWhole && bank.weights instanceof Uint16Array && isLight(bank.weights, n);
  });
}

/** Whether no filter weighs too much for exact quotients. */
function isLight(weights: Uint16Array, n: number): boolean {
  for (let at = 0; at < weights.length; at += n) {
    let sum = 0;
    for (let i = at; i < at + n; i++) sum += weights[i];
    if (sum > MOST_WEIGHT) return false;
  }
  return true;
}

/** The pooled values of all images, the layers side by side; undefined where filters cannot be on the device. */
export async function poolOnDevice(
  house: House,
  x: Resident,
  layers: readonly PatchLayer[],
  turn: Turn,
): Promise<Pooled | undefined> {
  const features = layersFeatures(layers);
  const out = new FreshNumbers(pooledValues(layers, x.rows * features));
  let at = 0;
  for (const { bank, windows } of layers) {
    const own = pooledFeatures(windows, bank.filters);
    const held = new GpuBank(house, { host: bank });
    try {
      const planes = held.onDevice();
      if (!planes) return undefined;
      const place = { out, features, at, own };
      for (const part of x.parts)
        await poolPart(house, x, part, { planes, filters: bank.filters, windows }, place, turn);
    } finally {
      held.release();
    }
    at += own;
  }
  await out.ready(out.values.length);
  return out.values;
}

/** A layer on the device. */
export interface Layer {
  readonly planes: Planes;
  readonly filters: number;
  readonly windows: Windows;
}

/** Consecutive images of a room, each of so many bytes. */
export interface SomeImages {
  readonly room: Room;
  readonly stride: number;
  readonly image: number;
  readonly count: number;
}

/** Where pooled values go: `own` of `features` numbers a row, from `at` on. */
interface Place {
  readonly out: FreshNumbers<Pooled>;
  readonly features: number;
  readonly at: number;
  readonly own: number;
}

async function poolPart(house: House, x: Resident, part: Part, layer: Layer, place: Place, turn: Turn): Promise<void> {
  const { device, limits } = house;
  const { planes, windows } = layer;
  const { rate } = await house.choice();
  const work = windows.across * windows.down * planes.padded * planes.stride * planes.planes;
  const answer = Math.min(limits.answerBytes, ANSWER_BYTES);
  const each = place.own * place.out.values.BYTES_PER_ELEMENT;
  // Images whose values are computed and read at a time.
  const most = Math.max(1, Math.floor(Math.min(answer / each, (JOB_SECONDS * rate) / work)));
  const reading: Promise<void>[] = [];
  for (let from = 0; from < part.rows; from += most) {
    const count = Math.min(most, part.rows - from);
    const { read } = await house.line.run(() =>
      device.borrowing(async (borrow) => {
        const bytes = each * count;
        const pooled = borrow(bytes);
        const job = device.job();
        const images = { room: part.room, stride: x.stride, image: from, count };
        await addImages(job, house, images, layer, pooled, borrow);
        const read = job.take(pooled, bytes, async (there) => {
          await place.out.ready((part.first + from + count) * place.features);
          spread(there, place.own * count, part.first + from, place);
        });
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

/** Adds to a job: pools images. */
async function addImages(
  job: Job,
  house: House,
  images: SomeImages,
  layer: Layer,
  pooled: Room,
  borrow: (bytes: number) => Room,
): Promise<void> {
  const { planes, windows } = layer;
  const fused = fusedKernel(house.device, layer);
  if (fused) return addFused(job, fused, images, layer, pooled);
  const each = windows.across * windows.down * planes.padded * 4;
  const block = Math.max(1, Math.floor(house.limits.productBytes / each));
  const desk = deskOf(Math.min(block, images.count), layer, borrow);
  for (let first = 0; first < images.count; first += block) {
    const some = { ...images, image: images.image + first, count: Math.min(block, images.count - first) };
    await addPooled(job, house, some, layer, desk, pooled, first);
  }
}

/** Puts the values of one layer where they belong in the rows of all. */
function spread(
  there: ArrayBuffer,
  count: number,
  first: number,
  { out: { values: out }, features, at, own }: Place,
): void {
  const values = out instanceof Uint8Array ? new Uint8Array(there, 0, count) : new Uint16Array(there, 0, count);
  if (own === features) {
    out.set(values, first * features);
    return;
  }
  for (let r = 0; r * own < count; r++) out.set(values.subarray(r * own, (r + 1) * own), (first + r) * features + at);
}
