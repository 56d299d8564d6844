/**
 * The plot of tuning, as SVG: the score of each candidate against what a prediction costs, the size of its model as the
 * area of the dot, the Pareto front as a line. Colours are classes of the style sheet.
 */

import { brief, bytes } from "../terminal/numbers.ts";
import type { Drawing } from "./charts.ts";
import { element, escaped, place, svgText } from "./markup.ts";
import type { CandidateView, TuningView } from "./tuning-content.ts";

const FRAME = { width: 940, height: 480, left: 48, right: 16, top: 50, bottom: 56 };
const SMALLEST = 3.5;
const LARGEST = 17;
const LETTER = 5.7;

type Judged = CandidateView & { readonly judged: NonNullable<CandidateView["judged"]> };

/** Score against multiply-adds a row. */
export function tradeOffChart(view: TuningView): Drawing {
  const { width, height, left, right, top, bottom } = FRAME;
  const shown = view.candidates.filter((candidate): candidate is Judged => candidate.judged !== undefined);
  const costs = shown.map(({ judged }) => Math.max(1, judged.multiplyAdds));
  const scale = costScale(Math.min(...costs), Math.max(...costs));
  const ticks = scoreTicks(
    shown.flatMap(({ outcome, judged: { score, standardDeviation } }) =>
      outcome === "finished" ? [score - standardDeviation, score + standardDeviation] : [score],
    ),
  );
  const [low, high] = [ticks[0], ticks[ticks.length - 1]];
  const x = (cost: number) => left + 22 + scale.at(Math.max(1, cost)) * (width - left - right - 44);
  const y = (score: number) => height - bottom - ((score - low) / (high - low)) * (height - top - bottom);
  const finished = shown.filter(({ outcome }) => outcome === "finished");
  const largest = Math.max(...(finished.length > 0 ? finished : shown).map(({ judged }) => judged.bytes));
  const radius = (size: number) =>
    SMALLEST + (LARGEST - SMALLEST) * Math.sqrt(Math.min(1, size / Math.max(1, largest)));

  const parts: string[] = [
    svgText(0, 15, `${view.scoring} against cost`, { class: "ink", "font-weight": "600", "font-size": 13 }),
  ];
  for (const tick of ticks) {
    parts.push(element("path", { d: `M${left} ${place(y(tick))}H${width - right}`, class: "rule" }));
    parts.push(svgText(left - 9, y(tick) + 4, scoreLabel(tick, ticks), { class: "soft", "text-anchor": "end" }));
  }
  for (const cost of scale.ticks) {
    parts.push(element("path", { d: `M${place(x(cost))} ${height - bottom}v5`, class: "rule" }));
    parts.push(svgText(x(cost), height - bottom + 20, brief(cost), { class: "soft", "text-anchor": "middle" }));
  }
  parts.push(
    svgText(width - right, height - 12, "multiply-adds to predict one row", { class: "soft", "text-anchor": "end" }),
  );

  const front = shown.filter(({ onFront }) => onFront).sort((a, b) => a.judged.multiplyAdds - b.judged.multiplyAdds);
  const upper = front.filter(({ judged }, j) => front.slice(0, j).every((other) => other.judged.score < judged.score));
  const path = upper.map(
    ({ judged }, j) => `${j === 0 ? "M" : "L"}${place(x(judged.multiplyAdds))} ${place(y(judged.score))}`,
  );
  parts.push(element("path", { d: path.join(""), class: "curve-all", "stroke-opacity": "0.55" }));

  // Large dots first, so that small ones lie on top of them.
  for (const candidate of shown.toSorted((a, b) => b.judged.bytes - a.judged.bytes)) {
    const { judged, outcome, onFront, title } = candidate;
    const at = { cx: x(judged.multiplyAdds), cy: y(judged.score) };
    const tip = element("title", {}, escaped(tipOf(candidate)));
    if (outcome !== "finished") {
      parts.push(element("circle", { ...at, r: 3, class: "curve", "aria-label": title }, tip));
      continue;
    }
    const [up, down] = [y(judged.score + judged.standardDeviation), y(judged.score - judged.standardDeviation)];
    parts.push(element("path", { d: `M${place(at.cx)} ${place(up)}V${place(down)}`, class: "curve" }));
    const tone = onFront ? { class: "accent", "fill-opacity": "0.82" } : { class: "soft", "fill-opacity": "0.38" };
    parts.push(element("circle", { ...at, r: radius(judged.bytes), ...tone, "aria-label": title }, tip));
  }
  const best = shown[0];
  parts.push(
    element("circle", {
      cx: x(best.judged.multiplyAdds),
      cy: y(best.judged.score),
      r: radius(best.judged.bytes) + 4,
      class: "ring",
    }),
  );
  parts.push(...labels(upper, best, x, y, radius));
  parts.push(
    ...legend(
      largest,
      radius,
      shown.some(({ outcome }) => outcome !== "finished"),
    ),
  );
  return {
    width,
    height,
    body: parts.join(""),
    about: `${view.scoring} of ${shown.length} candidates against the cost of a prediction`,
  };
}

