/**
 * A page that stands on its own: the paper's filters of what was taught, and the few lines that ask them. A drawing is moved and scaled as
 * here; its lines are known as strokes, so that no thinning is needed.
 */

import { DIGITS_FRAME } from "../drawing/centre.ts";
import { drawingSize } from "../drawing/ink-blocks.ts";
import type { Lesson, PlainFilters } from "../protocol.ts";

/** The page as text. */
export function standalonePage({ weights, classes }: PlainFilters, { imageSize, inkBlocks }: Lesson): string {
  const bytes = new Uint8Array(weights.buffer, weights.byteOffset, weights.byteLength);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const facts = {
    classes,
    width: imageSize.width,
    height: imageSize.height,
    fine: inkBlocks ? drawingSize(imageSize, inkBlocks) : null,
    blocks: inkBlocks ?? 1,
    frame: DIGITS_FRAME,
    weights: btoa(binary),
  };
  // A name of a class must not end the script.
  const text = JSON.stringify(facts).replaceAll("<", "\\u003c");
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>What I taught it</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 26rem; margin: 2rem auto; padding: 0 1rem; text-align: center }
canvas, video { width: 100%; aspect-ratio: 1; object-fit: cover; border: 1px solid gray; border-radius: 12px; background: white; touch-action: none }
output { display: block; font-size: 2.5rem; font-weight: 700; min-height: 4rem }
button { font: inherit; min-height: 44px; padding: 0 1.25rem }
</style>
<h1>What I taught it</h1>
${inkBlocks ? '<canvas width="512" height="512" aria-label="Draw here"></canvas>' : '<video muted playsinline aria-label="What the camera sees"></video>'}
<output aria-live="polite"></output>
<button>${inkBlocks ? "Clear" : "Start the camera"}</button>
<p><small>Rank similarity filters, made with ranksim. The filter with the largest product names the answer.</small></p>
<script>
const facts = ${text};
const weights = new Float32Array(Uint8Array.from(atob(facts.weights), (c) => c.charCodeAt(0)).buffer);
const find = (name) => document.querySelector(name);
// The filter with the largest product with the row names the class.
function ask(row) {
  let best = -1, most = 0;
  facts.classes.forEach((_, f) => {
    let sum = 0;
    for (let i = 0; i < row.length; i++) sum += row[i] * weights[f * row.length + i];
    if (sum > most) [best, most] = [f, sum];
  });
  find("output").textContent = best < 0 ? "" : facts.classes[best];
}
${inkBlocks ? DRAWING : CAMERA}
</script>
</html>
`;
}

const DRAWING = `const canvas = find("canvas"), pen = canvas.getContext("2d");
let strokes = [], isDown = false;
pen.lineCap = pen.lineJoin = "round";
pen.lineWidth = 40;
function trace(on, points, place) {
  on.beginPath();
  points.forEach((p, j) => (j ? on.lineTo(...place(p)) : on.moveTo(...place(p))));
  on.lineTo(...place(points[points.length - 1]));
  on.stroke();
}
function read() {
  const { width, height } = facts.fine, { frame } = facts;
  const all = strokes.flat(), xs = all.map((p) => p[0]), ys = all.map((p) => p[1]);
  const box = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const radius = frame.radius * Math.max(width, height);
  const scale = Math.min(
    (frame.width * width - 2 * radius) / Math.max(box[1] - box[0], 51),
    (frame.height * height - 2 * radius) / Math.max(box[3] - box[2], 51));
  const small = new OffscreenCanvas(width, height).getContext("2d");
  small.lineCap = small.lineJoin = "round";
  small.lineWidth = 2 * radius;
  for (const points of strokes)
    trace(small, points, ([x, y]) => [width / 2 + scale * (x - (box[0] + box[1]) / 2), height / 2 + scale * (y - (box[2] + box[3]) / 2)]);
  const { data } = small.getImageData(0, 0, width, height), row = new Float64Array(facts.width * facts.height);
  for (let p = 0; p < width * height; p++)
    if (data[4 * p + 3] > 127)
      row[Math.floor(Math.floor(p / width) * facts.height / height) * facts.width + Math.floor((p % width) * facts.width / width)]++;
  ask(row.map((count) => Math.round(count / 4)));
}
const at = (event) => [(event.offsetX / canvas.clientWidth) * 512, (event.offsetY / canvas.clientHeight) * 512];
const draw = (event) => { strokes.at(-1).push(at(event)); trace(pen, strokes.at(-1), (p) => p); read(); };
canvas.onpointerdown = (event) => { isDown = true; strokes.push([]); draw(event); };
canvas.onpointermove = (event) => isDown && draw(event);
addEventListener("pointerup", () => { isDown = false; });
find("button").onclick = () => { strokes = []; pen.clearRect(0, 0, 512, 512); find("output").textContent = ""; };`;

const CAMERA = `const video = find("video");
find("button").onclick = async () => {
  video.srcObject = await navigator.mediaDevices.getUserMedia({ video: true });
  await video.play();
  const small = new OffscreenCanvas(facts.width, facts.height).getContext("2d", { willReadFrequently: true });
  setInterval(() => {
    const side = Math.min(video.videoWidth, video.videoHeight);
    small.drawImage(video, (video.videoWidth - side) / 2, (video.videoHeight - side) / 2, side, side, 0, 0, facts.width, facts.height);
    const { data } = small.getImageData(0, 0, facts.width, facts.height);
    ask(Array.from({ length: facts.width * facts.height }, (_, p) => Math.round(0.299 * data[4 * p] + 0.587 * data[4 * p + 1] + 0.114 * data[4 * p + 2])));
  }, 150);
};`;
