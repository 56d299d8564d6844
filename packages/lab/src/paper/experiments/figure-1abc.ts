/** Figure 1 A to C: the features of two classes, how well pairs of them are told apart, and that as a function of a value. */

import * as Observable from "@observablehq/plot";
import { kdeConfusion } from "@ranksim/core/research";
import { chart } from "../drawing/chart.ts";
import { COLORS, type Panel, sheet } from "../drawing/plot.ts";
import { type Experiment, judge } from "../experiment.ts";
import { gaussian, integrateConfusion, sampledDensity, vanDerCorput } from "./densities.ts";

const FEATURES = 20;
const DEVIATION = 0.06;
const SEPARATIONS = [1, 2, 4];
/** What the estimate loses beyond the lowest and highest value of a sample. */
const ESTIMATE_ERROR = 0.005;

/** Feature means of the two classes, features ascending by their mean in the first. */
function classMeans(): readonly [first: number[], second: number[]] {
  const both = Array.from({ length: FEATURES }, (_, j) => [vanDerCorput(j, 2), vanDerCorput(j, 3)] as const);
  const sorted = both.sort(([a], [b]) => a - b);
  return [sorted.map(([first]) => first), sorted.map(([, second]) => second)];
}

/** Densities drawn one behind the other. */
function ridges(means: readonly number[], title: string): Panel & { readonly title: string } {
  const lines = means.map((mean, rank) => {
    const density = gaussian(mean, DEVIATION);
    const points = Array.from({ length: 161 }, (_, j) => {
      const x = -0.2 + (1.4 * j) / 160;
      return { x, y: density.at(x), rank };
    });
    return Observable.lineY(points, { x: "x", y: "y", stroke: "rank", strokeWidth: 1.6 });
  });
  const options = { color: { type: "sequential", scheme: "viridis", domain: [0, FEATURES - 1] } } as const;
  const panel = chart({
    x: { label: "feature value", domain: [-0.2, 1.2], format: ".1f" },
    y: { label: "density", domain: [0, 7.5] },
    width: 360,
    height: 200,
    marks: lines,
    options,
  });
  return { title, ...panel };
}

function discriminabilities(means: readonly number[]): number[][] {
  const densities = means.map((mean) => sampledDensity(gaussian(mean, DEVIATION)));
  return densities.map((f) => densities.map((g) => 1 - kdeConfusion(f, g)));
}

function heatMap(first: readonly number[][], second: readonly number[][]): Panel & { readonly title: string } {
  const cells = first.flatMap((line, i) =>
    line.map((d, j) => ({ x: j + 1, y: i + 1, d: j > i ? d : j < i ? second[i][j] : 0.5 })),
  );
  const panel = chart({
    x: {
      label: "feature (above the diagonal: class 1; below: class 2)",
      domain: [0.5, FEATURES + 0.5],
      ticks: [1, 5, 10, 15, 20],
    },
    y: { label: "feature", domain: [FEATURES + 0.5, 0.5], ticks: [1, 5, 10, 15, 20] },
    width: 380,
    height: 400,
    marks: [
      Observable.rect(cells, {
        x1: (cell: { x: number }) => cell.x - 0.5,
        x2: (cell: { x: number }) => cell.x + 0.5,
        y1: (cell: { y: number }) => cell.y - 0.5,
        y2: (cell: { y: number }) => cell.y + 0.5,
        fill: "d",
        inset: -0.2,
      }),
    ],
    options: { color: { type: "linear", scheme: "viridis", domain: [0.5, 1] } },
  });
  return { title: "B  pairwise discriminability", ...panel };
}

/** A bar of the colours of the heat map. */
function colorBar(): Panel {
  const cells = Array.from({ length: 50 }, (_, j) => ({ d: 0.5 + j / 100, next: 0.5 + (j + 1) / 100 }));
  return chart({
    x: { label: "discriminability", domain: [0.5, 1], format: ".1f" },
    y: { label: "", domain: [0, 1], ticks: [] },
    width: 380,
    height: 90,
    marks: [Observable.rect(cells, { x1: "d", x2: "next", y1: () => 0, y2: () => 1, fill: "d", inset: -0.2 })],
    options: { color: { type: "linear", scheme: "viridis", domain: [0.5, 1] } },
  });
}

