/** Grey pictures as PNG files: eight bits, no filtering. Enough for filters and rows; charts are drawn as SVG. */

import { zlibSync } from "fflate";
import { crc32 } from "../crc32.ts";

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/** A PNG file of pixels from 0, black, to 255, white, row by row from the top left. */
export function encodePng(pixels: Uint8Array, { width, height }: { width: number; height: number }): Uint8Array {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header[8] = 8;
  // Every line begins with the number of its filter: 0, none.
  const lines = new Uint8Array((width + 1) * height);
  for (let y = 0; y < height; y++) lines.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  const parts = [
    SIGNATURE,
    chunk("IHDR", header),
    chunk("IDAT", zlibSync(lines, { level: 9 })),
    chunk("IEND", new Uint8Array(0)),
  ];
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(data.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  for (let i = 0; i < 4; i++) bytes[4 + i] = type.charCodeAt(i);
  bytes.set(data, 8);
  view.setUint32(data.length + 8, crc32(bytes.subarray(4, data.length + 8)));
  return bytes;
}
