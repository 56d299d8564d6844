/**
 * The two charts of a report, as SVG: the confusion matrix as a heat map with counts, and curves of training. Colours are
 * classes of the style sheet (`theme.ts`), so one drawing serves light, dark and print.
 */

import type { ConfusionMatrix } from "@ranksim/learn";
import { count } from "../terminal/numbers.ts";
import { cut, displayWidth } from "../terminal/style.ts";
import type { Curve } from "./content.ts";
import { element, escaped, place, svgText } from "./markup.ts";

/** A drawing and its size in pixels. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  /** The elements inside the svg element. */
  readonly body: string;
  readonly about: string;
}

/** The drawing as an element of a page. */
export function svgOf({ width, height, body, about }: Drawing, style = ""): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${place(width)}" height="${place(height)}" viewBox="0 0 ${place(width)} ${place(height)}" role="img" aria-label="${escaped(about)}">${style === "" ? "" : `<style>${style}</style>`}${body}</svg>`;
}

/** Above this many classes the cells become too small for counts, and above the second for names. */
const COUNTED_CLASSES = 30;
const NAMED_CLASSES = 60;
const LETTER = 6.4;

/** The confusion matrix: a row per true class, shaded by the share of the row; right answers in one colour, wrong in another. */
export function confusionChart({ classes, counts }: ConfusionMatrix): Drawing {
  const c = classes.length;
  const names = classes.map((label) => cut(String(label), 22));
  const named = c <= NAMED_CLASSES;
  const longest = named ? Math.max(...names.map(displayWidth)) * LETTER : 0;
  const widestCount = Math.max(...counts, 1).toLocaleString("en-US").length * LETTER + 10;
  const cell = c <= COUNTED_CLASSES ? Math.max(widestCount, 26, Math.min(46, 560 / c)) : Math.max(6, 620 / c);
  const rowHeight = Math.min(cell, 34);
  const left = longest + 36;
  const turned = named && longest > cell - 6;
  const top = (named ? (turned ? longest * 0.78 + 14 : 20) : 8) + 20;
  const parts: string[] = [];
  parts.push(svgText(left, 12, "predicted", { class: "soft" }));
  parts.push(
    svgText(0, 0, "true", {
      class: "soft",
      transform: `translate(11 ${place(top + Math.min(60, (c * rowHeight) / 2))}) rotate(-90)`,
      "text-anchor": "middle",
    }),
  );
  for (let p = 0; p < c && named; p++) {
    const x = left + (p + 0.5) * cell;
    const attributes = turned
      ? { class: "ink", transform: `translate(${place(x + 3)} ${place(top - 8)}) rotate(-50)` }
      : { class: "ink", x, y: top - 7, "text-anchor": "middle" };
    parts.push(element("text", attributes, escaped(names[p])));
  }
  for (let t = 0; t < c; t++) {
    const y = top + t * rowHeight;
    if (named) {
      parts.push(svgText(left - 8, y + rowHeight / 2 + 4, names[t], { class: "ink", "text-anchor": "end" }));
    }
    let support = 0;
    for (let p = 0; p < c; p++) support += counts[t * c + p];
    for (let p = 0; p < c; p++) {
      const found = counts[t * c + p];
      if (found > 0) parts.push(cellOf(t === p, found, found / support, left + p * cell, y, cell, rowHeight, c));
    }
  }
  parts.push(element("rect", { x: left, y: top, width: c * cell, height: c * rowHeight, class: "rule" }));
  return {
    width: left + c * cell + (turned ? longest * 0.66 : 8),
    height: top + c * rowHeight + 4,
    body: parts.join(""),
    about: `Confusion matrix of ${c} classes`,
  };
}

