/** What work would take on a GPU: its rate of products and its latency are timed when it is opened, the rest was measured on the machine of an H200. */

import type { Estimate, Refusal, WorkShape } from "@ranksim/core/backend";
import { MOST_FEATURES } from "./resident.ts";

/** Products of bytes a second, and seconds of a question without work. */
interface Speed {
  readonly rate: number;
  readonly latency: number;
}

/** What a device is taken for before it is timed. */
export const UNTIMED: Speed = { rate: 2e12, latency: 2e-3 };

/** Bytes a second to the device. */
const COPY_RATE = 6e9;

export function estimateOf(work: WorkShape, speed: Speed): Estimate | Refusal {
  const { rows, features, values, bytes, filters, searches } = work;
  const isExact = bytes === values && values === rows * features && features <= MOST_FEATURES;
  if (!isExact) return { refused: `expected dense rows of bytes with at most ${MOST_FEATURES} features` };
  const { rate, latency } = speed;
  const stride = Math.ceil(features / 64) * 64;
  const products = (2 * rows * stride * filters * searches) / rate;
  return { seconds: bytes / COPY_RATE + products + latency * (1 + searches), bytes: values + 2 * filters * stride };
}
