/**
 * The UCI digits, embedded: 1,797 handwritten digits of 13 writers, 8 x 8 pixels of 0..16. The packed bytes are a module
 * of their own, imported on demand, so that a page which never asks for them never loads them.
 */

import { Dense } from "@ranksim/core";
import { inflateSync } from "fflate";

const ROWS = 1797;
const FEATURES = 64;

/** The digits: `x` is 1,797 x 64 bytes, `y` the digit of each row. Needs no file and no network. */
export async function loadDigits(): Promise<{ x: Dense; y: number[]; imageSize: { width: number; height: number } }> {
  const { digitsBytes } = await import("./digits-bytes.ts");
  const packed = Uint8Array.from(atob(digitsBytes), (character) => character.charCodeAt(0));
  const all = inflateSync(packed, { out: new Uint8Array(ROWS * (FEATURES + 1)) });
  return {
    x: Dense.of(all.slice(0, ROWS * FEATURES), ROWS, FEATURES),
    y: Array.from(all.subarray(ROWS * FEATURES)),
    imageSize: { width: 8, height: 8 },
  };
}
