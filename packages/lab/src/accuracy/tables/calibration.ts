/** Probabilities before and after they are fitted to held-out rows, for both classifiers. */

import {
  type ClassifierModel,
  type Dense,
  type Label,
  type Labels,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
} from "@ranksim/core";
import { calibrationError, logLoss, trainTestSplit } from "@ranksim/learn";
import { timed } from "../../runner/stopwatch.ts";
import type { AccuracyRow, AccuracyTable, Figures } from "../table.ts";

const kinds = { RSC: RankSimilarityClassifier, RSPC: RankSimilarityProbabilisticClassifier };

function calibrationOf(name: string, kind: keyof typeof kinds, params: object): AccuracyRow {
  return {
    name,
    most: { isotonicError: 0.02, share: 0.5 },
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
        share: byFunctions.loss / plain.loss,
        error: plain.error,
        temperatureError: byFactor.error,
        isotonicError: byFunctions.error,
        calibrateCpu: isotonic.cpu,
      };
    },
  };
}

export const calibration: AccuracyTable = {
  name: "calibration",
  title: "Probabilities",
  columns: {
    accuracy: "accuracy",
    loss: "log loss",
    temperatureLoss: "log loss, temperature",
    isotonicLoss: "log loss, isotonic",
    share: "share of the log loss before",
    error: "calibration error",
    temperatureError: "calibration error, temperature",
    isotonicError: "calibration error, isotonic",
    calibrateCpu: "isotonic fit, s",
  },
  rows: [
    calibrationOf("RSC, 300 filters, refined", "RSC", { filters: 300, refine: true }),
    calibrationOf("RSC, committee of four, refined", "RSC", { filters: 2000, committee: 4, refine: true }),
    calibrationOf("RSC", "RSC", {}),
    calibrationOf("RSPC", "RSPC", {}),
  ],
};
