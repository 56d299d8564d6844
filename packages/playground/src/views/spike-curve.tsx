/** How many rows have the right class after how many of their spikes, and when their class is certain. */

import type { SpikeSavings } from "../protocol.ts";
import { counted, percent } from "./text.ts";

const CHART = { width: 360, height: 170, left: 42, right: 10, top: 10, bottom: 30 };

export function SpikeCurve({ savings: { rows, heldOut, needed, curve } }: { savings: SpikeSavings }) {
  const { width, height, left, right, top, bottom } = CHART;
  const x = (share: number) => left + share * (width - left - right);
  const y = (share: number) => height - bottom - share * (height - top - bottom);
  const line = curve.map(({ spikeShare, accuracy }) => `${x(spikeShare).toFixed(1)},${y(accuracy).toFixed(1)}`);
  const end = curve[curve.length - 1];
  return (
    <figure class="spike-curve">
      <figcaption>How soon, on {counted(rows, heldOut ? "held-out row" : "row")}</figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`Share of right classes against the share of spikes seen; certain after ${percent(needed)} on average`}
      >
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line class="grid-line" x1={left} x2={width - right} y1={y(share)} y2={y(share)} />
            <text class="tick" x={left - 5} y={y(share) + 3.5} text-anchor="end">
              {percent(share)}
            </text>
            <text class="tick" x={x(share)} y={height - bottom + 14} text-anchor={share === 1 ? "end" : "middle"}>
              {percent(share)}
            </text>
          </g>
        ))}
        <text class="tick" x={x(0.5)} y={height - 3} text-anchor="middle">
          of the spikes seen
        </text>
        <line class="certain-line" x1={x(needed)} x2={x(needed)} y1={top} y2={height - bottom} />
        <path class="accuracy-line" d={`M${line.join("L")}`} />
      </svg>
      <p class="legend">
        <span class="key accuracy-key">right classes</span>
        <span class="key certain-key">certain, on average</span>
      </p>
      <p class="hint">
        Certain after {percent(needed)} of the spikes, with the answer of all of them: {percent(end?.accuracy ?? 0, 1)}{" "}
        right.
      </p>
    </figure>
  );
}
