/** Bars of ink in rank order: what a rank filter is made of, and what it does. */

const WIDTH = 320;
const HEIGHT = 200;

/** The bar of the pixel that is looked at. */
const MARK = "rgb(217 95 2)";

/** Bars of the values, in their own order or sorted from least to most; the ramp of ranks as a line over sorted ones. */
export function drawSorted(
  canvas: HTMLCanvasElement,
  values: Float64Array,
  low: number,
  high: number,
  sorted: boolean,
  picked?: number,
): void {
  const pen = start(canvas);
  const order = sorted ? orderOf(values) : Uint32Array.from(values.keys());
  const shown = Float64Array.from(order, (feature) => values[feature]);
  bars(pen, shown, low, high, 0, HEIGHT, picked === undefined ? -1 : order.indexOf(picked));
  if (sorted) ramp(pen, 0, HEIGHT);
}

/** Features from the least value to the most, equal ones by their number. */
export const orderOf = (values: ArrayLike<number>): Uint32Array =>
  Uint32Array.from({ length: values.length }, (_, j) => j).sort((a, b) => values[a] - values[b] || a - b);

/** Bars of the values in the order of each filter's weights, one filter above the other, with the ramp of the weights. */
export function drawProduct(
  canvas: HTMLCanvasElement,
  values: Float64Array | undefined,
  filters: readonly Uint8Array[],
  low: number,
  high: number,
  picked?: number,
): void {
  const pen = start(canvas);
  if (!values || filters.length === 0) return;
  const height = (HEIGHT - 12 * (filters.length - 1)) / filters.length;
  filters.forEach((weights, j) => {
    const order = orderOf(weights);
    const shown = Float64Array.from(order, (feature) => values[feature]);
    const top = j * (height + 12);
    bars(pen, shown, low, high, top, height, picked === undefined ? -1 : order.indexOf(picked));
    ramp(pen, top, height);
  });
}

function start(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  if (canvas.width !== WIDTH) canvas.width = WIDTH;
  if (canvas.height !== HEIGHT) canvas.height = HEIGHT;
  const pen = canvas.getContext("2d") as CanvasRenderingContext2D;
  pen.clearRect(0, 0, WIDTH, HEIGHT);
  return pen;
}

function bars(
  pen: CanvasRenderingContext2D,
  values: Float64Array,
  low: number,
  high: number,
  top: number,
  height: number,
  marked: number,
): void {
  const step = WIDTH / values.length;
  const gap = step > 3 ? 1 : 0;
  const span = high > low ? high - low : 1;
  values.forEach((value, j) => {
    const tall = Math.max(1, ((value - low) / span) * (height - 4));
    pen.fillStyle = j === marked ? MARK : `rgb(0 0 0 / ${0.25 + 0.75 * ((value - low) / span)})`;
    pen.fillRect(j * step, top + height - tall, Math.max(j === marked ? 4 : 0.5, step - gap), tall);
  });
}

/** The weights of a filter in their own order: a straight line from the lowest rank to the highest. */
function ramp(pen: CanvasRenderingContext2D, top: number, height: number): void {
  pen.strokeStyle = "rgb(0 0 0 / 0.4)";
  pen.lineWidth = 1.5;
  pen.setLineDash([5, 4]);
  pen.beginPath();
  pen.moveTo(0, top + height - 1);
  pen.lineTo(WIDTH, top + 4);
  pen.stroke();
  pen.setLineDash([]);
}
