/** A picture in memory: grey pixels, row by row from the top left. */

/** Grey pixels. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** The value of white. */
  readonly largest: number;
  readonly pixels: Uint8Array | Uint16Array;
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
