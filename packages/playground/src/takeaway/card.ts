/**
 * A picture to share, 1200 × 630: the sample, what it is read as, what decided it, the strongest filters, and the link. Its
 * colours are the light ones: it stands on any background.
 */

import { COLOURS, PLAYGROUND_COLOURS } from "ranksim/report";
import { drawInk, drawParts, inkOf } from "../drawing/picture.ts";
import type { Explanation, ImageSize } from "../protocol.ts";
import { percent } from "../views/text.ts";

const CARD = { width: 1200, height: 630 };

interface CardInput {
  readonly explanation: Explanation;
  readonly values: Float64Array;
  readonly size: ImageSize;
  /** The drawing behind the sample, where it counts ink. */
  readonly drawing: { readonly values: Float64Array; readonly size: ImageSize } | undefined;
  readonly low: number;
  readonly high: number;
  readonly classes: readonly string[];
  readonly link: string;
  readonly isDrawn: boolean;
}

/** The picture as a PNG file. */
export async function cardPicture(input: CardInput): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = CARD.width;
  canvas.height = CARD.height;
  const pen = canvas.getContext("2d") as CanvasRenderingContext2D;
  pen.fillStyle = COLOURS.surface.light;
  pen.fillRect(0, 0, CARD.width, CARD.height);
  drawCard(pen, input);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture could not be made."))), "image/png"),
  );
}

function drawCard(pen: CanvasRenderingContext2D, input: CardInput): void {
  const { explanation, values, size, drawing, low, high, classes, link } = input;
  const sample = drawing ? inked(inkOf(drawing.values, 0, 1), drawing.size) : inked(inkOf(values, low, high), size);
  const faint = inked(inkOf(values, low, high), size);
  const heat = document.createElement("canvas");
  drawParts(heat, explanation.features, explanation.parts, size);

  write(pen, input.isDrawn ? "Drawn" : "Given", 56, 60, { size: 22, colour: COLOURS.muted.light });
  frame(pen, sample, 56, 76, 300, { smooth: drawing !== undefined });
  write(pen, "What decided it", 396, 60, { size: 22, colour: COLOURS.muted.light });
  frame(pen, faint, 396, 76, 300, { alpha: 0.16, over: heat });
  const answer = explanation.labels.join(", ") || "?";
  const most = Math.max(
    0,
    ...explanation.labels.map((label) => explanation.probabilities?.[classes.indexOf(label)] ?? 0),
  );
  write(pen, "Read as", 756, 60, { size: 22, colour: COLOURS.muted.light });
  write(pen, answer, 756, answer.length > 2 ? 200 : 290, {
    size: answer.length > 2 ? 64 : 240,
    weight: 750,
    most: 390,
  });
  if (most > 0) write(pen, percent(most), 756, 366, { size: 40, weight: 650 });

  write(pen, "Strongest rank filters", 56, 436, { size: 22, colour: COLOURS.muted.light });
  explanation.strongest.slice(0, 6).forEach(({ picture, drawn, similarity, shares }, j) => {
    const x = 56 + j * 116;
    if (drawn) frame(pen, inked(drawn.pixels, drawn.size), x, 452, 88);
    else if (picture) frame(pen, inked(picture, size), x, 452, 88);
    pen.fillStyle = COLOURS.border.light;
    pen.fillRect(x, 548, 88, 8);
    pen.fillStyle = PLAYGROUND_COLOURS.glow.light;
    pen.fillRect(x, 548, 88 * similarity, 8);
    write(pen, shares[0]?.label ?? "", x, 582, { size: 20, weight: 650, most: 88 });
  });
  pen.fillStyle = COLOURS.accent.light;
  for (const [j, tall] of [26, 44, 62].entries()) pen.fillRect(796 + j * 20, 530 - tall, 14, tall);
  write(pen, "ranksim playground", 866, 506, { size: 28, weight: 700, most: 280 });
  write(pen, "draw, and watch rank filters think", 866, 532, { size: 18, colour: COLOURS.muted.light });
  write(pen, link, 796, 582, { size: 20, colour: COLOURS.accent.light, most: 360 });
}

function inked(pixels: ArrayLike<number>, size: ImageSize): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  drawInk(canvas, pixels, size);
  return canvas;
}

/** A picture on paper with a thin frame, as large as fits a square. */
function frame(
  pen: CanvasRenderingContext2D,
  picture: HTMLCanvasElement,
  x: number,
  y: number,
  side: number,
  { alpha = 1, smooth = false, over }: { alpha?: number; smooth?: boolean; over?: HTMLCanvasElement } = {},
): void {
  const scale = side / Math.max(picture.width, picture.height);
  const [width, height] = [picture.width * scale, picture.height * scale];
  pen.fillStyle = PLAYGROUND_COLOURS.paper.light;
  pen.fillRect(x, y, width, height);
  pen.imageSmoothingEnabled = smooth;
  pen.globalAlpha = alpha;
  pen.drawImage(picture, x, y, width, height);
  pen.globalAlpha = 1;
  pen.imageSmoothingEnabled = false;
  if (over) pen.drawImage(over, x, y, width, height);
  pen.strokeStyle = COLOURS.border.light;
  pen.lineWidth = 2;
  pen.strokeRect(x, y, width, height);
}

interface Type {
  readonly size: number;
  readonly weight?: number;
  readonly colour?: string;
  /** Widest it may be, in pixels; wider text is made smaller. */
  readonly most?: number;
}

function write(pen: CanvasRenderingContext2D, text: string, x: number, y: number, type: Type): void {
  const { size, weight = 400, colour = COLOURS.text.light, most } = type;
  pen.fillStyle = colour;
  pen.font = `${weight} ${size}px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif`;
  pen.fillText(text, x, y, most);
}
