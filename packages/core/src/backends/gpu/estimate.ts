/** What work would take on a GPU: its rate of products and its latency are timed when it is opened, the rest was measured on the machine of an H200. */

import type { Estimate, Refusal, WorkShape } from "../contract.ts";
import { MOST_TERMS } from "./candidates.ts";
import { MOST_FEATURES } from "./resident.ts";
import { FLOAT_COST } from "./search-floats.ts";

/** Products of bytes a second, and seconds of a question without work. */
interface Speed {
  readonly rate: number;
  readonly latency: number;
}

/** What a device is taken for before it is timed. */
export const UNTIMED: Speed = { rate: 2e12, latency: 2e-3 };

/** Bytes a second to the device. */
const COPY_RATE = 6e9;
/**
 * By candidates (`npm run gpu -- --crossover`): synchronisations of a question; seconds of the host for a row of a question, for a value on its
 * way, as one of dense or of sparse rows, and for a value that the host needs as well, for sums; seconds of the device for a response of a sparse row.
 */
const FLOAT_SYNCS = 3;
const FLOAT_ROW = 5e-7;
const FLOAT_VALUE = 2.2e-9;
const SPARSE_VALUE = 6e-9;
const SUMMED_VALUE = 2e-9;
const SPARSE_RESPONSE = 2e-10;
/** Rows of fewer features tie with many filters, and ties are the processor's affair. */
const TIED_FEATURES = 64;

export function estimateOf(work: WorkShape, speed: Speed): Estimate | Refusal {
  const { rows, features, values, bytes, filters, searches } = work;
  const isExact = bytes === values && values === rows * features && features <= MOST_FEATURES;
  if (!isExact) return estimateFloats(work, speed);
  const { rate, latency } = speed;
  const stride = Math.ceil(features / 64) * 64;
  const products = (2 * rows * stride * filters * searches) / rate;
  return { seconds: bytes / COPY_RATE + products + latency * (1 + searches), bytes: values + 2 * filters * stride };
}

/** By candidates: one multiply-add of floats a value and filter. */
function estimateFloats(
  { rows, features, values, filters, searches }: WorkShape,
  { rate, latency }: Speed,
): Estimate | Refusal {
  const isSparse = values < rows * features;
  if (features < TIED_FEATURES) return { refused: `fewer than ${TIED_FEATURES} features: rows tie with many filters` };
  if (!isSparse && features > MOST_TERMS) return { refused: `more than ${MOST_TERMS} features` };
  const brought = values * ((isSparse ? SPARSE_VALUE : FLOAT_VALUE) + (searches > 1 ? SUMMED_VALUE : 0));
  const products = (FLOAT_COST * filters * values) / rate + (isSparse ? SPARSE_RESPONSE * rows * filters : 0);
  const question = products + FLOAT_ROW * rows + FLOAT_SYNCS * latency;
  return {
    seconds: brought + searches * question + FLOAT_SYNCS * latency,
    bytes: 4 * (values * (isSparse ? 2 : 1) + filters * features),
  };
}
