/** Supplementary Figure S1: PCA and kernel PCA before the linear SVM, beside RST. */

import { table } from "../../bench/show.ts";
import { chart, type Line } from "../drawing/chart.ts";
import { COLORS, LINES, sheet } from "../drawing/plot.ts";
import { pointOf, showSeconds, summarize } from "../drawing/spread.ts";
import { type Experiment, judge } from "../experiment.ts";
import type { Point } from "../spec.ts";
import { transformSvm } from "./figure-2ab.ts";
import { secondsOf } from "./figure-3ab.ts";
import { peer, rowsFor, some } from "./plan.ts";

const TRAIN_ROWS = 60_000;
const COMPONENTS = [10, 25, 50, 150];
const REDUCTIONS = [
  { name: "PCA", sizes: [1000, 3000, 10_000], params: { random_state: 0 } },
  { name: "KernelPCA", sizes: [1000, 3000], params: { kernel: "rbf", random_state: 0 } },
] as const;
const LINEAR = { loss: "hinge", C: 1, random_state: 0 } as const;

function sizesOf(quick: boolean, reduction: (typeof REDUCTIONS)[number]): readonly number[] {
  return quick ? [1000] : reduction.sizes;
}

function choice(quick: boolean, size: number) {
  return rowsFor(quick, "fashion", { trainParts: TRAIN_ROWS / size, seed: 0 });
}

function reduced(quick: boolean, reduction: (typeof REDUCTIONS)[number], size: number, components: number): Point {
  const { name, params } = reduction;
  return peer(`${name} ${components} + SVM, ${size} rows`, "fashion", choice(quick, size), "LinearSVC", LINEAR, {
    scale: "unit",
    before: { system: name, params: { ...params, n_components: components } },
  });
}

function plain(quick: boolean, size: number): Point {
  return peer(`SVM, ${size} rows`, "fashion", choice(quick, size), "LinearSVC", LINEAR, { scale: "unit" });
}

