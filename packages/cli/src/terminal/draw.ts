/**
 * Pictures in a terminal: two pixels per character by the upper half block in two colours; without colours a ramp of
 * characters. Pictures stand side by side with a caption under each.
 */

import type { Output } from "../io.ts";
import type { Picture } from "../pictures/picture.ts";
import { cut, displayWidth, type Style } from "./style.ts";

/** A picture with the line under it. */
export interface Captioned {
  readonly picture: Picture;
  readonly caption: string;
}

const RAMP = " .:-=+*#%@";
const GAP = 2;
const ESCAPE = "\u001b[";

/** Pictures side by side, in as many rows as the width of the output asks for. */
export function drawPictures(pictures: readonly Captioned[], output: Output, style: Style, indent = 0): string {
  const pixelWidth = output.colourDepth >= 8 ? 1 : 2;
  const widthOf = ({ picture, caption }: Captioned) => Math.max(picture.width * pixelWidth, displayWidth(caption));
  const bands: Captioned[][] = [];
  let used = output.columns;
  for (const item of pictures) {
    if (used + GAP + widthOf(item) > output.columns) {
      bands.push([]);
      used = indent;
    }
    bands.at(-1)!.push(item);
    used += widthOf(item) + GAP;
  }
  return bands.map((band) => drawBand(band, output, style, indent, widthOf)).join("\n");
}

function drawBand(
  band: readonly Captioned[],
  output: Output,
  style: Style,
  indent: number,
  widthOf: (item: Captioned) => number,
): string {
  const blocks = band.map(({ picture }) =>
    output.colourDepth >= 8 ? halfBlocks(picture, output.colourDepth === 24) : ramp(picture),
  );
  const height = Math.max(...blocks.map((block) => block.length));
  const lines: string[] = [];
  for (let y = 0; y < height; y++) {
    const cells = blocks.map((block, b) => {
      const width = widthOf(band[b]);
      const line = block[y] ?? "";
      return line + " ".repeat(Math.max(0, width - displayWidth(line)));
    });
    lines.push(cells.join(" ".repeat(GAP)));
  }
  const captions = band.map((item) => {
    const width = widthOf(item);
    const text = cut(item.caption, width);
    return style.faint(text) + " ".repeat(width - displayWidth(text));
  });
  lines.push(captions.join(" ".repeat(GAP)));
  return lines.map((line) => `${" ".repeat(indent)}${line.trimEnd()}\n`).join("");
}

/** Two rows of pixels per line: the upper in the foreground colour, the lower in the background colour. */
function halfBlocks({ width, height, pixels }: Picture, trueColour: boolean): string[] {
  const colour = (level: number) => (trueColour ? `2;${level};${level};${level}` : `5;${greyOf256(level)}`);
  const lines: string[] = [];
  for (let y = 0; y < height; y += 2) {
    let line = "";
    let before = "";
    for (let x = 0; x < width; x++) {
      const upper = `${ESCAPE}38;${colour(pixels[y * width + x])}m`;
      const lower = y + 1 < height ? `${ESCAPE}48;${colour(pixels[(y + 1) * width + x])}m` : `${ESCAPE}49m`;
      const codes = upper + lower;
      line += `${codes === before ? "" : codes}▀`;
      before = codes;
    }
    lines.push(`${line}${ESCAPE}0m`);
  }
  return lines;
}

/** The 24 greys of a 256-colour terminal, with its black and white at the ends. */
function greyOf256(level: number): number {
  const step = Math.round((level / 255) * 25);
  return step === 0 ? 16 : step === 25 ? 231 : 231 + step;
}

function ramp({ width, height, pixels }: Picture): string[] {
  return Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (_, x) =>
      RAMP[Math.min(RAMP.length - 1, Math.floor((pixels[y * width + x] / 256) * RAMP.length))].repeat(2),
    ).join(""),
  );
}
