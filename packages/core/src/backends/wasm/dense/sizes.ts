/** Sizes and kinds that both sides of the kernels for dense rows know. Compiled twice, as the slots are (`engine/slots.ts`). */

/** How responses are computed; see `assembly/dense/respond.ts`. */
export const WHOLE_NARROW = 0;
export const WHOLE_WIDE = 1;
export const ORDERED_F32 = 2;
export const ORDERED_F64 = 3;

/** Numbers of the three levels of a bound, and the parts of the third. Measured on Fashion-MNIST. */
export const LEVEL_1 = 16;
export const LEVEL_2 = 48;
export const LEVEL_3 = 192;
export const PARTS = 8;
/** Bytes of the first level of a row or filter, 16 bits a number, of what the second adds, and of both together. */
export const FIRST_BYTES = 32;
export const SECOND_BYTES = 64;
export const BOUND_BYTES = 96;
/** Bytes of the third level. */
export const PARTS_BYTES = 384;
/** Bytes of the scales of a row. */
export const SCALES_BYTES = 64;
/** Bytes of the facts of a row or filter while its bounds are made. */
export const FACTS_BYTES = 104;
/** Length of the longest filter in quantised units; times the longest row it stays under 2^31. */
export const LONGEST_FILTER = 32000;
