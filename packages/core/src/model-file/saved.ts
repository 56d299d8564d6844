/** A model as plain data: what models give, files hold and readers take. */

/** JSON that a model file can carry. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** A typed array with its shape, as stored in a model file. */
export interface SavedArray {
  readonly shape: readonly number[];
  readonly values: Uint8Array | Uint16Array | Int16Array | Uint32Array | Float32Array | Float64Array;
}

/** A model as plain data: what `saveModel` writes and `loadModel` hands to the kind's reader. */
export interface Saved {
  readonly kind: string;
  readonly meta: { readonly [key: string]: Json };
  readonly arrays: { readonly [name: string]: SavedArray };
  /** The parts of a composed model, in order. */
  readonly steps?: readonly Saved[];
  /** What the whole model knows of its data; never in a part. */
  readonly schema?: Json;
}