function cellOf(
  right: boolean,
  found: number,
  share: number,
  x: number,
  y: number,
  width: number,
  height: number,
  classes: number,
): string {
  const tone = right ? "accent" : "warm";
  // Mistakes are few; without a lift their shades would look the same.
  const shade = right ? 0.12 + 0.88 * share : Math.min(1, 0.1 + 0.9 * Math.sqrt(share));
  const rect = element("rect", { x, y, width, height, class: tone, "fill-opacity": shade.toFixed(2) });
  if (classes > COUNTED_CLASSES) return rect;
  const ink = shade > 0.62 ? `on-${tone}` : "ink";
  const text = svgText(x + width / 2, y + height / 2 + 4, count(found), { class: ink, "text-anchor": "middle" });
  return rect + text;
}

const CHART = { width: 440, height: 230, left: 46, right: 14, top: 30, bottom: 34 };

/**
 * What share of the rows changed their filter: a thin line per class, a thick one for all rows. Begins with the second
 * iteration, because in the first every row is new.
 */
export function movedChart(curves: readonly Curve[]): Drawing {
  return lineChart("Rows that moved", curves, "moved", "rows", 2);
}

/** What share of the filters won no row. */
export function emptyChart(curves: readonly Curve[]): Drawing {
  return lineChart("Filters without a row", curves, "empty", "filters", 1);
}

function lineChart(
  title: string,
  curves: readonly Curve[],
  part: "moved" | "empty",
  whole: "rows" | "filters",
  from: number,
): Drawing {
  const { width, height, left, right, top, bottom } = CHART;
  const last = Math.max(from + 1, ...curves.map(({ steps }) => steps.length));
  const all = curves.reduce((sum, curve) => sum + curve[whole], 0);
  const total = Array.from(
    { length: Math.max(0, ...curves.map(({ steps }) => steps.length)) },
    (_, i) => curves.reduce((sum, { steps }) => sum + (steps[i]?.[part] ?? 0), 0) / Math.max(1, all),
  ).slice(from - 1);
  const values = curves.map((curve) =>
    curve.steps.slice(from - 1).map((step) => step[part] / Math.max(1, curve[whole])),
  );
  const ceiling = niceCeiling(Math.max(0, ...total, ...values.flat()));
  const x = (iteration: number) => left + ((iteration - from) / (last - from)) * (width - left - right);
  const y = (value: number) => height - bottom - (value / ceiling) * (height - top - bottom);
  const parts: string[] = [svgText(0, 13, title, { class: "ink", "font-weight": "600" })];
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const at = y(share * ceiling);
    parts.push(element("path", { d: `M${left} ${place(at)}H${width - right}`, class: "rule" }));
    parts.push(svgText(left - 7, at + 4, percentLabel(share * ceiling), { class: "soft", "text-anchor": "end" }));
  }
  const every = Math.ceil((last - from + 1) / 12);
  for (let i = from; i <= last; i += every) {
    parts.push(svgText(x(i), height - bottom + 17, String(i), { class: "soft", "text-anchor": "middle" }));
  }
  parts.push(svgText(width - right, height - 2, "iteration", { class: "soft", "text-anchor": "end" }));
  const path = (points: readonly number[]) =>
    points.map((value, i) => `${i === 0 ? "M" : "L"}${place(x(from + i))} ${place(y(value))}`).join("");
  if (curves.length > 1) for (const points of values) parts.push(element("path", { d: path(points), class: "curve" }));
  parts.push(element("path", { d: path(total), class: "curve-all" }));
  total.forEach((value, i) => {
    parts.push(element("circle", { cx: x(from + i), cy: y(value), r: 3, class: "accent" }));
  });
  return { width, height, body: parts.join(""), about: `${title}, by iteration` };
}

/** The next of 1, 2, 4, 8, 20, 40 ... per cent: quarters of it are easy to read. */
function niceCeiling(value: number): number {
  for (const step of [0.004, 0.008, 0.02, 0.04, 0.08, 0.2, 0.4, 0.6, 0.8, 1]) if (value <= step) return step;
  return 1;
}

function percentLabel(share: number): string {
  const value = share * 100;
  return `${Number(value.toFixed(1))} %`;
}
