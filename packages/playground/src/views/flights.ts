/** Rows that fly to their filters while a model trains. Nothing flies for those who asked for less motion. */

import { drawInk } from "../drawing/picture.ts";
import type { ImageSize, TrainingStep } from "../protocol.ts";

/** How long a row is on its way, and how much later the next one starts. */
const FLIGHT_MILLISECONDS = 320;
const APART_MILLISECONDS = 12;

/** Sends the rows of a step from the left edge of the wall to the tiles of their filters. */
export function flyRows(wall: HTMLElement, { arrivals }: TrainingStep, size: ImageSize): void {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const box = wall.getBoundingClientRect();
  arrivals.forEach(({ picture, to }, j) => {
    const tile = wall.querySelector(`[data-target="${to}"]`);
    if (!tile) return;
    const target = tile.getBoundingClientRect();
    const canvas = document.createElement("canvas");
    canvas.className = "ink flying";
    drawInk(canvas, picture, size);
    wall.append(canvas);
    const start = { x: 0, y: (box.height * (j + 0.5)) / arrivals.length };
    const end = { x: target.left - box.left + target.width / 2, y: target.top - box.top + target.height / 2 };
    const flight = canvas.animate(
      [
        { transform: `translate(${start.x}px, ${start.y}px) scale(1)`, opacity: 0 },
        { opacity: 1, offset: 0.2 },
        { transform: `translate(${end.x}px, ${end.y}px) scale(0.5)`, opacity: 0.2 },
      ],
      { duration: FLIGHT_MILLISECONDS, delay: j * APART_MILLISECONDS, easing: "ease-in", fill: "backwards" },
    );
    flight.onfinish = () => canvas.remove();
    flight.oncancel = () => canvas.remove();
  });
}
