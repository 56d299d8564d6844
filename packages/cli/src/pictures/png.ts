/** Small pictures in a page, most ink black on white as on the playground's paper. Runs in browsers too, where the playground makes its reports. */

import { encodePng } from "@ranksim/data";
import type { Picture } from "./picture.ts";

/** The picture as an address that needs no file. */
export function pngAddress({ pixels, ...size }: Picture): string {
  const png = encodePng(
    pixels.map((ink) => 255 - ink),
    size,
  );
  return `data:image/png;base64,${btoa(String.fromCharCode(...png))}`;
}
