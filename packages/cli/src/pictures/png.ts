/**
 * Small pictures as PNG files: 8-bit grey, no filtering, most ink black on white as on the playground's paper. Enough for
 * filters and rows; charts are drawn as SVG. Runs in browsers too, where the playground makes its reports.
 */

import { zlibSync } from "fflate";
import type { Picture } from "./picture.ts";

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/** The picture as a PNG file. */
function encodePng({ width, height, pixels }: Picture): Uint8Array {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header[8] = 8;
  // Every line begins with the number of its filter: 0, none.
  const lines = new Uint8Array((width + 1) * height);
  pixels.forEach((ink, p) => {
    lines[p + Math.floor(p / width) + 1] = 255 - ink;
  });
  return joined([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("IDAT", zlibSync(lines, { level: 9 })),
    chunk("IEND", new Uint8Array(0)),
  ]);
}

/** The picture as an address that needs no file. */
export function pngAddress(picture: Picture): string {
  return `data:image/png;base64,${btoa(String.fromCharCode(...encodePng(picture)))}`;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
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
  view.setUint32(data.length + 8, checkSum(bytes.subarray(4, data.length + 8)));
  return bytes;
}

/** CRC-32 as PNG defines it; Node's own came only with 20.15. */
function checkSum(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}
