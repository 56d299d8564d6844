/** Which program for products is the fastest here: each that compiles and is right is timed once, on a small block. */

import { type Device, type DeviceBuffer, GpuFailure } from "./device.ts";
import { type Factors, FILTER, type Multiply, multiply, multiplyWords } from "./multiply.ts";
import { MATRICES } from "./multiply-matrices.ts";
import { addWinners, partialBytes } from "./winners.ts";

/** Size of the block, and how often it is computed. Filters have one high byte and one low byte a feature. */
const ROWS = 1024;
const FILTERS = 1024;
const STRIDE = 512;
const TIMES = 8;
/** Products of bytes a second of a program that plays a GPU; measured, roughly. It gets no timing, which would take it seconds. */
export const SOFTWARE_RATE = 2e8;
const SOFTWARE_LATENCY = 2e-3;

/** The program for products, and how many products of bytes it computes a second. */
export interface ChosenProgram {
  readonly multiply: Multiply;
  readonly rate: number;
  /** Seconds of a question that is no work, from asking to the answer. */
  readonly latency: number;
  /** What was timed: program and rate. */
  readonly timed: readonly { readonly name: string; readonly rate: number }[];
}

/** The programs that may run here. */
function variantsOf({ opened }: Device): Multiply[] {
  const { matrices, subgroup, language } = opened;
  const hasBytes = matrices.some(
    ({ componentType, resultComponentType, M, N, K }) =>
      componentType === "u8" && resultComponentType === "u32" && M === 16 && N === 16 && K === 32,
  );
  return [
    ...(hasBytes && subgroup === 32 ? [MATRICES] : []),
    ...(language.has("packed_4x8_integer_dot_product") ? [multiplyWords(true)] : []),
    multiplyWords(false),
  ];
}

/** Times them and takes the fastest. */
export async function chooseVariant(device: Device): Promise<ChosenProgram> {
  if (device.opened.isSoftware)
    return { multiply: multiplyWords(false), rate: SOFTWARE_RATE, latency: SOFTWARE_LATENCY, timed: [] };
  const [x, w] = [someBytes(ROWS * STRIDE), someBytes(2 * FILTERS * STRIDE)];
  const expected = firstRow(x, w);
  const timed: { name: string; rate: number; multiply: Multiply }[] = [];
  let latency = Number.POSITIVE_INFINITY;
  await device.borrowing(async (borrow) => {
    const [rows, weights, products] = [x.length, w.length, ROWS * FILTERS * 4].map(borrow);
    device.write(rows, 0, x);
    device.write(weights, 0, w);
    const factors = {
      rows,
      first: 0,
      count: ROWS,
      stride: STRIDE,
      weights,
      filters: FILTERS,
      planes: 2,
    };
    for (const each of variantsOf(device)) {
      try {
        const rate = await time(device, async (job) => multiply(job, each, factors, products));
        const job = device.job();
        const found = job.read(products, FILTERS * 4);
        job.send();
        const isRight = new Uint32Array(await found).every((product, f) => product === expected[f]);
        if (isRight) timed.push({ name: each.name, rate, multiply: each });
      } catch (error) {
        if (!(error instanceof GpuFailure) || device.failure) throw error; // a program that does not compile is left out
      }
    }
    timed.sort((a, b) => b.rate - a.rate);
    while (timed.length > 0) {
      // The fastest must give the right winner as well: of equal products, the lowest filter.
      const largest = expected.reduce((most, product) => Math.max(most, product));
      const [product, filter] = await winnerOf(device, timed[0].multiply, factors, borrow);
      if (product === largest && (filter & FILTER) === expected.indexOf(largest)) break;
      timed.shift();
    }
    for (let j = 0; j < TIMES && timed.length > 0; j++) {
      const began = performance.now();
      await winnerOf(device, timed[0].multiply, { ...factors, count: timed[0].multiply.tileRows }, borrow);
      latency = Math.min(latency, (performance.now() - began) / 1000);
    }
  });
  const [best] = timed;
  if (!best) throw new GpuFailure("no program for products runs on this device");
  return { multiply: best.multiply, rate: best.rate, latency, timed: timed.map(({ name, rate }) => ({ name, rate })) };
}

/** The winner of the first row by the program's other kernel. */
async function winnerOf(
  device: Device,
  program: Multiply,
  factors: Factors,
  borrow: (bytes: number) => DeviceBuffer,
): Promise<Uint32Array> {
  const rows = factors.count;
  const [partial, found] = [partialBytes(program, FILTERS) * rows, 8 * rows].map(borrow);
  const job = device.job();
  await addWinners(job, program, factors, FILTERS, partial, rows, 0, found);
  const read = job.read(found, 8);
  job.send();
  return new Uint32Array(await read);
}

async function time(device: Device, add: (job: ReturnType<Device["job"]>) => Promise<void>): Promise<number> {
  const once = async (times: number): Promise<number> => {
    const job = device.job();
    for (let j = 0; j < times; j++) await add(job);
    const began = performance.now();
    job.send();
    await device.settle();
    return performance.now() - began;
  };
  await once(1); // compiles
  const milliseconds = Math.min(await once(TIMES), await once(TIMES), await once(TIMES)); // a clock may have to wake up first
  return (TIMES * 2 * ROWS * FILTERS * STRIDE) / (milliseconds / 1000);
}

/** Bytes without a pattern that a wrong order would keep. */
function someBytes(count: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(count);
  for (let j = 0; j < count; j++) bytes[j] = Math.imul(j + 1, 2654435761) >>> 24;
  return bytes;
}

/** The products of the first row. */
function firstRow(x: Uint8Array, w: Uint8Array): Uint32Array {
  const products = new Uint32Array(FILTERS);
  for (let f = 0; f < FILTERS; f++) {
    let sum = 0;
    for (let i = 0; i < STRIDE; i++) sum += x[i] * (256 * w[f * STRIDE + i] + w[(FILTERS + f) * STRIDE + i]);
    products[f] = sum; // modulo 2^32
  }
  return products;
}
