/** The estimators under contract: how each is made, what labels it takes, and how its answers are compared. */

import {
  type Estimator,
  type Label,
  type LabelSets,
  type Labels,
  type MatrixLike,
  MaxAbsScaler,
  type Model,
  PatchTransform,
  Pipeline,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  type Run,
  toDense,
} from "@ranksim/core";

export interface Subject {
  readonly title: string;
  /** Whether `fit` needs labels. */
  readonly labelled: boolean;
  /** Filter parameters go to the rank filter estimator, wherever it sits. */
  make(params?: object): Estimator<MatrixLike, Model>;
  labels(y: readonly Label[]): Labels | LabelSets;
  /** The model's answers as plain numbers and labels; every number must be finite. */
  answer(model: Model, x: MatrixLike, run?: Run): Promise<unknown>;
}

interface Predicts {
  predict(x: MatrixLike, run?: Run): Promise<unknown[]>;
  predictProbabilities(
    x: MatrixLike,
    run?: Run,
  ): Promise<{ values: ArrayLike<number>; rows: number; features: number }>;
}

async function predictions(model: Model, x: MatrixLike, run?: Run): Promise<unknown> {
  const { predict, predictProbabilities } = model as unknown as Predicts;
  const probabilities = await predictProbabilities.call(model, x, run);
  return { labels: await predict.call(model, x, run), probabilities: Array.from(probabilities.values) };
}

async function similarities(model: Model, x: MatrixLike, run?: Run): Promise<unknown> {
  const transformed = await (model as Awaited<ReturnType<RankSimilarityTransform["fit"]>>).transform(x, run);
  return { probabilities: Array.from(toDense(transformed).values) };
}

const prefixed = (params: object): { [name: string]: unknown } =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [`classify.${name}`, value]));

export const subjects: readonly Subject[] = [
  {
    title: "RankSimilarityTransform",
    labelled: false,
    make: (params) => new RankSimilarityTransform(params),
    labels: (y) => [...y],
    answer: similarities,
  },
  {
    title: "RankSimilarityClassifier",
    labelled: true,
    make: (params) => new RankSimilarityClassifier(params),
    labels: (y) => [...y],
    answer: predictions,
  },
  {
    title: "RankSimilarityClassifier, refined",
    labelled: true,
    // Refined filters keep no sums.
    make: (params = {}) => new RankSimilarityClassifier({ refine: !("keepSums" in params), ...params }),
    labels: (y) => [...y],
    answer: predictions,
  },
  {
    title: "RankSimilarityProbabilisticClassifier",
    labelled: true,
    make: (params) => new RankSimilarityProbabilisticClassifier(params),
    labels: (y) => [...y],
    answer: predictions,
  },
  {
    title: "RankSimilarityProbabilisticClassifier with several labels",
    labelled: true,
    make: (params) => new RankSimilarityProbabilisticClassifier(params),
    // Every row has its own label, and every other row the label "shared" as well.
    labels: (y) => y.map((label, r) => (r % 2 === 0 ? [label] : [label, "shared"])),
    answer: predictions,
  },
  {
    title: "Pipeline",
    labelled: true,
    make: (params = {}) =>
      new Pipeline([
        ["scale", new MaxAbsScaler()],
        ["classify", new RankSimilarityClassifier()],
      ]).with(prefixed(params)) as unknown as Estimator<MatrixLike, Model>,
    labels: (y) => [...y],
    answer: predictions,
  },
  {
    title: "Pipeline of patches of signals",
    labelled: true,
    make: (params = {}) =>
      new Pipeline([
        ["patches", new PatchTransform({ height: 1, patch: 3, filters: 8, nBest: 3, grid: 6 })],
        ["classify", new RankSimilarityClassifier()],
      ]).with(prefixed(params)) as unknown as Estimator<MatrixLike, Model>,
    labels: (y) => [...y],
    answer: predictions,
  },
];
