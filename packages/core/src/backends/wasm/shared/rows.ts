/** What blocks of dense and of sparse rows in WebAssembly memory share. */

import type { Values } from "../../../kernels/shapes.ts";
import { F32, F64, I16, U8, U16 } from "../engine/slots.ts";

/** Consecutive rows in memory. */
export interface Block {
  /** Number of the first row in its matrix. */
  readonly first: number;
  readonly rows: number;
}

/** Whether the values are whole numbers by type. */
export function isWholeType(type: number): boolean {
  return type === U8 || type === U16 || type === I16;
}

/** The kernels' code of an element type. */
export function typeOf(values: Values): number {
  if (values instanceof Uint8Array) return U8;
  if (values instanceof Uint16Array) return U16;
  if (values instanceof Int16Array) return I16;
  return values instanceof Float32Array ? F32 : F64;
}
