/** How a probabilistic classifier answers: by the label shares of the filters that are similar to a row. */

import type { Backend, RowSource } from "../backends/contract.ts";
import type { Dense } from "../matrix/dense.ts";
import type { Label } from "../matrix/labels.ts";
import { type OnChunk, type Similar, similarities } from "../paper/similarity.ts";
import { labelProbabilities, meanShares, presenceProbabilities } from "../paper/vote.ts";
import { FilterAnswers } from "./answers.ts";
import type { Run } from "./estimator.ts";
import type { ProbabilisticParts } from "./probabilistic-model.ts";

/** Scores that `predict` has in memory at a time; with many classes this is few rows. */
const SCORE_ROOM = 2 ** 20;

export class ProbabilisticAnswers<Y extends Label | Label[]> extends FilterAnswers<Y, ProbabilisticParts> {
  readonly kind = "shares";

  protected async *predictSome(x: RowSource, backend: Backend, tell: OnChunk): AsyncGenerator<Y[]> {
    const { classes, params, filters } = this.parts;
    const c = classes.length;
    const block = Math.max(1, Math.floor(SCORE_ROOM / c));
    const scores = new Float64Array(Math.min(block, x.rows) * c);
    for await (const { rows, similar } of similarities(x, filters.loaded, params.nBest as number, backend, tell)) {
      for (let from = 0; from < rows; from += block) {
        const to = Math.min(rows, from + block);
        this.#score({ ...similar, offsets: similar.offsets.subarray(from, to + 1) }, scores.fill(0), 0);
        yield this.decide(scores.subarray(0, (to - from) * c));
      }
    }
  }

  scores(x: RowSource, run: Run): Promise<Dense> {
    const rule = (similar: Similar, out: Float64Array, at: number) => this.#score(similar, out, at);
    return this.fromSimilar(x, this.parts.params.nBest as number, run, rule);
  }

  /** Writes the scores of some rows from `at` on to `out`, which is 0 there. */
  #score(similar: Similar, out: Float64Array, at: number): void {
    const { multilabel, params, labels } = this.parts;
    const rule = multilabel ? presenceProbabilities : labelProbabilities;
    const fill = params.combine === "mean" ? meanShares : rule;
    fill(similar, labels, out, at);
  }
}
