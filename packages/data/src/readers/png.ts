/** One PNG as grey pixels. */

import { convertIndexedToRgb, decode } from "fast-png";
import { asBadFile, badFile } from "../bad-file.ts";
import { greyOf, type Picture } from "./picture.ts";

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** Whether the bytes begin as a PNG does. */
export function isPng(bytes: Uint8Array): boolean {
  return SIGNATURE.every((byte, i) => bytes[i] === byte);
}

/** Decodes a PNG. Palettes are looked up, colours turned to grey, 1 to 4 bits spread over 0..255, transparency ignored. */
export function decodePng(name: string, bytes: Uint8Array): Picture {
  checkClaims(name, bytes);
  try {
    const image = decode(bytes, { checkCrc: true });
    const { width, height, depth } = image;
    if (image.palette !== undefined) {
      // The transparency of palette entries would come as a fourth channel.
      const { transparency: _, ...opaque } = image;
      return { width, height, largest: 255, pixels: greyOf(convertIndexedToRgb(opaque), 3) };
    }
    if (depth < 8)
      return { width, height, largest: 255, pixels: unpack(image.data as Uint8Array, width, height, depth) };
    const data = image.data instanceof Uint16Array ? image.data : Uint8Array.from(image.data);
    return { width, height, largest: depth === 16 ? 0xffff : 0xff, pixels: greyOf(data, image.channels) };
  } catch (error) {
    throw asBadFile(name, "PNG", error);
  }
}

/** Refuses a header that claims more pixels than the file can hold, before the decoder makes room for them. */
function checkClaims(name: string, bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let headers = 0;
  for (let at = 8; at + 8 <= bytes.byteLength; at += view.getUint32(at) + 12) {
    if (view.getUint32(at + 4) !== 0x49484452) continue;
    headers++;
    if (at + 25 > bytes.byteLength) break;
    const bits = view.getUint32(at + 8) * view.getUint32(at + 12) * view.getUint8(at + 16);
    // Deflate makes at most 1,032 bytes from one.
    if (bits === 0 || bits / 8 > bytes.byteLength * 1032) {
      throw badFile(
        name,
        `byte ${at}`,
        `expected an image that ${bytes.byteLength} bytes can hold, found ${view.getUint32(at + 8)} x ${view.getUint32(at + 12)} pixels`,
      );
    }
  }
  if (headers !== 1) throw badFile(name, "", `expected one PNG header, found ${headers}`);
}

function unpack(data: Uint8Array, width: number, height: number, depth: number): Uint8Array {
  const pixels = new Uint8Array(width * height);
  const bytesPerLine = Math.ceil((width * depth) / 8);
  const scale = 255 / (2 ** depth - 1);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const bit = column * depth;
      const byte = data[row * bytesPerLine + (bit >> 3)];
      pixels[row * width + column] = ((byte >> (8 - depth - (bit & 7))) & (2 ** depth - 1)) * scale;
    }
  }
  return pixels;
}
