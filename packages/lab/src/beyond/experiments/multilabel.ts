/** Several labels per row on RCV1: the paper's rule, means and thresholds, and a linear SVM in scikit-learn beside them. */

import { f1, type LabelSets, RankSimilarityProbabilisticClassifier } from "@ranksim/core";
import { ONE_THREAD, pythonScript, run as runProgram } from "../../bench/launch.ts";
import { median } from "../../bench/results.ts";
import { type Experiment, type Figures, figuresOf, timed } from "../experiment.ts";

const WANTED_MICRO = 0.7;
const WANTED_MACRO = 0.35;
const LONGEST_SVM = 600;

export const multilabel: Experiment = {
  name: "multilabel",
  title: "Several labels",
  about:
    'RCV1 (the LIBSVM subsets, 14,401 training and 13,212 test stories), probabilistic classifier. The paper\'s rule: default parameters. Recipe: `distribution: "savage"`, 5,000 filters, `spreading: "none"`, `nBest: 50`, `combine: "mean"`, `thresholds: "perLabel"` (chosen on a held-out fifth of the training rows). Beside it a linear SVM for each label in scikit-learn (`OneVsRestClassifier(LinearSVC())`, one thread, the same files). Processor seconds of fit and predict together.',
  columns: [
    { figure: "plainMicro", title: "paper's rule, micro F1" },
    { figure: "plainMacro", title: "macro F1" },
    { figure: "micro", title: "recipe, micro F1" },
    { figure: "macro", title: "macro F1" },
    { figure: "bothCpu", title: "s" },
    { figure: "svmMicro", title: "linear SVM, micro F1" },
    { figure: "svmMacro", title: "macro F1" },
    { figure: "svmCpu", title: "s" },
  ],
  measure: async (seed, { shelf, backend, quick }): Promise<Figures> => {
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
    const svm = quick ? undefined : await linearSvm(await shelf.path("rcv1:train"), await shelf.path("rcv1:test"));
    return { ...figures, ...svm };
  },
  targets: (runs) => {
    const of = (name: string) => median(figuresOf(runs, name)) ?? Number.NaN;
    const [micro, macro, own, svm] = [of("micro"), of("macro"), of("bothCpu"), of("svmCpu")];
    return [
      { name: "RCV1, micro F1", wanted: `≥ ${WANTED_MICRO}`, measured: micro.toFixed(4), met: micro >= WANTED_MICRO },
      { name: "RCV1, macro F1", wanted: `≥ ${WANTED_MACRO}`, measured: macro.toFixed(4), met: macro >= WANTED_MACRO },
      {
        name: "RCV1, fit and predict, processor seconds",
        wanted: `< ${svm.toFixed(1)} (linear SVM)`,
        measured: own.toFixed(1),
        met: own < svm,
      },
    ];
  },
};

/** The same task in scikit-learn, in a process of its own that times fit and predict alone. */
async function linearSvm(train: string, test: string): Promise<Figures> {
  const env = { ...process.env, ...ONE_THREAD };
  const ended = await runProgram(
    "/usr/bin/python3",
    [pythonScript("linear_svm_labels.py"), train, test],
    env,
    LONGEST_SVM,
  );
  if (!ended.ok) throw new Error(`scikit-learn: ${ended.why}`);
  const { micro, macro, cpu } = JSON.parse(ended.text) as { micro: number; macro: number; cpu: number };
  return { svmMicro: micro, svmMacro: macro, svmCpu: cpu };
}
