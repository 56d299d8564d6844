/** The probabilistic classifier as operators (section 8 of the method). Mirrors `paper/vote.ts` of core. */

import type { ProbabilisticModel } from "@ranksim/core";
import type { Graph, Value } from "./graph.ts";
import { type Similarity, similarities } from "./similarity.ts";
import { shares } from "./votes.ts";

/** The scores that `predict` decides by: rows x classes, or the probability that each label is present. */
export function labelScores(g: Graph, responses: Value, model: ProbabilisticModel): Value {
  const found = similarities(g, responses, model.bank.filters, model.nBest);
  if (model.params.combine === "mean") return meanShares(g, found, model);
  return model.multilabel ? presence(g, found, model) : strongestShares(g, found, model);
}

/** Per class the largest product of share and similarity. One class at a time, so that rows x filters is the most there is. */
function strongestShares(g: Graph, { similarity }: Similarity, model: ProbabilisticModel): Value {
  const c = model.classes.length;
  const columns = model.classes.map((_, o) => largestProduct(g, similarity, column(model, o)));
  return shares(g, g.op("Concat", columns, { axis: 1 }), c);
}

/** Presence against absence of each label. */
function presence(g: Graph, { similarity }: Similarity, model: ProbabilisticModel): Value {
  const own = model.classes.map((_, o) => column(model, o));
  const present = g.op(
    "Concat",
    own.map((share) => largestProduct(g, similarity, share)),
    { axis: 1 },
  );
  const absent = g.op(
    "Concat",
    own.map((share) =>
      largestProduct(
        g,
        similarity,
        share.map((value) => 1 - value),
      ),
    ),
    { axis: 1 },
  );
  const sum = g.op("Add", [absent, present]);
  const isNothing = g.op("Equal", [sum, g.doubles([0])]);
  return g.op("Where", [isNothing, g.doubles([0.5]), g.op("Div", [present, sum])]);
}

/** The mean of shares weighted by similarity; for a silent row the mean over all filters. */
function meanShares(g: Graph, found: Similarity, model: ProbabilisticModel): Value {
  const m = model.bank.filters;
  const c = model.classes.length;
  const table = g.doubles(model.filterLabels, [m, c]);
  // Strongest first, as the library adds. Where more filters tie than are listed, all of them weigh 1.
  const listed = g.op("Mul", [
    g.op("Gather", [table, found.filters], { axis: 0 }),
    g.op("Unsqueeze", [found.strongest, g.list(2)]),
  ]);
  const sums = g.op("Where", [found.isTied, g.op("MatMul", [found.similarity, table]), g.sumInOrder(listed, 1)]);
  const atTop = g.op("ReduceSum", [found.similarity, g.list(1)]);
  const weights = g.op("Unsqueeze", [g.sumInOrder(found.strongest, 1), g.list(1)]);
  const mean = g.op("Div", [sums, g.op("Where", [found.isTied, atTop, weights])]);
  const silent = model.classes.map((_, o) => column(model, o).reduce((sum, share) => sum + share, 0) / m);
  return g.op("Where", [found.isSilent, g.doubles(silent, [1, c]), mean]);
}

function largestProduct(g: Graph, similarity: Value, share: Float64Array): Value {
  const products = g.op("Mul", [similarity, g.doubles(share, [1, share.length])]);
  return g.op("ReduceMax", [products], { axes: [1] });
}

/** The share of one class in each filter. */
function column({ filterLabels, classes, bank }: ProbabilisticModel, o: number): Float64Array {
  return Float64Array.from({ length: bank.filters }, (_, f) => filterLabels[f * classes.length + o]);
}
