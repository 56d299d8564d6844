/**
 * The confusion of features (the paper's figure 1): distributions of features in the order of their means, how well pairs are
 * told apart, and what the gaps add up to against plain ranks.
 */

import { useState } from "preact/hooks";
import type { FeatureStudy } from "../protocol.ts";
import { useAnswer, usePage } from "./context.ts";
import { Notice } from "./notice.tsx";
import { counted, featureName, value } from "./text.ts";

/** Features shown, as in the paper. */
const FEATURES = 20;

export function FeatureView() {
  const data = usePage().data.value;
  const model = usePage().model.value;
  const [group, setGroup] = useState(-1);
  const ready = data && (data.form !== "text" || model?.text);
  const { answer, error, waiting } = useAnswer(
    "study",
    ready ? { group, features: FEATURES } : undefined,
    `${data?.name} ${data?.rows} ${group} ${data?.form === "text" ? model?.digest : ""}`,
  );
  if (!ready) return <p class="muted">{data ? "Train first: the words are found in training." : "No data yet."}</p>;
  return (
    <>
      <p class="hint">
        A filter can draw its weights from ranks, or from how well neighbouring features are told apart (parameter
        “distribution”).
      </p>
      {data.classes.length > 0 && (
        <label class="inline-field">
          Rows of
          <select value={String(group)} onChange={(event) => setGroup(Number(event.currentTarget.value))}>
            <option value="-1">all classes</option>
            {data.classes.slice(0, 200).map((name, c) => (
              <option key={name} value={String(c)}>
                class {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {error && <Notice kind="error" text={error} />}
      {waiting && !answer && <p class="muted">Measuring…</p>}
      {answer && <Study study={answer} />}
    </>
  );
}

function Study({ study }: { study: FeatureStudy }) {
  const [pair, setPair] = useState<{ a: number; b: number }>();
  const size = usePage().imageSize.value;
  const name = (j: number) => featureName(study.names?.[j], study.features[j], size);
  return (
    <div class="study">
      <Ridges study={study} name={name} pair={pair} />
      <Pairwise study={study} name={name} pair={pair} onPair={setPair} />
      <Cumulated study={study} />
    </div>
  );
}

interface PartProps {
  readonly study: FeatureStudy;
  readonly name: (j: number) => string;
  readonly pair: { a: number; b: number } | undefined;
}

/** Distributions one above the other, features of higher mean further up. */
function Ridges({ study, name, pair }: PartProps) {
  const [width, row, left, rise] = [360, 13, 8, 26];
  const shown = study.features.length;
  const points = study.grid.length;
  const height = rise + row * (shown - 1) + 20;
  const x = (g: number) => left + (g / Math.max(points - 1, 1)) * (width - 2 * left);
  const ridge = (j: number) => {
    const floor = rise + row * (shown - 1 - j);
    const top = (g: number) => floor - rise * 0.92 * study.densities[j * points + g];
    const line = Array.from({ length: points }, (_, g) => `${x(g).toFixed(1)},${top(g).toFixed(1)}`).join("L");
    return `M${x(0)},${floor}L${line}L${x(points - 1)},${floor}Z`;
  };
  return (
    <figure>
      <figcaption>How values are distributed</figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`Distributions of ${shown} features, ordered by mean`}
      >
        {Array.from({ length: shown }, (_, up) => shown - 1 - up).map((j) => (
          <path key={j} d={ridge(j)} class={pair?.a === j ? "ridge first" : pair?.b === j ? "ridge second" : "ridge"}>
            <title>{`${name(j)}: mean ${value(study.means[j])}`}</title>
          </path>
        ))}
        <text class="tick" x={left} y={height - 4}>
          {value(study.grid[0])}
        </text>
        <text class="tick" x={width - left} y={height - 4} text-anchor="end">
          {value(study.grid[points - 1])}
        </text>
        <text class="tick" x={width / 2} y={height - 4} text-anchor="middle">
          value
        </text>
      </svg>
      <p class="hint">
        {shown} of the features, lowest mean at the bottom; {counted(study.rows, "row")}, by {study.density}.
      </p>
    </figure>
  );
}

/** How well each pair of the features is told apart: pale is not at all (½), dark is always (1). */
function Pairwise({ study, name, pair, onPair }: PartProps & { onPair: (pair: { a: number; b: number }) => void }) {
  const shown = study.features.length;
  const cell = 15;
  const side = shown * cell;
  const d = (a: number, b: number) => study.discriminability[a * shown + b];
  const { a, b } = pair ?? { a: 0, b: shown - 1 };
  const pick = (event: MouseEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    const at = (offset: number, length: number) =>
      Math.min(shown - 1, Math.max(0, Math.floor((offset / length) * shown)));
    onPair({ a: shown - 1 - at(event.clientY - box.top, box.height), b: at(event.clientX - box.left, box.width) });
  };
  return (
    <figure>
      <figcaption>How well pairs are told apart</figcaption>
      <div class="pairwise">
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the two lists beside it choose the same pair by keyboard */}
        <svg
          viewBox={`0 0 ${side} ${side}`}
          role="img"
          aria-label={`Discriminability of ${shown} by ${shown} features; ${name(a)} and ${name(b)}: ${d(a, b).toFixed(2)}`}
          onClick={pick}
        >
          {Array.from({ length: shown * shown }, (_, j) => {
            const [p, q] = [Math.floor(j / shown), j % shown];
            const strength = Math.max(0, 2 * d(p, q) - 1);
            return (
              <rect
                key={j}
                x={q * cell}
                y={(shown - 1 - p) * cell}
                width={cell}
                height={cell}
                class={pair && ((p === a && q === b) || (p === b && q === a)) ? "pair chosen" : "pair"}
                fill-opacity={0.04 + 0.96 * strength}
              />
            );
          })}
        </svg>
        <div class="pair-choice">
          {(["a", "b"] as const).map((which) => (
            <label key={which}>
              <span class="visually-hidden">{which === "a" ? "First" : "Second"} feature</span>
              <select
                value={String(which === "a" ? a : b)}
                onChange={(event) => onPair({ a, b, [which]: Number(event.currentTarget.value) })}
              >
                {Array.from(study.features, (feature, j) => (
                  <option key={feature} value={String(j)}>
                    {name(j)}
                  </option>
                ))}
              </select>
            </label>
          ))}
          <p>
            discriminability <b>{d(a, b).toFixed(3)}</b>
            <br />
            confusion <b>{(1 - d(a, b)).toFixed(3)}</b>
          </p>
          <p class="hint">½: as good as alike. 1: never mistaken for each other.</p>
        </div>
      </div>
    </figure>
  );
}

/** The running sum of gaps against plain ranks. */
function Cumulated({ study }: { study: FeatureStudy }) {
  const [width, height, left, bottom] = [360, 170, 30, 28];
  const n = study.cumulated.length;
  const x = (position: number) => left + (position / Math.max(n - 1, 1)) * (width - left - 8);
  const y = (share: number) => 8 + (1 - share) * (height - bottom - 8);
  const stride = Math.max(1, Math.floor(n / 400));
  const line = Array.from({ length: Math.ceil(n / stride) }, (_, j) => Math.min(n - 1, j * stride))
    .concat(n - 1)
    .map((position) => `${x(position).toFixed(1)},${y(study.cumulated[position]).toFixed(1)}`)
    .join("L");
  return (
    <figure>
      <figcaption>Cumulated confusion against ranks</figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label="The cumulated confusion distribution and the straight line of ranks"
      >
        {[0, 0.5, 1].map((share) => (
          <g key={share}>
            <line class="grid-line" x1={left} x2={width - 8} y1={y(share)} y2={y(share)} />
            <text class="tick" x={left - 5} y={y(share) + 3.5} text-anchor="end">
              {share === 0.5 ? "½" : share}
            </text>
          </g>
        ))}
        <path class="rank-line" d={`M${x(0)},${y(0)}L${x(n - 1)},${y(1)}`} />
        <path class="accuracy-line" d={`M${line}`} />
        <text class="tick" x={left} y={height - 6}>
          lowest mean
        </text>
        <text class="tick" x={width - 8} y={height - 6} text-anchor="end">
          rank {n}
        </text>
      </svg>
      <p class="legend">
        <span class="key accuracy-key">confusion distribution D</span>
        <span class="key rank-key">ranks</span>
      </p>
      <p class="hint">
        Where D is flat, neighbouring features can hardly be told apart and get nearly the same weight.
      </p>
    </figure>
  );
}