function tipOf({ title, judged, outcome }: Judged): string {
  return `${title}: ${judged.score.toFixed(4)} ± ${judged.standardDeviation.toFixed(4)}, ${brief(judged.multiplyAdds)} multiply-adds, ${bytes(judged.bytes)}${outcome === "finished" ? "" : ` (${outcome}, ${judged.rows} rows)`}`;
}

/** Names of the front's candidates, each where it hides no other name and no dot of the front. */
function labels(
  front: readonly Judged[],
  best: Judged,
  x: (cost: number) => number,
  y: (score: number) => number,
  radius: (bytes: number) => number,
): string[] {
  const boxes: (readonly [left: number, top: number, right: number, bottom: number])[] = front.map(({ judged }) => {
    const r = radius(judged.bytes);
    const [cx, cy] = [x(judged.multiplyAdds), y(judged.score)];
    return [cx - r, cy - r, cx + r, cy + r] as const;
  });
  const parts: string[] = [];
  const named = [best, ...front.toReversed()].filter((candidate, j, all) => all.indexOf(candidate) === j);
  for (const candidate of named) {
    const { title, judged } = candidate;
    const width = title.length * LETTER;
    const r = radius(judged.bytes) + 7;
    const [cx, cy] = [x(judged.multiplyAdds), y(judged.score)];
    const spots = [
      { left: cx - r - width, base: cy - r * 0.55, anchor: "end", x: cx - r },
      { left: cx - width / 2, base: cy - r - 3, anchor: "middle", x: cx },
      { left: cx + r, base: cy + 4, anchor: "start", x: cx + r },
      { left: cx - width / 2, base: cy + r + 10, anchor: "middle", x: cx },
    ];
    const spot = spots.find(({ left, base }) => {
      const box = [left, base - 11, left + width, base + 3] as const;
      const inside =
        left > FRAME.left &&
        left + width < FRAME.width - 4 &&
        base > FRAME.top - 6 &&
        base < FRAME.height - FRAME.bottom;
      return (
        inside &&
        !boxes.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])
      );
    });
    if (!spot) continue;
    boxes.push([spot.left, spot.base - 11, spot.left + width, spot.base + 3]);
    const weight = candidate === best ? { "font-weight": "600" } : {};
    parts.push(svgText(spot.x, spot.base, title, { class: "ink", "text-anchor": spot.anchor, ...weight }));
  }
  return parts;
}

/** What the marks mean, along the top. */
function legend(largest: number, radius: (bytes: number) => number, someDropped: boolean): string[] {
  const y = 11;
  const r = Math.min(8, radius(largest));
  const entries: [mark: (at: number) => string, text: string][] = [
    [
      (at) => element("circle", { cx: at, cy: y, r, class: "accent", "fill-opacity": "0.82" }),
      `on the front; area: size, up to ${bytes(largest)}`,
    ],
    [(at) => element("circle", { cx: at, cy: y, r: 6, class: "soft", "fill-opacity": "0.38" }), "beaten"],
    ...(someDropped
      ? [
          [(at: number) => element("circle", { cx: at, cy: y, r: 3, class: "curve" }), "judged on fewer rows"] as [
            (at: number) => string,
            string,
          ],
        ]
      : []),
    [(at) => element("circle", { cx: at, cy: y, r: 7, class: "ring" }), "best"],
  ];
  const parts: string[] = [];
  let left = FRAME.width - FRAME.right - entries.reduce((sum, [, text]) => sum + widthOf(text), 0);
  for (const [mark, text] of entries) {
    parts.push(mark(left + 8), svgText(left + 22, y + 4, text, { class: "soft" }));
    left += widthOf(text);
  }
  return parts;
}

/** Room of an entry of the legend: its mark, its text and a gap. */
const widthOf = (text: string): number => text.length * LETTER + 34;

/** A logarithmic scale: where a cost stands from 0 to 1, and costs to mark. */
function costScale(least: number, most: number): { at: (cost: number) => number; ticks: number[] } {
  const [a, b] = [Math.log10(least), Math.log10(most)];
  const span = Math.max(0.5, b - a);
  const from = (a + b - span) / 2;
  const at = (cost: number) => (Math.log10(cost) - from) / span;
  const ticks: number[] = [];
  const steps = span > 3 ? [1] : span > 1.2 ? [1, 3] : [1, 2, 3, 5, 7];
  for (let power = Math.floor(from) - 1; power <= from + span + 1; power++) {
    for (const step of steps) {
      const cost = step * Number(`1e${power}`);
      if (at(cost) >= -0.02 && at(cost) <= 1.02) ticks.push(cost);
    }
  }
  return { at, ticks };
}

/** Between four and eight round scores that hold all of them. */
function scoreTicks(scores: readonly number[]): number[] {
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  const room = Math.max(high - low, 0.004);
  const step = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5].find((size) => room / size <= 6) ?? 10;
  const first = Math.floor((low - room * 0.02) / step);
  const last = Math.ceil((high + room * 0.04) / step);
  return Array.from({ length: last - first + 1 }, (_, j) => (first + j) * step);
}

function scoreLabel(score: number, ticks: readonly number[]): string {
  const step = ticks[1] - ticks[0];
  return score.toFixed(step < 0.0099 ? 3 : step < 0.99 ? 2 : 0);
}
