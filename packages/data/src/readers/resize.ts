/** Pictures made another size: each new pixel is the mean of the old ones it covers, by the share it covers of each. */

import type { Picture } from "./picture.ts";

/** The picture with another width and height. Means are rounded. */
export function resized(picture: Picture, width: number, height: number): Picture {
  if (picture.width === width && picture.height === height) return picture;
  const { channels } = picture;
  const columns = sharesOf(picture.width, width);
  const lines = sharesOf(picture.height, height);
  const pixels = new (picture.pixels instanceof Uint16Array ? Uint16Array : Uint8Array)(width * height * channels);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let c = 0; c < channels; c++) {
        let sum = 0;
        let area = 0;
        for (const [line, high] of lines[y]) {
          for (const [column, wide] of columns[x]) {
            sum += high * wide * picture.pixels[(line * picture.width + column) * channels + c];
            area += high * wide;
          }
        }
        pixels[(y * width + x) * channels + c] = Math.floor(sum / area + 0.5);
      }
    }
  }
  return { ...picture, width, height, pixels };
}

/** For each new place the old ones it covers, each with the length it covers of it, in parts of an old one x new places: whole numbers. */
function sharesOf(from: number, to: number): (readonly [place: number, length: number])[][] {
  return Array.from({ length: to }, (_, j) => {
    const [begin, end] = [j * from, (j + 1) * from];
    const shares: [number, number][] = [];
    for (let place = Math.floor(begin / to); place * to < end; place++) {
      shares.push([place, Math.min(end, (place + 1) * to) - Math.max(begin, place * to)]);
    }
    return shares;
  });
}
