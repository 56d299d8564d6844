/** Texts: weighted words, pairs of words, or characters, and few filters of each class or a linear classifier. */

import type { Estimator, MatrixLike, Model } from "@ranksim/core";
import { Blend, Pipeline, Union } from "@ranksim/core";
import { TfidfVectorizer } from "@ranksim/data";
import { type Chosen, type Task, texts } from "../task.ts";
import { type Candidate, entriesOf, filtersCost, linearCost, together } from "./candidate.ts";
import { hasFilters, isLinear, linearHead } from "./columns.ts";
import { fewFilters } from "./sparse.ts";

const areTexts = (task: Task): boolean => task.takes === "text" && task.labels === "one";

/**
 * Texts come in the order of time, and what a model will be asked about comes later: probabilities are fitted on the last texts of each
 * class. Chosen on the training texts of 20 Newsgroups, trained on earlier ones and judged by later ones, six ways to part them and three
 * seeds: mean calibration error 0.020, where perfect probabilities would show 0.018 by chance; with a function of each class 0.027.
 */
const NEWEST = "last";

export const textFilters: Candidate = {
  name: "words, few filters",
  isUsual: true,
  suits: (task) => areTexts(task) && hasFilters(task),
  cost: (task, rows) => filtersCost(rows, entriesOf(task), { filters: task.classes, epochs: 4 }),
  purposes: ["update", "reject"],
  streams: true,
  make: (task): Chosen => {
    const maxFeatures = task.preset === "best" ? 30_000 : 10_000;
    const words = task.vectorizer ?? new TfidfVectorizer({ maxFeatures, logTf: true, idfPower: 2 });
    const last = fewFilters(task, 1, NEWEST);
    return {
      estimator: texts(words, last.estimator as Estimator<MatrixLike, Model>),
      what: `${task.vectorizer ? "numbers of words" : "weighted tf-idf"}, ${last.what}`,
    };
  },
};

type Words = Estimator<readonly string[]>;

/** Multiply-adds in whose time a term is found and counted. */
const COUNTING = 300;

const linear = (
  name: string,
  isUsual: boolean,
  { times, what, words }: { times: number; what: string; words: (() => Words) | undefined },
): Candidate => ({
  name,
  isUsual,
  suits: (task) => areTexts(task) && isLinear(task) && (task.vectorizer === undefined) === (words !== undefined),
  cost: (task, rows) =>
    together(linearCost(task, rows, times * entriesOf(task)), {
      once: 0,
      each: COUNTING * times * entriesOf(task) * rows,
    }),
  purposes: [],
  streams: times === 1,
  make: (task): Chosen => ({
    estimator: new Pipeline([
      ["words", task.vectorizer ?? (words as () => Words)()],
      ["head", linearHead(task, times * entriesOf(task))],
    ]) as unknown as Chosen["estimator"],
    what: `${what}, a linear classifier`,
  }),
});

const tokens = () => new TfidfVectorizer({ sublinearTf: true, maxFeatures: 100_000 });
const pairs = () => new TfidfVectorizer({ sublinearTf: true, ngramRange: [1, 2], minDf: 2, maxFeatures: 200_000 });
const plainTokens = () => new TfidfVectorizer({ sublinearTf: true, tokenPattern: "\\S+", maxFeatures: 100_000 });
const characters = () =>
  new TfidfVectorizer({ analyzer: "char", ngramRange: [1, 4], sublinearTf: true, minDf: 2, maxFeatures: 200_000 });

export const textGiven = linear("vectorised text, linear", true, {
  times: 1,
  what: "numbers of words",
  words: undefined,
});
export const textWords = linear("words, linear", true, { times: 1, what: "weighted words", words: tokens });
export const textPairs = linear("words and pairs of words, linear", true, {
  times: 2,
  what: "weighted words and pairs of words",
  words: pairs,
});
export const textTokens = linear("whatever blanks part, linear", false, {
  times: 1,
  what: "weighted tokens",
  words: plainTokens,
});
export const textCharacters = linear("characters, linear", true, {
  times: 12,
  what: "weighted sequences of characters",
  words: characters,
});
export const textBoth = linear("words beside characters, linear", false, {
  times: 14,
  what: "weighted words beside sequences of characters",
  words: () =>
    new Union<readonly string[]>([
      ["words", pairs()],
      ["characters", characters()],
    ]),
});

/** Filters and planes err in different texts, so that the mean of their probabilities is better than those of either. */
export const textBlend: Candidate = {
  name: "words, few filters and linear, blended",
  isUsual: true,
  suits: (task) => areTexts(task) && hasFilters(task) && isLinear(task),
  cost: (task, rows) => together(textFilters.cost(task, rows), textWords.cost(task, rows)),
  purposes: [],
  streams: true,
  make: (task): Chosen => {
    const filters = textFilters.make(task);
    const planes = (task.vectorizer ? textGiven : textWords).make(task);
    const blend = new Blend([
      ["filters", filters.estimator as never],
      ["planes", planes.estimator as never],
    ]);
    return { estimator: blend as unknown as Chosen["estimator"], what: `${filters.what}, blended with ${planes.what}` };
  },
};
