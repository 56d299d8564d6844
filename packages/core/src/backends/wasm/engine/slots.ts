/**
 * What all contexts share. A context is a block of 8-byte slots in WebAssembly memory through which TypeScript tells a kernel
 * what to work on. Each kind of rows names its slots in a `slots.ts` of its own. These files are compiled twice, by TypeScript and by
 * AssemblyScript (`assembly/` imports them), so the two sides cannot disagree. Slots hold an unsigned 32-bit number
 * (pointers, counts) unless the name ends in `_F64`.
 *
 * Letters as in the kernels: N rows, n features, m filters, k results kept.
 */

/** Bytes of a context: enough for the slots of every `slots.ts`. */
export const CONTEXT_BYTES = 704;

/** Element types of the rows. */
export const U8 = 0;
export const U16 = 1;
export const I16 = 2;
export const F32 = 3;
export const F64 = 4;
