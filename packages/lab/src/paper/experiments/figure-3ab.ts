/** Figure 3 A and B: F1 and processor time of RSC against the number of training rows of Fashion-MNIST. */

import { table } from "../../bench/show.ts";
import { chart } from "../drawing/chart.ts";
import { COLORS, LINES, sheet } from "../drawing/plot.ts";
import { meanAndDeviation, pointOf, showSeconds, summarize } from "../drawing/spread.ts";
import { type Experiment, judge } from "../experiment.ts";
import type { Measured, Point } from "../spec.ts";
import { rawSvm, transformSvm } from "./figure-2ab.ts";
import { ours, rowsFor, seedsFor, some } from "./plan.ts";

const TRAIN_ROWS = 60_000;
const SIZES = [1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000];

/** RSC at one size, all seeds. */
export function rscPoints(quick: boolean, size: number): readonly Point[] {
  return seedsFor(quick).map((seed) => {
    const parts = TRAIN_ROWS / size;
    const rows = rowsFor(quick, "fashion", parts === 1 ? { seed: 0 } : { trainParts: parts, seed });
    return ours(`RSC, ${size} rows, seed ${seed}`, "fashion", rows, "rsc", { seed });
  });
}

/** Seconds of training and applying together. */
export function secondsOf(measured: Measured | undefined): number | undefined {
  return measured?.seconds && measured.seconds.train + measured.seconds.apply;
}

export const figure3ab: Experiment = {
  panels: ["figure-3a", "figure-3b"],
  title: "Figure 3 A, B: RSC against the number of training rows",
  points: (quick) => some(quick, SIZES).flatMap((size) => rscPoints(quick, size)),
  section: ({ find, quick }) => {
    const sizes = some(quick, SIZES);
    const measured = sizes.map((size) => rscPoints(quick, size).map(find));
    const f1 = measured.map((runs) => runs.map((run) => run?.macroF1));
    const seconds = measured.map((runs) => runs.map(secondsOf));
    const size = { label: "training rows", log: true, ticks: [1000, 3000, 10_000, 30_000, 60_000], format: "~s" };
    const time = { label: "processor time, s (train on the rows, predict 10,000)", log: true };
    const score = { label: "macro F1", domain: [0.7, 0.9] as const, format: ".2f" };
    const dots = sizes.flatMap((_, j) => {
      const [x, y] = [summarize(seconds[j]), summarize(f1[j])];
      return x && y ? [{ x: x.mean, y: y.mean, low: y.mean - y.deviation, high: y.mean + y.deviation }] : [];
    });
    const plot = sheet(
      "figure-3ab.svg",
      "F1 and processor time of RSC both rise with the number of training rows",
      [
        {
          title: "A  F1",
          ...chart({
            x: size,
            y: score,
            width: 300,
            lines: [{ name: "", ...LINES[0], points: sizes.flatMap((x, j) => pointOf(x, f1[j])) }],
          }),
        },
        {
          title: "A  time",
          ...chart({
            x: size,
            y: { label: "processor time, s", log: true },
            width: 300,
            lines: [
              {
                name: "",
                color: COLORS.green,
                sign: "triangle",
                points: sizes.flatMap((x, j) => pointOf(x, seconds[j])),
              },
            ],
          }),
        },
        {
          title: "B  F1 against time",
          ...chart({
            x: { ...time, label: "processor time, s" },
            y: score,
            width: 300,
            lines: [{ name: "", ...LINES[0], points: dots }],
          }),
        },
      ],
      [
        { name: "RSC, macro F1 (mean and range of the seeds)", ...LINES[0] },
        { name: "RSC, processor time of training and predicting 10,000 rows", color: COLORS.green, sign: "triangle" },
      ],
    );
    const compared = (quick ? [] : [1000, 10_000, 60_000]).map((rows) => {
      const at = sizes.indexOf(rows);
      const best = (points: readonly Point[]) => summarize(points.map((point) => find(point)?.macroF1))?.mean;
      const quickest = (points: readonly Point[]) => summarize(points.map((point) => secondsOf(find(point))))?.mean;
      const rst = transformSvm(quick, rows, 1500);
      const raw = rawSvm(quick, rows, "none");
      return {
        f1: { rsc: summarize(f1[at])?.mean, rst: best(rst), raw: best(raw) },
        seconds: { rsc: summarize(seconds[at])?.mean, rst: quickest(rst), raw: quickest(raw) },
      };
    });
    const grows = dots.every((dot, j) => j === 0 || (dot.x > dots[j - 1].x && dot.y > dots[j - 1].y));
    const all = dots.length === sizes.length;
    return {
      text: table(
        ["training rows", "macro F1", "train", "predict 10,000"],
        sizes.map((rows, j) => [
          rows.toLocaleString("en-US"),
          meanAndDeviation(summarize(f1[j])),
          showSeconds(summarize(measured[j].map((run) => run?.seconds?.train))?.mean),
          showSeconds(summarize(measured[j].map((run) => run?.seconds?.apply))?.mean),
        ]),
      ),
      plots: [plot],
      claims: [
        {
          paper: "F1 and time rise together as training rows are added",
          ours: all
            ? `from ${dots[0].y.toFixed(3)} in ${showSeconds(dots[0].x)} to ${dots[dots.length - 1].y.toFixed(3)} in ${showSeconds(dots[dots.length - 1].x)}`
            : "–",
          verdict: judge([all ? grows : undefined]),
        },
        {
          paper: "RSC has a higher F1 than the linear SVM, alone and behind RST, at every number of rows",
          ours: `RSC / RST (1,500) + SVM / SVM on pixels at 1,000, 10,000, 60,000 rows: ${compared.map(({ f1 }) => [f1.rsc, f1.rst, f1.raw].map((value) => value?.toFixed(3) ?? "–").join(" / ")).join("; ")}`,
          verdict: judge(
            compared
              .flatMap(({ f1 }) => [f1.rsc && f1.rst && f1.rsc > f1.rst, f1.rsc && f1.raw && f1.rsc > f1.raw])
              .map((part) => (part === 0 ? undefined : part)),
          ),
        },
        {
          paper: "RSC takes less time than RST with the SVM, although it has more filters",
          ours: `RSC / RST (1,500) + SVM: ${compared.map(({ seconds }) => [seconds.rsc, seconds.rst].map(showSeconds).join(" / ")).join("; ")}`,
          verdict: judge(compared.map(({ seconds: { rsc, rst } }) => (rsc && rst ? rsc < rst : undefined))),
        },
      ],
    };
  },
};
