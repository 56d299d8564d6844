/** How often sets of classes hold the true one, and how large they are. */

import type { ConformalModel, Dense, Label } from "@ranksim/core";

/** Sets of one coverage, judged by labelled rows. */
export interface SetsJudged {
  /** What was promised. */
  readonly coverage: number;
  /** Share of the rows whose set holds their class. */
  readonly held: number;
  /** Classes in a set, on average. */
  readonly meanSize: number;
}

/** The coverage that sets are judged at where none is asked for. */
const COVERAGE = 0.95;

/** Adds up rows as they come. */
export class SetsTally {
  readonly #limit: number;
  readonly #place: ReadonlyMap<Label, number>;
  #rows = 0;
  #held = 0;
  #size = 0;

  constructor(model: ConformalModel<never>) {
    this.#limit = model.limit(COVERAGE);
    this.#place = new Map(model.classes.map((label, c) => [label, c]));
  }

  add(y: readonly Label[], probabilities: Dense): void {
    for (let r = 0; r < y.length; r++) {
      const row = probabilities.row(r);
      const own = this.#place.get(y[r]);
      this.#rows++;
      for (let c = 0; c < row.length; c++) {
        if (1 - row[c] > this.#limit) continue;
        this.#size++;
        if (c === own) this.#held++;
      }
    }
  }

  judged(): SetsJudged | undefined {
    if (this.#rows === 0) return undefined;
    return { coverage: COVERAGE, held: this.#held / this.#rows, meanSize: this.#size / this.#rows };
  }
}
