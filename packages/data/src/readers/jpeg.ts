/**
 * One JPEG as pixels. The decoder (jpeg-js) is plain JavaScript; its size is looked up here first, so that memory is asked for
 * before anything is decoded.
 */

import jpeg from "jpeg-js";
import { asBadFile } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import { hasColours, type Picture, pixelsOf } from "./picture.ts";

/** Sides are padded to whole blocks of at most this many pixels. */
const LARGEST_BLOCK = 32;
/** Bytes that a pixel takes while it is decoded: up to four components of 32 bits, their bytes, and the blocks themselves. */
const BYTES_PER_PIXEL = 32;
/** What the decoder takes for any image. */
const BYTES_FOR_ANY = 1 << 22;

/** Whether the bytes begin as a JPEG does. */
export function isJpeg(bytes: Uint8Array): boolean {
  return bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff;
}

/** Decodes a JPEG, baseline or progressive, as grey or as red, green and blue. */
export function decodeJpeg(name: string, bytes: Uint8Array, account: Account, colour: boolean): Picture {
  try {
    const { width, height } = sizeOf(bytes);
    const padded = (side: number): number => Math.ceil(side / LARGEST_BLOCK) * LARGEST_BLOCK;
    const needed = padded(width) * padded(height) * BYTES_PER_PIXEL + BYTES_FOR_ANY;
    account.take(needed);
    const decoded = jpeg.decode(bytes, {
      useTArray: true,
      formatAsRGBA: false,
      tolerantDecoding: false,
      maxResolutionInMP: Math.ceil((width * height) / 1e6) + 1,
      maxMemoryUsageInMB: Math.ceil(needed / 2 ** 20),
    });
    if (decoded.width !== width || decoded.height !== height) throw new Error("expected one image, found two sizes");
    const pixels = pixelsOf(decoded.data, 3, colour);
    account.give(needed - pixels.byteLength);
    const lostColours = !colour && hasColours(decoded.data, 3);
    return { width, height, largest: 255, channels: colour ? 3 : 1, pixels, lostColours };
  } catch (error) {
    throw asBadFile(name, "JPEG", error);
  }
}

/** Width and height out of the first frame header. */
function sizeOf(bytes: Uint8Array): { width: number; height: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 2; at + 9 <= bytes.byteLength; ) {
    if (bytes[at] !== 0xff) throw new Error(`expected a marker at byte ${at}, found ${bytes[at]}`);
    const marker = bytes[at + 1];
    if (marker === 0xff) {
      at++; // fill byte
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) {
      const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
      if (width * height === 0) throw new Error(`expected an image, found ${width} x ${height} pixels`);
      return { width, height };
    }
    at += 2 + view.getUint16(at + 2);
  }
  throw new Error("expected a frame with the size of the image, found the end");
}
