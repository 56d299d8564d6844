/**
 * Random cases for a comparison of back ends. Sizes lie on both sides of every threshold of the searches: lanes of 8, pieces of
 * 64, bounds from 192 features and 64 filters on, landmarks from 1,024 filters and 256 rows on, tables from 256 sparse filters
 * on, features left out above 2^20.
 */

import type { Label, LabelSets, Labels, Matrix } from "@ranksim/core";
import { Draw } from "./draw.ts";
import { drawRows, type RowPlan, STYLES, TYPES } from "./rows.ts";

export type EstimatorName = "transform" | "classifier" | "probabilistic" | "multilabel";

/** One case: data, a recipe and what is asked. */
export interface Case {
  readonly number: number;
  readonly estimator: EstimatorName;
  readonly plan: RowPlan;
  readonly train: Matrix;
  readonly test: Matrix;
  readonly later: Matrix;
  readonly y: Labels | LabelSets;
  readonly laterY: Labels | LabelSets;
  readonly params: { readonly [name: string]: unknown };
  /** Whether the trained model is refined, which the classifier can be. */
  readonly refine: boolean;
}

const FEATURES = [2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129];
const MANY_FEATURES = [190, 191, 192, 193, 194, 255, 256, 257, 300];
const ROWS = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65];
const MANY_ROWS = [127, 128, 129, 255, 256, 257, 400];
const FILTERS = [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33];
const MANY_FILTERS = [63, 64, 65, 127, 128, 129, 255, 256, 257];

/** Sizes: mostly small, some with enough work for bounds, few with very many filters or features. */
function drawSizes(draw: Draw): { rows: number; features: number; filters: number; isLarge: boolean; isWide: boolean } {
  const kind = draw.share();
  if (kind < 0.0005) {
    return { rows: draw.from(3, 9), features: 2 ** 20 + draw.from(-1, 2), filters: 3, isLarge: false, isWide: true };
  }
  if (kind < 0.002) {
    const filters = draw.from(1022, 1026);
    return {
      rows: filters + draw.from(1, 80),
      features: draw.pick([191, 192, 193]),
      filters,
      isLarge: true,
      isWide: false,
    };
  }
  if (kind < 0.01) {
    const filters = draw.pick([300, 512, 600]);
    return { rows: draw.from(900, 1500), features: draw.pick(MANY_FEATURES), filters, isLarge: true, isWide: false };
  }
  const isLarge = kind < 0.06;
  const rows = draw.pick(draw.chance(0.1) || isLarge ? MANY_ROWS : ROWS);
  const features = draw.pick(draw.chance(0.12) || isLarge ? MANY_FEATURES : FEATURES);
  const filters = Math.min(draw.pick(draw.chance(0.2) || isLarge ? MANY_FILTERS : FILTERS), Math.max(1, rows));
  return { rows, features, filters, isLarge, isWide: false };
}

/** Draws a case. */
export function drawCase(seed: number, number: number): Case {
  const draw = new Draw(seed, number);
  const estimator = draw.pick(["transform", "classifier", "classifier", "probabilistic", "multilabel"] as const);
  const { rows, features, filters, isLarge, isWide } = drawSizes(draw);
  const plan: RowPlan = {
    rows,
    features,
    type: draw.pick(TYPES),
    form: isWide || draw.chance(0.35) ? "csr" : "dense",
    style: isLarge && draw.chance(0.7) ? "blends" : draw.pick(STYLES),
    zeroRows: draw.chance(0.3) ? 0.2 : 0,
    repeated: draw.chance(0.3) ? 0.3 : 0,
  };
  const train = drawRows(plan, draw);
  const other = draw.chance(0.2) ? { type: draw.pick(TYPES), form: draw.pick(["dense", "csr"] as const) } : {};
  const more = (count: number) => drawRows({ ...plan, ...(isWide ? {} : other), rows: count }, draw);
  const test = more(draw.pick([0, 1, 5, 33, isLarge ? 300 : 70]));
  const later = more(draw.from(1, 20));
  const classes = draw.from(1, Math.min(6, Math.max(1, Math.min(rows, filters))));
  const label = (r: number): Label => (draw.chance(0.8) ? `c${r % classes}` : `c${draw.below(classes)}`);
  const labelled = (count: number, extra: number): Labels | LabelSets => {
    const one = Array.from({ length: count }, (_, r) => (draw.chance(extra) ? "new" : label(r)));
    if (estimator !== "multilabel") return one;
    return one.map((name) => (draw.chance(0.2) ? [] : draw.chance(0.4) ? [name, "also"] : [name]));
  };
  const isClassifier = estimator === "classifier";
  const params = drawParams(draw, estimator, filters, isLarge || isWide);
  return {
    number,
    estimator,
    plan,
    train,
    test,
    later,
    y: labelled(rows, 0),
    laterY: labelled(later.rows, 0.2),
    params,
    refine: isClassifier && !params.keepSums && draw.chance(isLarge ? 0.1 : 0.25) && !isWide,
  };
}

function drawParams(
  draw: Draw,
  estimator: EstimatorName,
  filters: number,
  isHeavy: boolean,
): { readonly [name: string]: unknown } {
  const often = <T>(usual: T, others: readonly T[], share: number): T =>
    draw.chance(share) ? draw.pick(others) : usual;
  const keepSums = draw.chance(0.25);
  const filterFunction = keepSums ? "meanRank" : often<string>("meanRank", ["medianRank", "mean"], 0.15);
  const params: { [name: string]: unknown } = {
    filters: draw.chance(0.15) && !isHeavy ? "auto" : filters,
    seed: draw.below(1000),
    iterations: isHeavy ? draw.from(1, 2) : draw.from(1, 4),
    tolerance: draw.pick([0, 0.01, 0.2]),
    initialize: often<string>("random", ["plusplus", "weightedAverage"], 0.25),
    spreading: keepSums ? "max" : often<string>("max", ["weightedAverage", "none"], 0.25),
    distribution: often<string>("rank", ["savage", "confusion"], 0.25),
    filterFunction,
    keepSums,
    nBest: draw.from(1, 64),
  };
  if (estimator === "classifier") {
    params.classWeight = often<string>("proportional", ["uniform"], 0.3);
    params.distributionPerClass = draw.chance(0.15);
    params.committee = keepSums ? 1 : often(1, [2, 3], 0.2);
    params.voters = params.committee === 1 ? often(1, [2, 3, 9, 64], 0.25) : 1;
    const mayRefine = !keepSums && filterFunction === "meanRank" && !params.distributionPerClass;
    params.refine = mayRefine && draw.chance(isHeavy ? 0.05 : 0.2);
    params.refineEpochs = draw.from(1, 4);
  }
  if (estimator === "probabilistic" || estimator === "multilabel") params.combine = draw.pick(["max", "mean"]);
  if (estimator === "multilabel") params.thresholds = often<string>("none", ["common", "perLabel"], 0.2);
  if (estimator !== "transform") params.calibrate = often<string>("none", ["temperature", "isotonic"], 0.15);
  if (estimator === "classifier") params.decision = draw.pick(["vote", "probability"]);
  return params;
}
