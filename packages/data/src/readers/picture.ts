/** A picture in memory: grey or coloured pixels, row by row from the top left. */

/** Pixels. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** The value of white. */
  readonly largest: number;
  /** Values of a pixel: 1 for grey, 3 for red, green and blue. */
  readonly channels: 1 | 3;
  readonly pixels: Uint8Array | Uint16Array;
  /** Whether colours became grey. */
  readonly lostColours?: boolean;
}

/** Whether some pixel is not grey. */
export function hasColours(data: Uint8Array | Uint16Array, channels: number): boolean {
  if (channels < 3) return false;
  for (let at = 0; at < data.length; at += channels) {
    if (data[at] !== data[at + 1] || data[at] !== data[at + 2]) return true;
  }
  return false;
}

/**
 * Grey from 1 (grey), 2 (grey and transparency), 3 (red, green, blue) or 4 channels: 0.299 red + 0.587 green + 0.114 blue in
 * 16-bit fixed point, rounded, as Pillow converts to "L" (ITU-R 601). Transparency is ignored.
 */
export function greyOf(data: Uint8Array | Uint16Array, channels: number): Uint8Array | Uint16Array {
  if (channels === 1) return data;
  const pixels =
    data instanceof Uint16Array ? new Uint16Array(data.length / channels) : new Uint8Array(data.length / channels);
  for (let p = 0; p < pixels.length; p++) {
    const at = p * channels;
    pixels[p] =
      channels === 2
        ? data[at]
        : Math.floor((data[at] * 19595 + data[at + 1] * 38470 + data[at + 2] * 7471 + 0x8000) / 0x10000);
  }
  return pixels;
}

/** Grey, or red, green and blue, from 1 to 4 channels. Transparency is ignored. */
export function pixelsOf(data: Uint8Array | Uint16Array, channels: number, colour: boolean): Uint8Array | Uint16Array {
  if (!colour) return greyOf(data, channels);
  if (channels === 3) return data;
  const count = data.length / channels;
  const pixels = data instanceof Uint16Array ? new Uint16Array(3 * count) : new Uint8Array(3 * count);
  for (let p = 0; p < count; p++) {
    for (let c = 0; c < 3; c++) pixels[3 * p + c] = data[p * channels + (channels < 3 ? 0 : c)];
  }
  return pixels;
}
