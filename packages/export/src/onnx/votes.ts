/** The classifier as operators (section 7 of the method): who wins, and how sure that is. Mirrors `paper/vote.ts` of core. */

import type { ClassifierModel } from "@ranksim/core";
import { filtersByClass } from "../parts.ts";
import type { Graph, Value } from "./graph.ts";
import { similarities } from "./similarity.ts";

/** What is asked of the filters of each class: values of rows x filters become rows x classes x filters of the class. */
interface ByClass {
  /** The largest value of each class; `missing` for a class without filters. rows x classes. */
  largest(values: Value, missing: number): Value;
  /** How many filters of each class meet a condition (rows x filters, truth values). rows x classes, float64. */
  count(condition: Value): Value;
}

/** Filters by class. Classes of fewer filters are filled up with their first, which changes no maximum and counts once. */
export function byClass(g: Graph, filterClass: Uint32Array, classes: number): ByClass {
  const groups = filtersByClass(filterClass, classes);
  const width = Math.max(1, ...groups.map((group) => group.length));
  const index = groups.flatMap((group) => Array.from({ length: width }, (_, j) => group[j] ?? group[0] ?? 0));
  const isOwn = groups.flatMap((group) => Array.from({ length: width }, (_, j) => j < group.length));
  const places = g.integers(index, [classes, width]);
  const mask = g.truths(isOwn, [classes, width]);
  const isEmpty = groups.map((group) => group.length === 0);
  const gather = (values: Value) => g.op("Gather", [values, places], { axis: 1 });
  return {
    largest: (values, missing) => {
      const found = g.op("ReduceMax", [gather(values)], { axes: [2], keepdims: 0 });
      if (!isEmpty.includes(true)) return found;
      return g.op("Where", [g.truths(isEmpty, [1, classes]), g.doubles([missing]), found]);
    },
    count: (condition) => {
      const own = g.op("And", [gather(condition), mask]);
      return g.op("ReduceSum", [g.cast(own, "double"), g.list(2)], { keepdims: 0 });
    },
  };
}

/** The class with most of the filters at the largest response, the lowest of equals. One number a row. */
export function strongestVote(g: Graph, responses: Value, classes: ByClass): Value {
  const largest = g.op("ReduceMax", [responses], { axes: [1] });
  return first(g, classes.count(g.op("Equal", [responses, largest])));
}

/** What the voters of each class add up to (rows x classes), how many they are, and whether no filter responds. */
function sumsOfVotes(
  g: Graph,
  responses: Value,
  model: ClassifierModel,
  classes: ByClass,
): { readonly sums: Value; readonly voters: Value; readonly isSilent: Value } {
  const { filterClass, voters, bank } = model;
  const c = model.classes.length;
  const found = similarities(g, responses, bank.filters, voters + 1);
  // rows x k x classes, one value a filter, so that similarities are added strongest first.
  const own = g.op("Gather", [g.integers(filterClass, [bank.filters]), found.filters], { axis: 0 });
  const numbers = g.integers(
    Array.from({ length: c }, (_, j) => j),
    [1, 1, c],
  );
  const isClass = g.op("Equal", [g.op("Unsqueeze", [own, g.list(2)]), numbers]);
  const zero = g.doubles([0]);
  const each = g.op("Where", [isClass, g.op("Unsqueeze", [found.strongest, g.list(2)]), zero]);
  const tied = classes.count(g.op("Greater", [found.similarity, zero]));
  const sums = g.op("Where", [found.isTied, tied, g.sumInOrder(each, 1)]);
  return { sums, voters: tied, isSilent: found.isSilent };
}

/** The class of the largest sum of similarities, then of most voters, then the lowest. */
export function similarityVote(g: Graph, responses: Value, model: ClassifierModel, classes: ByClass): Value {
  const { sums, voters, isSilent } = sumsOfVotes(g, responses, model, classes);
  const best = g.op("Equal", [sums, g.op("ReduceMax", [sums], { axes: [1] })]);
  const voted = first(g, g.op("Where", [best, voters, g.doubles([-1])]));
  const counts = filtersByClass(model.filterClass, model.classes.length).map((group) => group.length);
  const silent = g.integers([counts.indexOf(Math.max(...counts))]);
  return g.op("Where", [g.op("Squeeze", [isSilent, g.list(1)]), silent, voted]);
}

