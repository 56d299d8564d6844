/** ONNX files under onnxruntime-web, in this process. */

import { type Dense, type Matrix, toDense } from "@ranksim/core";
import * as ort from "onnxruntime-web";
import type { RowType } from "../src/index.ts";

ort.env.wasm.numThreads = 1;

/** What a file answers, each output as it comes. */
export interface Answers {
  readonly label?: readonly (string | number)[];
  readonly probabilities?: Float64Array;
  readonly present?: Uint8Array;
  readonly similarities?: Float64Array;
}

/** Rows asked at a time: bounds the memory of the reader. */
const BATCH = 500;

/** Runs rows through a file, in batches. */
export async function askOnnx(bytes: Uint8Array, x: Matrix, rowType: RowType): Promise<Answers> {
  const session = await ort.InferenceSession.create(bytes);
  const found: { [name: string]: unknown[] } = {};
  try {
    for (let from = 0; from < x.rows; from += BATCH) {
      const part = toDense(x.slice(from, Math.min(x.rows, from + BATCH)));
      const answer = await session.run({ rows: tensorOf(part, rowType) });
      for (const [name, { data }] of Object.entries(answer)) {
        found[name] ??= [];
        for (const value of data as Iterable<unknown>)
          found[name].push(typeof value === "bigint" ? Number(value) : value);
      }
    }
  } finally {
    await session.release();
  }
  return {
    ...(found.label ? { label: found.label as (string | number)[] } : {}),
    ...(found.probabilities ? { probabilities: Float64Array.from(found.probabilities as number[]) } : {}),
    ...(found.present ? { present: Uint8Array.from(found.present as number[]) } : {}),
    ...(found.similarities ? { similarities: Float64Array.from(found.similarities as number[]) } : {}),
  };
}

function tensorOf(x: Dense, rowType: RowType): ort.Tensor {
  const sides = [x.rows, x.features];
  if (rowType === "uint8") return new ort.Tensor("uint8", Uint8Array.from(x.values), sides);
  if (rowType === "float32") return new ort.Tensor("float32", Float32Array.from(x.values), sides);
  return new ort.Tensor("float64", Float64Array.from(x.values), sides);
}

/** The largest difference between two lists of the same length. */
export function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) throw new Error(`expected ${a.length} numbers, found ${b.length}`);
  let most = 0;
  for (let j = 0; j < a.length; j++) {
    const apart = Math.abs(a[j] - b[j]);
    // A NaN must not pass for a small difference.
    if (!(apart <= most)) most = apart;
  }
  return most;
}
