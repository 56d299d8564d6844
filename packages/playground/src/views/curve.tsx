/** Held-out accuracy and share of rows that moved, over a run. */

import type { RunPoint } from "../protocol.ts";
import { percent } from "./text.ts";

const WIDTH = 280;
const HEIGHT = 84;
const LEFT = 30;
const BOTTOM = 16;

/** Accuracy as a line, rows moved as stems; both are shares, so they have one axis. */
export function Curve({ history }: { history: readonly RunPoint[] }) {
  const x = (share: number) => LEFT + share * (WIDTH - LEFT - 4);
  const y = (value: number) => 6 + (1 - value) * (HEIGHT - BOTTOM - 6);
  const scored = history.filter((point) => point.accuracy !== undefined);
  const accuracy = scored
    .map((point, j) => `${j === 0 ? "M" : "L"}${x(point.share).toFixed(1)},${y(point.accuracy as number).toFixed(1)}`)
    .join("");
  const moved = history
    .filter((point) => point.moved !== undefined)
    .map((point) => `M${x(point.share).toFixed(1)},${y(0)}V${y(point.moved as number).toFixed(1)}`)
    .join("");
  const last = scored.at(-1)?.accuracy;
  return (
    <figure class="curve">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label(last)}>
        {[0, 0.5, 1].map((value) => (
          <g key={value}>
            <line class="grid-line" x1={LEFT} x2={WIDTH - 4} y1={y(value)} y2={y(value)} />
            <text class="tick" x={LEFT - 5} y={y(value) + 3.5} text-anchor="end">
              {value === 0.5 ? "½" : value}
            </text>
          </g>
        ))}
        <path class="moved-line" d={moved} />
        <path class="accuracy-line" d={accuracy} />
        <text class="tick" x={LEFT} y={HEIGHT - 3}>
          start
        </text>
        <text class="tick" x={WIDTH - 4} y={HEIGHT - 3} text-anchor="end">
          end of the run
        </text>
      </svg>
      <figcaption class="legend">
        {scored.length > 0 && <span class="key accuracy-key">held-out accuracy</span>}
        <span class="key moved-key">share of rows moved</span>
      </figcaption>
    </figure>
  );
}

function label(accuracy: number | undefined): string {
  return accuracy === undefined
    ? "Share of rows that moved, over the run"
    : `Held-out accuracy over the run, now ${percent(accuracy, 1)}, and the share of rows that moved`;
}
