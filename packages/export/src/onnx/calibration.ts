/** Fitted probabilities as operators. Mirrors `beyond/probabilities/calibration.ts` of core; exponentials and logarithms are the reader's. */

import type { Saved } from "@ranksim/core";
import type { Graph, Value } from "./graph.ts";

/** What scores are: responses of a classifier or label shares. */
export type ScoreKind = "responses" | "shares";

/** Shares are raised by this before their logarithm is taken, as when the factor was fitted. */
const SMALLEST_SHARE = 0.001;

/** Whether the model has fitted probabilities. */
export function isCalibrated({ arrays }: Saved): boolean {
  return "calibration_factor" in arrays || "calibration_curves" in arrays || "calibration_points" in arrays;
}

/** Scores (rows x classes) to fitted probabilities; `rows` gives the rows as doubles, for a model that counts how long they are. */
export function calibrated(
  g: Graph,
  scores: Value,
  kind: ScoreKind,
  saved: Saved,
  classes: number,
  rows: () => Value,
): Value {
  const { calibration_factor: factor, calibration_curves: curves, calibration_points: points } = saved.arrays;
  if (curves) return logistic(g, logShares(g, scores), curves.values as Float64Array);
  if (!factor) return rising(g, scores, saved, classes);
  const related = kind === "shares" ? logShares(g, scores) : relate(g, scores, classes);
  const halfway = saved.arrays.calibration_halfway?.values[0];
  const apart = saved.arrays.calibration_spread ? rootSpread(g, related, classes) : related;
  const trusted = halfway === undefined ? apart : g.op("Mul", [apart, trust(g, rows(), halfway)]);
  const soft = soften(g, trusted, factor.values[0]);
  if (!points) return soft;
  const raised = rising(g, soft, saved, classes);
  return g.op("Div", [raised, g.op("Unsqueeze", [g.sumInOrder(raised, 1), g.list(1)])]);
}

function logShares(g: Graph, scores: Value): Value {
  return g.op("Log", [g.op("Add", [scores, g.doubles([SMALLEST_SHARE])])]);
}

/** Responses over the mean size of the row's responses; a row of zeros stays. */
function relate(g: Graph, scores: Value, classes: number): Value {
  const size = g.op("Unsqueeze", [g.sumInOrder(g.op("Abs", [scores]), 1), g.list(1)]);
  const mean = g.op("Div", [size, g.doubles([classes])]);
  const isNothing = g.op("Equal", [size, g.doubles([0])]);
  return g.op("Where", [isNothing, scores, g.op("Div", [scores, mean])]);
}

/** What scores differ from their mean, over the root of their standard deviation; equal scores become zeros. */
function rootSpread(g: Graph, scores: Value, classes: number): Value {
  const mean = (values: Value) =>
    g.op("Div", [g.op("Unsqueeze", [g.sumInOrder(values, 1), g.list(1)]), g.doubles([classes])]);
  const apart = g.op("Sub", [scores, mean(scores)]);
  const root = g.op("Sqrt", [g.op("Sqrt", [mean(g.op("Mul", [apart, apart]))])]);
  const isNothing = g.op("Equal", [root, g.doubles([0])]);
  return g.op("Where", [isNothing, apart, g.op("Div", [apart, root])]);
}

/** n / (n + halfway) for the n values of each row that are not zero. */
function trust(g: Graph, rows: Value, halfway: number): Value {
  const length = g.op("ReduceSum", [g.op("Sign", [g.op("Abs", [rows])]), g.list(1)], { keepdims: 1 });
  return g.op("Div", [length, g.op("Add", [length, g.doubles([halfway])])]);
}

/** softmax(beta · score). */
function soften(g: Graph, scores: Value, beta: number): Value {
  const behind = g.op("Sub", [scores, g.op("ReduceMax", [scores], { axes: [1] })]);
  const powers = g.op("Exp", [g.op("Mul", [behind, g.doubles([beta])])]);
  return g.op("Div", [powers, g.op("Unsqueeze", [g.sumInOrder(powers, 1), g.list(1)])]);
}

/** A logistic curve for each label; `curves` holds slope and offset in turns. */
function logistic(g: Graph, scores: Value, curves: Float64Array): Value {
  const side = [1, curves.length / 2];
  const slope = g.doubles(
    curves.filter((_, j) => j % 2 === 0),
    side,
  );
  const offset = g.doubles(
    curves.filter((_, j) => j % 2 === 1),
    side,
  );
  const z = g.op("Add", [g.op("Mul", [scores, slope]), offset]);
  const tail = g.op("Exp", [g.op("Neg", [g.op("Abs", [z])])]);
  const below = g.op("Add", [tail, g.doubles([1])]);
  const top = g.op("Where", [g.op("Less", [z, g.doubles([0])]), tail, g.doubles([1])]);
  return g.op("Div", [top, below]);
}

/** A rising function for each class: straight between its points, flat beyond the first and the last. */
function rising(g: Graph, scores: Value, saved: Saved, classes: number): Value {
  const numbers = saved.arrays.calibration_points.values as Float64Array;
  const offsets = saved.arrays.calibration_offsets.values as Uint32Array;
  const counts = Array.from({ length: classes }, (_, c) => offsets[c + 1] - offsets[c]);
  const width = Math.max(2, ...counts);
  const at = new Float64Array(classes * width).fill(Number.POSITIVE_INFINITY);
  const to = new Float64Array(classes * width);
  for (let c = 0; c < classes; c++) {
    for (let j = 0; j < counts[c]; j++) {
      at[c * width + j] = numbers[2 * (offsets[c] + j)];
      to[c * width + j] = numbers[2 * (offsets[c] + j) + 1];
    }
  }
  const edge = (values: Float64Array, isLast: boolean) =>
    g.doubles(
      counts.map((count, c) => values[c * width + (isLast ? count - 1 : 0)]),
      [1, classes],
    );
  // The last point not beyond the score: as many points as that, less one.
  const reached = g.op("GreaterOrEqual", [g.op("Unsqueeze", [scores, g.list(2)]), g.doubles(at, [1, classes, width])]);
  const seen = g.op("ReduceSum", [g.cast(reached, "int64"), g.list(2)], { keepdims: 0 });
  const low = g.op("Max", [g.op("Sub", [seen, g.integers([1])]), g.integers([0])]);
  const inside = g.op("Min", [low, g.integers([width - 2])]);
  const begins = g.integers(
    counts.map((_, c) => c * width),
    [1, classes],
  );
  const place = g.op("Add", [inside, begins]);
  const next = g.op("Add", [place, g.integers([1])]);
  const [xs, ys] = [g.doubles(at, [at.length]), g.doubles(to, [to.length])];
  const pick = (list: Value, index: Value) => g.op("Gather", [list, index], { axis: 0 });
  const [x0, y0] = [pick(xs, place), pick(ys, place)];
  const step = g.op("Div", [g.op("Sub", [scores, x0]), g.op("Sub", [pick(xs, next), x0])]);
  const between = g.op("Add", [y0, g.op("Mul", [step, g.op("Sub", [pick(ys, next), y0])])]);
  const belowLast = g.op("Where", [g.op("GreaterOrEqual", [scores, edge(at, true)]), edge(to, true), between]);
  return g.op("Where", [g.op("Greater", [scores, edge(at, false)]), belowLast, edge(to, false)]);
}
