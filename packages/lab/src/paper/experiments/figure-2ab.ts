/** Figure 2 A and B: F1 and time of a linear SVM behind RST, and on raw pixels, against the number of training rows. */

import { table } from "../../bench/show.ts";
import { chart, type Line } from "../drawing/chart.ts";
import { COLORS, LINES, sheet } from "../drawing/plot.ts";
import { meanAndDeviation, pointOf, showSeconds, summarize } from "../drawing/spread.ts";
import { type Experiment, type Found, judge } from "../experiment.ts";
import type { Point, Scale } from "../spec.ts";
import { ours, rowsFor, SVM, seedsFor, some } from "./plan.ts";

const TRAIN_ROWS = 60_000;
const SIZES = [1000, 3000, 10_000, 30_000, 60_000];
const FILTERS = [50, 150, 500, 1500];
/** Sizes above which the SVM on raw pixels is run once, not three times, and after all other points. */
const SLOW_RAW = 10_000;

function choice(quick: boolean, size: number, seed: number) {
  const parts = TRAIN_ROWS / size;
  return rowsFor(quick, "fashion", parts === 1 ? { seed: 0 } : { trainParts: parts, seed });
}

/** The SVM behind RST at one size and number of filters, all seeds. */
export function transformSvm(quick: boolean, size: number, filters: number): readonly Point[] {
  return seedsFor(quick).map((seed) =>
    ours(
      `RST ${filters} + SVM, ${size} rows, seed ${seed}`,
      "fashion",
      choice(quick, size, seed),
      "rst-svm",
      { filters, seed },
      { svm: SVM },
    ),
  );
}

/** The SVM on pixels: bytes as they are, or scaled to 0..1. */
export function rawSvm(quick: boolean, size: number, scale: Scale): readonly Point[] {
  const slow = size > SLOW_RAW;
  return seedsFor(quick || slow).map((seed) =>
    ours(
      `SVM on ${scale === "none" ? "bytes" : "pixels of 0 to 1"}, ${size} rows, seed ${seed}`,
      "fashion",
      choice(quick, size, seed),
      "svm",
      SVM,
      { late: slow, ...(scale === "none" ? {} : { scale }) },
    ),
  );
}

const RAW = [
  { scale: "none", name: "pixels, 0 to 255", color: COLORS.grey, sign: "cross" },
  { scale: "unit", name: "pixels, 0 to 1", color: COLORS.black, sign: "star" },
] as const;

interface Variant {
  readonly name: string;
  readonly color: string;
  readonly sign: Line["sign"] & string;
  readonly points: (size: number) => readonly Point[];
}

function variants(quick: boolean): readonly Variant[] {
  return [
    ...some(quick, FILTERS).map((filters) => ({
      name: `RST, ${filters.toLocaleString("en-US")} filters`,
      ...LINES[FILTERS.indexOf(filters)],
      points: (size: number) => transformSvm(quick, size, filters),
    })),
    ...RAW.map(({ scale, ...look }) => ({ ...look, points: (size: number) => rawSvm(quick, size, scale) })),
  ];
}

/** Mean F1 and mean seconds of some points. */
export function means({ find }: Found, points: readonly Point[]) {
  const found = points.map(find);
  return {
    f1: summarize(found.map((run) => run?.macroF1)),
    seconds: summarize(found.map((run) => run?.seconds && run.seconds.train + run.seconds.apply)),
  };
}

