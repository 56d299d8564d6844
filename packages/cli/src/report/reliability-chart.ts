/** The reliability of probabilities as a drawing: what share of decisions is right at each probability, and how many there are. */

import type { Reliability } from "@ranksim/learn";
import { counted } from "../terminal/numbers.ts";
import type { Drawing } from "./charts.ts";
import { element, place, svgText } from "./markup.ts";

const SIDE = 300;
const BARS = 56;
const LEFT = 46;
const TOP = 30;
const GAP = 30;
const SMALLEST_DOT = 2.5;
const LARGEST_DOT = 8;

/**
 * Probability against the share that is right, a dot for each interval, larger for more decisions; on the diagonal
 * probabilities can be believed. Below, how many decisions fall into each interval. Where probabilities were fitted, those
 * before are drawn hollow.
 */
export function reliabilityChart({ bins, before }: Reliability): Drawing {
  const x = (share: number) => LEFT + share * SIDE;
  const y = (share: number) => TOP + (1 - share) * SIDE;
  const bottom = TOP + SIDE + GAP;
  const parts: string[] = [svgText(0, 13, "Right decisions by probability", { class: "ink", "font-weight": "600" })];
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const label = `${share * 100} %`;
    parts.push(element("path", { d: `M${LEFT} ${place(y(share))}H${LEFT + SIDE}`, class: "rule" }));
    parts.push(element("path", { d: `M${place(x(share))} ${TOP}V${TOP + SIDE}`, class: "rule" }));
    parts.push(svgText(LEFT - 7, y(share) + 4, label, { class: "soft", "text-anchor": "end" }));
    parts.push(svgText(x(share), TOP + SIDE + 16, label, { class: "soft", "text-anchor": "middle" }));
  }
  parts.push(element("path", { d: `M${x(0)} ${y(0)}L${x(1)} ${y(1)}`, class: "ideal" }));
  if (before) parts.push(curve(before.bins, x, y, "before"));
  parts.push(curve(bins, x, y, "after"));

  const most = Math.max(1, ...[...bins, ...(before?.bins ?? [])].map((bin) => bin.count));
  const bar = (list: Reliability["bins"], tone: string) =>
    list
      .filter((bin) => bin.count > 0)
      .map(({ from, to, count: decisions }) => {
        const height = Math.max(1, (decisions / most) * BARS);
        const area = { x: x(from) + 1, y: bottom + BARS - height, width: x(to) - x(from) - 2, height };
        return element("rect", { ...area, class: tone });
      })
      .join("");
  if (before) parts.push(bar(before.bins, "bar-before"));
  parts.push(bar(bins, before ? "bar-after" : "bar"));
  parts.push(element("path", { d: `M${LEFT} ${bottom + BARS}H${LEFT + SIDE}`, class: "rule" }));
  const caption = `probability; the highest bar is ${counted(most, "decision")}`;
  parts.push(svgText(x(0.5), bottom + BARS + 16, caption, { class: "soft", "text-anchor": "middle" }));
  if (before) parts.push(legend(bottom + BARS + 34));
  const height = bottom + BARS + (before ? 42 : 22);
  return { width: LEFT + SIDE + 22, height, body: parts.join(""), about: "Reliability of probabilities" };
}

function curve(
  bins: Reliability["bins"],
  x: (share: number) => number,
  y: (share: number) => number,
  tone: "before" | "after",
): string {
  const filled = bins.filter(({ count: decisions }) => decisions > 0);
  const most = Math.max(1, ...filled.map(({ count: decisions }) => decisions));
  const path = filled.map(({ probability, right }, j) => {
    return `${j === 0 ? "M" : "L"}${place(x(probability))} ${place(y(right))}`;
  });
  const dots = filled.map(({ probability, right, count: decisions }) => {
    const r = Math.max(SMALLEST_DOT, LARGEST_DOT * Math.sqrt(decisions / most));
    return element("circle", { cx: x(probability), cy: y(right), r, class: tone === "after" ? "accent" : "hollow" });
  });
  return element("path", { d: path.join(""), class: tone === "after" ? "curve-all" : "curve" }) + dots.join("");
}

function legend(y: number): string {
  const entry = (x: number, mark: string, text: string) =>
    element("circle", { cx: x, cy: y - 4, r: 4, class: mark }) + svgText(x + 9, y, text, { class: "soft" });
  return entry(LEFT + 4, "hollow", "before fitting") + entry(LEFT + 110, "accent", "fitted to held-out rows");
}
