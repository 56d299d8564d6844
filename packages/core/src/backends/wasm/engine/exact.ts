/** Up to where numbers of each type are exact, and sums of them fit. */

/** The largest value of a signed 16-bit number. */
export const MOST_16 = 32_767;
/** Sums in signed 32-bit numbers stay below this. */
export const MOST_32 = 2 ** 31;
/** Whole numbers below this are exact in float32. */
export const MOST_F32 = 2 ** 24;
/** Whole numbers below this are exact in float64, so that the order of summation does not matter. */
export const MOST_F64 = 2 ** 53;
