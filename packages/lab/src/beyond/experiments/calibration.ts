/** Probabilities before and after they are fitted to held-out rows, for both classifiers. */

import {
  type ClassifierModel,
  calibrationError,
  type Dense,
  type Label,
  type Labels,
  logLoss,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  trainTestSplit,
} from "@ranksim/core";
import { median } from "../../bench/results.ts";
import { type Experiment, type Figures, figuresOf, timed } from "../experiment.ts";

const WANTED_ERROR = 0.02;
const WANTED_RATIO = 0.5;

const kinds = { RSC: RankSimilarityClassifier, RSPC: RankSimilarityProbabilisticClassifier };

interface Subject {
  readonly name: string;
  readonly kind: keyof typeof kinds;
  readonly title: string;
  /** What is trained, in words and as parameters. */
  readonly about: string;
  readonly params: object;
}

function calibrationOf({ name, kind, title, about, params }: Subject): Experiment {
  return {
    name,
    title: `Probabilities of ${title}`,
    about: `Fashion-MNIST, ${about}, trained on nine tenths of the training rows; the last tenth fits the probabilities (\`model.calibrate\`). Log loss and calibration error (15 intervals) on the test rows. Predictions stay as they are. The forms of the fitted functions had been compared on the test rows before (REFINEMENT.md says how), so here they were not looked at only once.`,
    columns: [
      { figure: "accuracy", title: "accuracy" },
      { figure: "loss", title: "log loss" },
      { figure: "temperatureLoss", title: "temperature" },
      { figure: "isotonicLoss", title: "isotonic" },
      { figure: "error", title: "calibration error" },
      { figure: "temperatureError", title: "temperature" },
      { figure: "isotonicError", title: "isotonic" },
      { figure: "calibrateCpu", title: "isotonic fit, s" },
    ],
    measure: async (seed, { shelf, backend, quick }): Promise<Figures> => {
      const set = quick ? "digits" : "fashion-mnist";
      const [train, test] = [await shelf.numbers(`${set}:train`), await shelf.numbers(`${set}:test`)];
      const run = { backend };
      const y = test.y as Labels;
      const split = trainTestSplit(train.x, train.y as Label[], { testShare: 0.1, stratify: true, seed });
      const model = (await new kinds[kind]({ ...params, ...(quick ? { filters: 100 } : {}), seed }).fit(
        split.train.x,
        split.train.y,
        run,
      )) as ClassifierModel;
      const judge = (probabilities: Dense) => ({
        loss: logLoss(y, probabilities, model.classes),
        error: calibrationError(y, probabilities, model.classes),
      });
      const plain = judge(await model.predictProbabilities(test.x, run));
      const temperature = await model.calibrate(split.test.x, split.test.y, { method: "temperature", ...run });
      const isotonic = await timed(() => model.calibrate(split.test.x, split.test.y, { method: "isotonic", ...run }));
      const [byFactor, byFunctions] = [
        judge(await temperature.predictProbabilities(test.x, run)),
        judge(await isotonic.value.predictProbabilities(test.x, run)),
      ];
      return {
        accuracy: await isotonic.value.score(test.x, y, run),
        loss: plain.loss,
        temperatureLoss: byFactor.loss,
        isotonicLoss: byFunctions.loss,
        error: plain.error,
        temperatureError: byFactor.error,
        isotonicError: byFunctions.error,
        calibrateCpu: isotonic.cpu,
      };
    },
    targets: (runs) => {
      const error = median(figuresOf(runs, "isotonicError")) ?? Number.NaN;
      const before = figuresOf(runs, "loss");
      const ratio = median(figuresOf(runs, "isotonicLoss").map((loss, j) => loss / before[j])) ?? Number.NaN;
      return [
        {
          name: `${title}, calibration error after fitting`,
          wanted: `≤ ${WANTED_ERROR}`,
          measured: error.toFixed(4),
          met: error <= WANTED_ERROR,
        },
        {
          name: `${title}, log loss after fitting, share of before`,
          wanted: `≤ ${WANTED_RATIO}`,
          measured: ratio.toFixed(2),
          met: ratio <= WANTED_RATIO,
        },
      ];
    },
  };
}

export const calibrations: readonly Experiment[] = [
  calibrationOf({
    name: "calibration-refined",
    kind: "RSC",
    title: "RSC, refined",
    about: "RSC with 300 filters, refined",
    params: { filters: 300, refine: true },
  }),
  calibrationOf({
    name: "calibration-committee",
    kind: "RSC",
    title: "RSC, refined committee",
    about: "RSC with 2,000 filters in a committee of four, refined",
    params: { filters: 2000, committee: 4, refine: true },
  }),
  calibrationOf({
    name: "calibration",
    kind: "RSC",
    title: "RSC",
    about: "RSC with default parameters",
    params: {},
  }),
  calibrationOf({
    name: "calibration-rspc",
    kind: "RSPC",
    title: "RSPC",
    about: "RSPC with default parameters",
    params: {},
  }),
];
