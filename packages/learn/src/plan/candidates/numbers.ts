/** Rows of numbers of one kind (pixels, counts of one unit, spectra, embeddings) as they are. */

import {
  LINEAR_PARAMETERS,
  Pipeline,
  RankSimilarityClassifier,
  RankSimilarityTransform,
  StandardScaler,
  Union,
} from "@ranksim/core";
import { isSparse } from "../kind.ts";
import { type Chosen, filtersFor, given, named, probabilities, type Task, TRAINED_AGAIN } from "../task.ts";
import { type Candidate, entriesOf, filtersCost, linearCost, takesParams, together } from "./candidate.ts";
import { hasFilters, linearHead } from "./columns.ts";

const areNumbers = (task: Task): boolean =>
  task.takes === "numbers" &&
  task.labels === "one" &&
  task.kind !== "images" &&
  (task.preset === "best" || !isSparse(task.data));

/**
 * Banks that vote, filters of each class in one of several, and in one alone. Where rows are few, five banks are better than one of 30
 * filters a class, for three to five times the time: with 15, or one for 8 rows up to 30. Chosen on drawn rows of 2 to 6 classes in 16 to
 * 100 features, nine draws, 100, 300, 1,000 and 3,000 rows, the rarest class 0.4 or 0.05 of them, and on training rows of KMNIST: one bank
 * was 0.62, 0.73, 0.95 and 0.99 right, five of 15 were 0.65, 0.77, 0.93 and 0.98, of one for 8 rows 0.67, 0.77, 0.95 and 0.99; of 300
 * images one bank 0.80, five of 15 0.82, of one for 8 rows 0.77. Ten banks, for `best`, were 0.57, 0.67 and 0.68 right on six other draws of
 * 200, 1,000 and 3,000 rows, five 0.56, 0.66 and 0.67, and four of 100 filters a class 0.55, 0.59 and 0.62.
 */
function banksOfNumbers({ preset, rows, classes, params }: Task): { banks: number; each: number; alone: number } {
  if (preset === "fast") return { banks: 1, each: 10, alone: 10 };
  const alone = preset === "best" ? 400 : 30;
  if (rows > TRAINED_AGAIN) return preset === "best" ? { banks: 4, each: 100, alone } : { banks: 1, each: 30, alone };
  const most = preset === "best" ? 10 : 5;
  const enough = typeof params.filters === "number" ? Math.floor(params.filters / (LEAST_IN_BANK * classes)) : most;
  const each = Math.max(15, Math.min(30, Math.floor(rows / (8 * classes))));
  return { banks: Math.max(1, Math.min(most, enough)), each, alone };
}

/** Filters of each class that a bank has at least, where their number is given by hand: on the drawn rows, banks of one or two did worse. */
const LEAST_IN_BANK = 3;

const epochsOf = ({ preset }: Task): number => (preset === "fast" ? 6 : 24);

export const numbersCommittee: Candidate = {
  name: "numbers, refined filters",
  isUsual: true,
  suits: (task) => areNumbers(task) && hasFilters(task),
  cost: (task, rows) => {
    const { banks, each } = banksOfNumbers(task);
    return filtersCost(rows, entriesOf(task), { filters: banks * each * task.classes, epochs: epochsOf(task), banks });
  },
  purposes: ["onnx", "c", "spikes", "update", "reject"],
  streams: true,
  make: (task): Chosen => {
    const { banks, each, alone } = banksOfNumbers(task);
    const { committee } = given(task, { committee: banks, refine: true });
    const classify = new RankSimilarityClassifier(
      given(task, {
        filters: committee === 1 ? filtersFor(task, alone) : filtersFor(task, each) * banks,
        committee: banks,
        refine: true,
        refineEpochs: epochsOf(task),
        ...probabilities(task),
      }),
    );
    const { filters, refine } = classify.params;
    return {
      estimator: classify as Chosen["estimator"],
      what: `${filters} ${refine ? "refined " : ""}filters${classify.params.committee > 1 ? " in a committee" : ""}`,
    };
  },
};

export const numbersPlain: Candidate = {
  name: "numbers, the paper's filters",
  isUsual: false,
  suits: (task) => areNumbers(task) && hasFilters(task),
  cost: (task, rows) => filtersCost(rows, entriesOf(task), { filters: Math.min(1000, rows) }),
  purposes: ["onnx", "c", "spikes", "update", "reject"],
  streams: true,
  make: (task): Chosen => {
    const classify = new RankSimilarityClassifier(given(task, probabilities(task)));
    return { estimator: classify as Chosen["estimator"], what: "the paper's filters" };
  },
};

export const numbersLinear: Candidate = {
  name: "numbers, linear",
  isUsual: true,
  suits: (task) => areNumbers(task) && takesParams(task, LINEAR_PARAMETERS),
  cost: (task, rows) => linearCost(task, rows, entriesOf(task)),
  purposes: [],
  streams: false,
  make: (task): Chosen => {
    const isDense = task.data.form === "matrix" && task.data.x.form === "dense";
    return {
      estimator: named(["scale", new StandardScaler({ center: isDense })], ["head", linearHead(task, entriesOf(task))]),
      what: "numbers scaled, a linear classifier",
    };
  },
};

const FILTERS = 1000;
const N_BEST = 100;

export const numbersBesideFilters: Candidate = {
  name: "numbers beside similarities, linear",
  isUsual: false,
  suits: (task) => areNumbers(task) && takesParams(task, LINEAR_PARAMETERS),
  cost: (task, rows) =>
    together(
      filtersCost(rows, entriesOf(task), { filters: Math.min(FILTERS, rows) }),
      linearCost(task, rows, N_BEST + entriesOf(task)),
    ),
  purposes: [],
  streams: false,
  make: (task): Chosen => {
    const { seed, rows } = task;
    const rst = new RankSimilarityTransform({ filters: Math.min(FILTERS, Math.max(2, rows)), nBest: N_BEST, seed });
    const both = new Union([["similar", rst]], { rows: true });
    return {
      estimator: new Pipeline([
        ["both", both],
        ["head", linearHead(task, N_BEST + entriesOf(task))],
      ]) as unknown as Chosen["estimator"],
      what: "numbers, beside them similarities to filters, a linear classifier",
    };
  },
};
