/** The log loss of probabilities, all rows at once or block by block. */

import { type Dense, type Label, type Labels, RanksimError } from "@ranksim/core";
import { encodeLabels, refuseOtherType } from "@ranksim/core/internal";

/** Probabilities are clipped to at least this and at most 1 minus this before the logarithm: the spacing of float64 at 1. */
const SMALLEST_PROBABILITY = 2 ** -52;

/**
 * Mean over rows of −ln(probability of the true class). Probabilities are clipped to 2^-52 .. 1 − 2^-52, then each row is
 * divided by its sum. Column j of `probabilities` belongs to `classes[j]`.
 */
export function logLoss(yTrue: Labels, probabilities: Dense, classes: readonly Label[]): number {
  return new LogLossTally(classes).add(yTrue, probabilities).loss();
}

/** `logLoss` of rows that come in blocks: the same number, because rows are added up in their order. */
export class LogLossTally {
  readonly #classes: readonly Label[];
  #sum = 0;
  #rows = 0;

  constructor(classes: readonly Label[]) {
    this.#classes = classes;
  }

  /** Takes in the rows of a block. */
  add(yTrue: Labels, probabilities: Dense): this {
    const classes = this.#classes;
    const truth = encodeLabels(yTrue, probabilities.rows);
    if (classes.length !== probabilities.features) {
      throw new RanksimError(
        "bad-matrix",
        `expected ${classes.length} columns, one for each class, found ${probabilities.features}`,
      );
    }
    refuseOtherType(truth.classes, new Set(classes), "the classes have");
    const column = truth.classes.map((label) => {
      const j = classes.indexOf(label);
      if (j < 0) throw new RanksimError("bad-labels", `label ${JSON.stringify(label)} is none of the classes`);
      return j;
    });
    for (let r = 0; r < probabilities.rows; r++) {
      const clipped = Array.from(probabilities.row(r), (p) =>
        Math.min(Math.max(p, SMALLEST_PROBABILITY), 1 - SMALLEST_PROBABILITY),
      );
      const sum = clipped.reduce((a, b) => a + b);
      this.#sum -= Math.log(clipped[column[truth.codes[r]]] / sum);
    }
    this.#rows += probabilities.rows;
    return this;
  }

  /** The loss of all rows so far. */
  loss(): number {
    if (this.#rows === 0) throw new RanksimError("empty-input", "expected at least 1 row to judge, found none");
    return this.#sum / this.#rows;
  }
}