export const figureS1: Experiment = {
  panels: ["figure-s1"],
  title: "Supplementary Figure S1: PCA and kernel PCA before the SVM",
  points: (quick) => [
    ...sizesOf(quick, REDUCTIONS[0]).map((size) => plain(quick, size)),
    ...REDUCTIONS.flatMap((reduction) =>
      sizesOf(quick, reduction).flatMap((size) =>
        some(quick, COMPONENTS).map((components) => reduced(quick, reduction, size, components)),
      ),
    ),
  ],
  section: ({ find, quick }) => {
    const x = { label: "components (RST: filters)", log: true, ticks: COMPONENTS, format: "~g" };
    const components = some(quick, COMPONENTS);
    const lines = (reduction: (typeof REDUCTIONS)[number], value: (point: Point) => number | undefined): Line[] =>
      sizesOf(quick, reduction).flatMap((size) => {
        const look = LINES[[1000, 3000, 10_000].indexOf(size)];
        const alone = value(plain(quick, size));
        return [
          {
            name: "",
            ...look,
            points: components.flatMap((at) => pointOf(at, [value(reduced(quick, reduction, size, at))])),
          },
          {
            name: "",
            color: look.color,
            dash: "2 3",
            points:
              alone === undefined
                ? []
                : [components[0], components[components.length - 1]].map((at) => ({ x: at, y: alone })),
          },
        ];
      });
    const rst = (size: number, filters: number) => transformSvm(quick, size, filters).map(find);
    const f1Of = (point: Point) => find(point)?.macroF1;
    const panel = (reduction: (typeof REDUCTIONS)[number], letters: readonly [string, string]) => [
      {
        title: `${letters[0]}  ${reduction.name === "PCA" ? "PCA" : "kernel PCA"}, F1`,
        ...chart({ x, y: { label: "macro F1", format: ".2f" }, width: 340, lines: lines(reduction, f1Of) }),
      },
      {
        title: `${letters[1]}  ${reduction.name === "PCA" ? "PCA" : "kernel PCA"}, time`,
        ...chart({
          x,
          y: { label: "processor time, s (reduce, train, predict 10,000)", log: true },
          width: 340,
          lines: lines(reduction, (point) => secondsOf(find(point))),
        }),
      },
    ];
    const plot = sheet(
      "figure-s1.svg",
      "F1 and time of a linear SVM behind PCA and kernel PCA",
      [...panel(REDUCTIONS[0], ["A", "B"]), ...panel(REDUCTIONS[1], ["C", "D"])],
      [
        ...[1000, 3000, 10_000].map((size, j) => ({
          name: `${size.toLocaleString("en-US")} training rows`,
          ...LINES[j],
        })),
        { name: "the same rows without reduction", color: COLORS.grey, dash: "2 3" },
      ],
      2,
    );
    const rows = REDUCTIONS.flatMap((reduction) =>
      sizesOf(quick, reduction).map((size) => [
        `${reduction.name === "PCA" ? "PCA" : "kernel PCA"}, ${size.toLocaleString("en-US")} rows`,
        ...components.map((at) => {
          const run = find(reduced(quick, reduction, size, at));
          return run ? `${run.macroF1?.toFixed(3)}; ${showSeconds(secondsOf(run))}` : "–";
        }),
        find(plain(quick, size))
          ? `${f1Of(plain(quick, size))?.toFixed(3)}; ${showSeconds(secondsOf(find(plain(quick, size))))}`
          : "–",
      ]),
    );
    const gains = (reduction: (typeof REDUCTIONS)[number]) =>
      sizesOf(quick, reduction).flatMap((size) =>
        components.map((at) => {
          const [with_, without] = [f1Of(reduced(quick, reduction, size, at)), f1Of(plain(quick, size))];
          return with_ === undefined || without === undefined ? undefined : with_ <= without + 0.005;
        }),
      );
    const speed = (reduction: (typeof REDUCTIONS)[number], at: number) =>
      sizesOf(quick, reduction).map((size) => {
        const [with_, without] = [
          secondsOf(find(reduced(quick, reduction, size, at))),
          secondsOf(find(plain(quick, size))),
        ];
        return with_ && without ? without / with_ : undefined;
      });
    const times = (values: readonly (number | undefined)[]) =>
      values.map((value) => (value === undefined ? "–" : `${value.toPrecision(2)}×`)).join(", ");
    const rstAt = (size: number) => summarize(rst(size, 150).map((run) => run?.macroF1))?.mean;
    const below = [1000, 10_000].map((size) => {
      const [one, other] = [rstAt(size), f1Of(reduced(quick, REDUCTIONS[0], size, 150))];
      return one === undefined || other === undefined ? undefined : other < one;
    });
    const kernelBelow = [1000].map((size) => {
      const [one, other] = [rstAt(size), f1Of(reduced(quick, REDUCTIONS[1], size, 150))];
      return one === undefined || other === undefined ? undefined : other < one;
    });
    return {
      text: [
        table(["", ...components.map((at) => `${at} components`), "without"], rows),
        "Macro F1; processor time of reduction, training and prediction together. scikit-learn's PCA, KernelPCA (RBF, gamma = 1/784) and LinearSVC (hinge loss, C = 1), pixels scaled to 0..1, one seed. Kernel PCA of 10,000 rows and more was left out: its matrix grows with the square of the rows.",
      ].join("\n\n"),
      plots: [plot],
      claims: [
        {
          paper: "PCA brings no gain in F1, and a slight speed-up only with fewer than about 50 components",
          ours: `time without / with: ${times(speed(REDUCTIONS[0], 25))} at 25 components, ${times(speed(REDUCTIONS[0], 150))} at 150 (1,000, 3,000, 10,000 rows)`,
          verdict: judge([
            allOrUndefined(gains(REDUCTIONS[0])),
            ...speed(REDUCTIONS[0], 25).map((value) => (value === undefined ? undefined : value > 1)),
            ...speed(REDUCTIONS[0], 150).map((value) => (value === undefined ? undefined : value < 3)),
          ]),
        },
        {
          paper: "Kernel PCA brings neither a gain in F1 nor a speed-up",
          ours: `time without / with: ${times(COMPONENTS.flatMap((at) => speed(REDUCTIONS[1], at).slice(-1)))} at ${COMPONENTS.join(", ")} components of 3,000 rows`,
          verdict: judge([
            allOrUndefined(gains(REDUCTIONS[1])),
            allOrUndefined(
              components.flatMap((at) =>
                speed(REDUCTIONS[1], at).map((value) => (value === undefined ? undefined : value < 1)),
              ),
            ),
          ]),
        },
        {
          paper: "Behind PCA and kernel PCA the SVM stays below RST",
          ours: `150 dimensions: PCA ${[1000, 10_000].map((size) => f1Of(reduced(quick, REDUCTIONS[0], size, 150))?.toFixed(3) ?? "–").join(", ")}, RST ${[1000, 10_000].map((size) => rstAt(size)?.toFixed(3) ?? "–").join(", ")} (1,000 and 10,000 rows); kernel PCA ${f1Of(reduced(quick, REDUCTIONS[1], 1000, 150))?.toFixed(3) ?? "–"} (1,000 rows)`,
          verdict: judge([...below, ...kernelBelow]),
        },
      ],
    };
  },
};

function allOrUndefined(parts: readonly (boolean | undefined)[]): boolean | undefined {
  return parts.some((part) => part === undefined) ? undefined : parts.every((part) => part);
}