/** Each class's share of the votes, rows x classes. */
export function voteShares(g: Graph, responses: Value, model: ClassifierModel, classes: ByClass): Value {
  const { sums, isSilent } = sumsOfVotes(g, responses, model, classes);
  return shares(g, g.op("Where", [isSilent, g.doubles([0]), sums]), model.classes.length);
}

/** Probabilities by similarity, rows x classes. */
export function similarityProbabilities(g: Graph, responses: Value, model: ClassifierModel, classes: ByClass): Value {
  const { similarity } = similarities(g, responses, model.bank.filters, model.nBest);
  const strengths = classes.largest(similarity, 0);
  const [zero, one] = [g.doubles([0]), g.doubles([1])];
  const atTop = classes.count(g.op("Equal", [similarity, one]));
  const leading = g.cast(g.op("Greater", [atTop, zero]), "double");
  const isShared = g.op("Greater", [g.op("ReduceSum", [leading, g.list(1)]), one]);
  const raised = g.op("Mul", [strengths, g.op("Add", [atTop, one])]);
  return shares(g, g.op("Where", [isShared, raised, strengths]), model.classes.length);
}

/** Values that sum to 1 in each row; what sums to nothing becomes uniform. */
export function shares(g: Graph, values: Value, classes: number): Value {
  const sum = g.op("Unsqueeze", [g.sumInOrder(values, 1), g.list(1)]);
  const isNothing = g.op("Equal", [sum, g.doubles([0])]);
  return g.op("Where", [isNothing, g.doubles([1 / classes]), g.op("Div", [values, sum])]);
}

/** The strongest response of each class, rows x classes; a class without filters has the lowest score of its row. */
export function classScores(g: Graph, responses: Value, model: ClassifierModel, classes: ByClass): Value {
  const groups = filtersByClass(model.filterClass, model.classes.length);
  const isPresent = groups.map((group) => group.length > 0);
  const scores = classes.largest(responses, Number.POSITIVE_INFINITY);
  if (isPresent.every(Boolean)) return scores;
  const lowest = g.op("ReduceMin", [scores], { axes: [1] });
  return g.op("Where", [g.truths(isPresent, [1, groups.length]), scores, lowest]);
}

/** Scores of a committee: the strongest response of each class, added up bank by bank. */
export function committeeScores(g: Graph, responses: Value, model: ClassifierModel): Value {
  const filterBank = model.filterBank as Uint32Array;
  let sum: Value | undefined;
  for (let b = 0; b < model.committee; b++) {
    const own = [...filterBank.keys()].filter((f) => filterBank[f] === b);
    const part = g.op("Gather", [responses, g.integers(own, [own.length])], { axis: 1 });
    const classes = byClass(
      g,
      Uint32Array.from(own, (f) => model.filterClass[f]),
      model.classes.length,
    );
    const scores = classes.largest(part, Number.NEGATIVE_INFINITY);
    sum = sum === undefined ? scores : g.op("Add", [sum, scores]);
  }
  return sum as Value;
}

/** Scores to probabilities, from 0 for the lowest to the highest in proportion. */
export function scoreProbabilities(g: Graph, scores: Value, classes: number): Value {
  return shares(g, g.op("Sub", [scores, g.op("ReduceMin", [scores], { axes: [1] })]), classes);
}

/** Probabilities of which no class's but the leader's is the largest, the leader being the first that scores most. Mirrors `keepOrder` of core. */
export function inOrder(g: Graph, probabilities: Value, scores: Value): Value {
  const leads = g.op("Equal", [scores, g.op("ReduceMax", [scores], { axes: [1] })]);
  const most = g.op("ReduceMax", [g.op("Where", [leads, probabilities, g.doubles([0])])], { axes: [1] });
  // A factor this close to 1 is left out by runtimes.
  const below = g.op("Sub", [most, g.op("Mul", [most, g.doubles([2 ** -52])])]);
  return g.op("Where", [leads, probabilities, g.op("Min", [probabilities, below])]);
}

/** The first position of the largest value of each row. */
export function first(g: Graph, values: Value): Value {
  return g.op("ArgMax", [values], { axis: 1, keepdims: 0 });
}
