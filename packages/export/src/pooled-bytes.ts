/**
 * How a pooled sum becomes a byte where a patch layer has a limit: ⌊(min(sum, limit) · factor + half) / unit⌋ with the factor
 * ⌊255 · unit / limit⌋. No product exceeds 255 · unit, so 32 bits hold it and the half. It stands here again because FORMAT.md defines it and
 * the library does not export it; tests compare each export with the library.
 */

/** Bits after the point of the factor. */
export const FACTOR_BITS = 24;
/** One, and a half, in the factor's units. */
export const UNIT = 2 ** FACTOR_BITS;
export const HALF = UNIT / 2;

/** The factor of sums below the limit. */
export const byteFactor = (limit: number): number => Math.floor((255 * UNIT) / limit);
