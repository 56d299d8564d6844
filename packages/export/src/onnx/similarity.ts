/** Similarities (section 6 of the method) as operators: what `paper/similarity.ts` of core does, for all filters at once. */

import type { Graph, Value } from "./graph.ts";

/** What similarities are made of. Values are float64. */
export interface Similarity {
  /** rows x filters. */
  readonly similarity: Value;
  /** rows x k: the k strongest responses as similarities, strongest first; meaningless where `isTied`. */
  readonly strongest: Value;
  /** rows x k: their filters. */
  readonly filters: Value;
  /** rows x 1: whether the k strongest are equal, so that more may be at the top than k. */
  readonly isTied: Value;
  /** rows x 1: whether no filter responds. */
  readonly isSilent: Value;
}

/** Similarities of responses (rows x filters). */
export function similarities(g: Graph, responses: Value, filters: number, nBest: number): Similarity {
  const k = Math.max(1, Math.min(nBest, filters - 1));
  const [values, positions] = g.ops("TopK", [responses, g.list(k)], 2, { axis: 1 });
  const largest = g.op("ReduceMax", [responses], { axes: [1] });
  const lowest = g.op("ReduceMin", [responses], { axes: [1] });
  const kth = g.op("Gather", [values, g.list(k - 1)], { axis: 1 });
  const isTied = g.op("Equal", [largest, kth]);
  const zero = g.doubles([0]);
  const isSilent = g.op("And", [g.op("Equal", [largest, zero]), g.op("Equal", [lowest, zero])]);
  const spread = g.op("Sub", [largest, kth]);
  const scale = (value: Value) => g.op("Div", [g.op("Sub", [value, kth]), spread]);
  const atTop = g.cast(g.op("Equal", [responses, largest]), "double");
  const scaled = g.op("Max", [scale(responses), zero]);
  const similarity = g.op("Where", [isSilent, zero, g.op("Where", [isTied, atTop, scaled])]);
  return { similarity, strongest: scale(values), filters: positions, isTied, isSilent };
}