/** Share of the second distribution among values at x: how well a value tells where it comes from. */
function byValue(separation: number): Panel & { readonly title: string } {
  const [f, g] = [gaussian(0, 1), gaussian(separation, 1)];
  const xs = Array.from({ length: 141 }, (_, j) => -4 + ((8 + separation) * j) / 140);
  const line = (y: (x: number) => number) => xs.map((x) => ({ x, y: y(x) }));
  const c = integrateConfusion(f, g, -12, 12 + separation);
  return {
    title: `C  means ${separation} sd apart: d = ${(1 - c).toFixed(3)}`,
    ...chart({
      x: { label: "feature value, sd" },
      y: { label: "density; probability", domain: [0, 1] },
      width: 300,
      height: 230,
      lines: [
        { name: "", color: COLORS.sky, points: line((x) => f.at(x)) },
        { name: "", color: COLORS.orange, points: line((x) => g.at(x)) },
        { name: "", color: COLORS.black, width: 2.4, points: line((x) => g.at(x) / (f.at(x) + g.at(x))) },
      ],
    }),
  };
}

export const figure1abc: Experiment = {
  panels: ["figure-1a", "figure-1b", "figure-1c"],
  title: "Figure 1 A to C: confusion of features",
  points: () => [],
  section: () => {
    const [first, second] = classMeans();
    const [d1, d2] = [discriminabilities(first), discriminabilities(second)];
    const apart = SEPARATIONS.map((separation) => ({
      separation,
      discriminability: 1 - integrateConfusion(gaussian(0, 1), gaussian(separation, 1), -12, 12 + separation),
    }));
    const flat = [...d1.flat(), ...d2.flat()];
    const self = d1.map((line, i) => line[i]);
    const neighbours = apart.map(({ discriminability }) => discriminability);
    const within = (d: number) => d >= 0.5 - 1e-9 && d <= 1 + 1e-9;
    const bounded = flat.every(within) && self.every((d) => d - 0.5 < ESTIMATE_ERROR);
    return {
      text: "Twenty features of two classes, Gaussian about their means (standard deviation 0.06; means without chance, by van der Corput's sequences), coloured by their order in class 1. B is what the library's density estimate and confusion make of samples of 1,000 values. C: the black line is the probability that a value comes from the right-hand distribution.",
      plots: [
        sheet("figure-1a.svg", "Feature distributions of two classes", [
          ridges(first, "A  class 1: 20 features"),
          ridges(second, "A  class 2: the same features, colours as in class 1"),
        ]),
        sheet(
          "figure-1b.svg",
          "Pairwise discriminability of the features of two classes",
          [heatMap(d1, d2), colorBar()],
          [],
          1,
        ),
        sheet(
          "figure-1c.svg",
          "Discriminability as a function of feature value for three separations",
          SEPARATIONS.map(byValue),
          [
            { name: "first distribution", color: COLORS.sky },
            { name: "second distribution", color: COLORS.orange },
            { name: "probability that a value is of the second", color: COLORS.black },
          ],
        ),
      ],
      claims: [
        {
          paper:
            "Discriminability lies between 0.5 (equal distributions) and 1 (disjoint ones), and falls with overlap",
          ours: `${FEATURES * FEATURES * 2} pairs within ${Math.min(...flat).toFixed(3)}..${Math.max(...flat).toFixed(3)}; ${neighbours.map((d) => d.toFixed(3)).join(", ")} for means ${SEPARATIONS.join(", ")} standard deviations apart`,
          verdict: judge([bounded, neighbours[0] < neighbours[1] && neighbours[1] < neighbours[2]]),
        },
      ],
      numbers: { deviation: DEVIATION, means: [first, second], discriminability: [d1, d2], apart },
    };
  },
};
