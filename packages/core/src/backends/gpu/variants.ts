/** Which program for products is the fastest here: each that compiles and is right is timed once, on a small block. */

import { type Device, GpuFailure } from "./device.ts";
import { type Multiply, multiply, multiplyMatrices, multiplyWords } from "./multiply.ts";

/** Size of the block, and how often it is computed. Filters have one high byte and one low byte a feature. */
const ROWS = 1024;
const FILTERS = 1024;
const STRIDE = 512;
const TIMES = 8;
/** Products of bytes a second of a program that plays a GPU; measured, roughly. It gets no timing, which would take it seconds. */
export const SOFTWARE_RATE = 2e8;

/** The program for products, and how many products of bytes it computes a second. */
export interface Choice {
  readonly multiply: Multiply;
  readonly rate: number;
  /** What was timed: program and rate. */
  readonly timed: readonly { readonly name: string; readonly rate: number }[];
}

/** The programs that may run here. */
export function variantsOf({ opened }: Device): Multiply[] {
  const { matrices, subgroup, language } = opened;
  const hasBytes = matrices.some(
    ({ componentType, resultComponentType, M, N, K }) =>
      componentType === "u8" && resultComponentType === "u32" && M === 16 && N === 16 && K === 32,
  );
  return [
    ...(hasBytes && subgroup === 32 ? [multiplyMatrices()] : []),
    ...(language.has("packed_4x8_integer_dot_product") ? [multiplyWords(true)] : []),
    multiplyWords(false),
  ];
}

/** Times them and takes the fastest. */
export async function chooseVariant(device: Device): Promise<Choice> {
  if (device.opened.isSoftware) return { multiply: multiplyWords(false), rate: SOFTWARE_RATE, timed: [] };
  const bytes = (count: number): Uint8Array<ArrayBuffer> =>
    Uint8Array.from({ length: count }, (_, j) => Math.imul(j + 1, 2654435761) >>> 24);
  const [x, w] = [bytes(ROWS * STRIDE), bytes(2 * FILTERS * STRIDE)];
  const timed: { name: string; rate: number; multiply: Multiply }[] = [];
  await device.borrowing(async (borrow) => {
    const [rows, weights, products] = [x.length, w.length, ROWS * FILTERS * 4].map(borrow);
    device.write(rows, 0, x);
    device.write(weights, 0, w);
    const factors = { rows, first: 0, count: ROWS, stride: STRIDE, weights, filters: FILTERS, planes: 2 };
    for (const each of variantsOf(device)) {
      try {
        const rate = await time(device, async (job) => multiply(job, each, factors, products));
        const job = device.job();
        const found = job.read(products, FILTERS * 4);
        job.send();
        if (isRight(new Uint32Array(await found), x, w)) timed.push({ name: each.name, rate, multiply: each });
      } catch (error) {
        if (!(error instanceof GpuFailure) || device.failure) throw error; // a program that does not compile is left out
      }
    }
  });
  if (timed.length === 0) throw new GpuFailure("no program for products runs on this device");
  timed.sort((a, b) => b.rate - a.rate);
  return { multiply: timed[0].multiply, rate: timed[0].rate, timed: timed.map(({ name, rate }) => ({ name, rate })) };
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

/** Whether the products of the first row are what they should be. */
function isRight(found: Uint32Array, x: Uint8Array, w: Uint8Array): boolean {
  for (let f = 0; f < FILTERS; f++) {
    let sum = 0;
    for (let i = 0; i < STRIDE; i++) {
      sum += x[i] * (256 * w[f * STRIDE + i] + w[(FILTERS + f) * STRIDE + i]);
    }
    if (found[f] !== sum % 2 ** 32) return false;
  }
  return true;
}
