/** F1 and processor time of points, side by side. */

import { type Axis, chart, type Line } from "../drawing/chart.ts";
import type { Panel } from "../drawing/plot.ts";
import type { Found } from "../experiment.ts";
import type { Measured, Point } from "../spec.ts";

/** Seconds of training and applying together. */
export function secondsOf(measured: Measured | undefined): number | undefined {
  return measured?.seconds && measured.seconds.train + measured.seconds.apply;
}

/** Two panels with the same lines, whose heights are made by `value`. `work` is what the time covers. */
export function scoreAndTime(
  { find }: Found,
  titles: readonly [score: string, time: string],
  x: Axis,
  work: string,
  lines: (value: (point: Point) => number | undefined) => Line[],
  width = 420,
): (Panel & { readonly title: string })[] {
  const score = { label: "macro F1", format: ".2f" };
  const time = { label: `processor time, s (${work}, train, predict 10,000)`, log: true };
  return [
    { title: titles[0], ...chart({ x, y: score, width, lines: lines((point) => find(point)?.macroF1) }) },
    { title: titles[1], ...chart({ x, y: time, width, lines: lines((point) => secondsOf(find(point))) }) },
  ];
}
