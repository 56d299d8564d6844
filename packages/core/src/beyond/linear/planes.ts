/** What planes say of rows, and how many there are. */

/** Distances of rows from planes that were fitted without them. */
export interface Judged {
  readonly rows: Uint32Array;
  /** rows x classes. */
  readonly distances: Float64Array;
}

/** How many planes tell the classes apart: two classes are on two sides of one. */
export const planesOf = (classes: number, isMultilabel: boolean): number =>
  classes === 2 && !isMultilabel ? 1 : classes;