export const figure2ab: Experiment = {
  panels: ["figure-2a", "figure-2b"],
  title: "Figure 2 A, B: RST before a linear SVM, against the number of training rows",
  points: (quick) => variants(quick).flatMap(({ points }) => some(quick, SIZES).flatMap((size) => points(size))),
  section: (found) => {
    const { find, quick } = found;
    const sizes = some(quick, SIZES);
    const lines = (value: (point: Point) => number | undefined): Line[] =>
      variants(quick).map(({ points, ...look }) => ({
        ...look,
        points: sizes.flatMap((size) => pointOf(size, points(size).map(value))),
      }));
    const x = { label: "training rows", log: true, ticks: SIZES, format: "~s" };
    const plot = sheet(
      "figure-2ab.svg",
      "F1 and processor time of a linear SVM behind RST and on raw pixels against training rows",
      [
        {
          title: "A  F1",
          ...chart({ x, y: { label: "macro F1", format: ".2f" }, lines: lines((point) => find(point)?.macroF1) }),
        },
        {
          title: "B  time",
          ...chart({
            x,
            y: { label: "processor time, s (transform, train, predict 10,000)", log: true },
            lines: lines((point) => {
              const seconds = find(point)?.seconds;
              return seconds && seconds.train + seconds.apply;
            }),
          }),
        },
      ],
      variants(quick).map(({ points: _, ...look }) => look),
    );
    const at = (size: number, points: (size: number) => readonly Point[]) => means(found, points(size));
    const body = variants(quick).map(({ name, points }) => [
      name,
      ...sizes.map((size) => {
        const { f1, seconds } = at(size, points);
        return f1 ? `${meanAndDeviation(f1, 3)}; ${showSeconds(seconds?.mean)}` : "–";
      }),
    ]);
    const many = FILTERS.filter((filters) => filters >= 150);
    const wins = (scale: Scale) =>
      sizes.flatMap((size) =>
        many.map((filters) => {
          const [rst, raw] = [
            means(found, transformSvm(quick, size, filters)),
            means(found, rawSvm(quick, size, scale)),
          ];
          return rst.f1 && raw.f1 ? rst.f1.mean > raw.f1.mean : undefined;
        }),
      );
    const speedUps = (scale: Scale, filters: number) =>
      sizes.map((size) => {
        const [rst, raw] = [means(found, transformSvm(quick, size, filters)), means(found, rawSvm(quick, size, scale))];
        return rst.seconds && raw.seconds ? raw.seconds.mean / rst.seconds.mean : undefined;
      });
    const largest = (values: readonly (number | undefined)[]) => {
      const known = values.filter((value) => value !== undefined);
      return known.length > 0 ? Math.max(...known) : undefined;
    };
    const times = (value: number | undefined) => (value === undefined ? "–" : `${value.toPrecision(2)}×`);
    const won = (parts: readonly (boolean | undefined)[]) =>
      `${parts.filter((part) => part).length} of ${parts.filter((part) => part !== undefined).length}`;
    const best = largest([150, 500, 1500].flatMap((filters) => speedUps("none", filters)));
    const bestUnit = largest([150, 500, 1500].flatMap((filters) => speedUps("unit", filters)));
    const complete = sizes.every((size) => means(found, rawSvm(quick, size, "none")).seconds);
    // A larger speed-up may still be found while sizes are missing.
    const reached = (wanted: number) =>
      best !== undefined && best >= wanted ? true : complete && best !== undefined ? false : undefined;
    const wide = speedUps("none", 1500);
    return {
      text: [
        table(["input of the SVM", ...sizes.map((size) => `${size.toLocaleString("en-US")} rows`)], body),
        "Macro F1 on the 10,000 test rows, mean ± standard deviation of 3 seeds (pixels: 1 seed above 10,000 rows); processor time of transform, training and prediction. The SVM is ours (hinge loss, C = 1, one class against the rest, at most 1,000 passes: the benchmark's best). The paper gives it bytes as they are, on which it does not converge; scaled to 0..1 it does better, so both lines are drawn.",
      ].join("\n\n"),
      plots: [plot],
      claims: [
        {
          paper: "With 150 filters or more RST raises the F1 of the linear SVM above that on raw pixels",
          ours: `above bytes at ${won(wins("none"))} sizes and filter counts, above pixels of 0..1 at ${won(wins("unit"))}`,
          verdict: judge([...wins("none"), ...wins("unit")]),
        },
        {
          paper: "RST makes the SVM faster by almost two orders of magnitude, the transform included",
          ours: `at most ${times(best)} against bytes, ${times(bestUnit)} against pixels of 0..1 (150 filters and more)`,
          verdict: judge([reached(10), reached(50)]),
        },
        {
          paper: "It is faster also with more filters (1,500) than pixels (784)",
          ours: `${wide.map(times).join(", ")} against bytes at ${sizes.map((size) => size.toLocaleString("en-US")).join(", ")} rows`,
          verdict: judge(wide.map((value) => (value === undefined ? undefined : value > 1))),
        },
      ],
    };
  },
};
