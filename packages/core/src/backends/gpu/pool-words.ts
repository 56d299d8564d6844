/** Pooled values in the words of the device: two sums of 16 bits, or four bytes. */

import { FACTOR_BITS } from "../../kernels/patches.ts";
import type { Windows } from "../../kernels/shapes.ts";

/** The components of a vector of WGSL. */
export const COMPONENTS = ["x", "y", "z", "w"];

/** Pooled values in a word. */
export const valuesInWord = ({ limit }: Windows): 2 | 4 => (limit ? 4 : 2);

/** A word of pooled values from sums: less their last bits, as bytes (`byteOf`) where there are four. `p` has shift, limit and factor. */
export function wordOf(inWord: 2 | 4, sum: (j: number) => string): string {
  const value = (j: number): string => {
    const cut = `(${sum(j)} >> p.shift)`;
    return inWord === 2 ? cut : `((min(${cut}, p.limit) * p.factor + ${2 ** (FACTOR_BITS - 1)}u) >> ${FACTOR_BITS}u)`;
  };
  return Array.from({ length: inWord }, (_, j) => `(${value(j)} << ${(32 / inWord) * j}u)`).join(" | ");
}
