/** Several labels per row on RCV1: the paper's rule, means and thresholds, and a linear SVM in scikit-learn beside them. */

import { type LabelSets, RankSimilarityProbabilisticClassifier } from "@ranksim/core";
import { f1 } from "@ranksim/learn";
import { measureInPython } from "../../runner/process.ts";
import { timed } from "../../runner/stopwatch.ts";
import type { AccuracyTable, Figures } from "../table.ts";

export const multilabel: AccuracyTable = {
  name: "multilabel",
  title: "Several labels",
  columns: {
    plainMicro: "paper's rule, micro F1",
    plainMacro: "macro F1",
    micro: "recipe, micro F1",
    macro: "macro F1",
    bothCpu: "s",
    svmMicro: "linear SVM, micro F1",
    svmMacro: "macro F1",
    svmCpu: "s",
  },
  rows: [
    {
      name: "RCV1, several labels",
      least: { micro: 0.7, macro: 0.35 },
      most: { bothCpu: "svmCpu" },
      measure: async (seed, { shelf, backend, workshop, quick }): Promise<Figures> => {
        const [train, test] = [await shelf.sets("rcv1:train"), await shelf.sets("rcv1:test")];
        const rows = (all: number) => (quick ? 1000 : all);
        const part = ({ x, y }: typeof train) => ({
          x: x.slice(0, rows(x.rows)),
          y: y.slice(0, rows(x.rows)) as LabelSets,
        });
        const [seen, unseen] = [part(train), part(test)];
        const judge = async (recipe: RankSimilarityProbabilisticClassifier) => {
          const fit = await timed(() => recipe.fit(seen.x, seen.y, { backend }));
          const predict = await timed(() => fit.value.predict(unseen.x, { backend }));
          return {
            micro: f1(unseen.y, predict.value, { average: "micro" }),
            macro: f1(unseen.y, predict.value, { average: "macro" }),
            cpu: fit.cpu + predict.cpu,
          };
        };
        const plain = await judge(new RankSimilarityProbabilisticClassifier({ seed }));
        const recipe = await judge(
          new RankSimilarityProbabilisticClassifier({
            distribution: "savage",
            filters: quick ? 400 : 5000,
            spreading: "none",
            nBest: 50,
            combine: "mean",
            thresholds: "perLabel",
            seed,
          }),
        );
        const figures = {
          plainMicro: plain.micro,
          plainMacro: plain.macro,
          micro: recipe.micro,
          macro: recipe.macro,
          bothCpu: recipe.cpu,
        };
        if (quick) return figures;
        // The same task in scikit-learn, in a process of its own that times fit and predict alone.
        const files = { train: await shelf.path("rcv1:train"), test: await shelf.path("rcv1:test") };
        const { figures: svm } = await measureInPython(workshop, "linear_svm_labels.py", files);
        return { ...figures, ...svm };
      },
    },
  ],
};
