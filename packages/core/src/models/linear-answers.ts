/** How a linear classifier answers: by distances from planes, of which probabilities are made. */

import type { RowSource } from "../backends/contract.ts";
import { soften } from "../beyond/probabilities/calibration.ts";
import { dotRow } from "../kernels/dot.ts";
import type { Rows } from "../kernels/shapes.ts";
import { Dense } from "../matrix/dense.ts";
import type { Label } from "../matrix/labels.ts";
import { refuseLost } from "../matrix/matrix.ts";
import { Answers } from "./answers.ts";
import type { Run } from "./estimator.ts";
import type { LinearParts } from "./linear-model.ts";
import { advance, turns } from "./run.ts";

/** Bytes of rows that are answered at a time. */
const BLOCK_BYTES = 2 ** 22;
/** Rows answered between two looks at the clock and the signal. */
const ROWS_PER_TURN = 256;

export class LinearAnswers<Y extends Label | Label[]> extends Answers<Y, LinearParts> {
  readonly kind = "distances";

  async predict(x: RowSource, run: Run): Promise<Y[]> {
    const { values } = await this.probabilities(x, run);
    return this.decide(values as Float64Array);
  }

  /** The distance of each row from the plane of each class. */
  async scores(x: RowSource, run: Run): Promise<Dense> {
    const classes = this.parts.classes.length;
    const out = new Float64Array(x.rows * classes);
    const turn = turns(run);
    let first = 0;
    refuseLost(x);
    for await (const block of x.blocks(BLOCK_BYTES)) {
      for (let from = 0; from < block.rows; from += ROWS_PER_TURN) {
        await turn();
        await advance(run, { stage: "predict", share: (first + from) / x.rows });
        this.#measure(block, from, Math.min(from + ROWS_PER_TURN, block.rows), out, first * classes);
      }
      first += block.rows;
    }
    refuseLost(x);
    await advance(run, { stage: "predict", share: 1 });
    return Dense.of(out, x.rows, classes);
  }

  /** Distances of rows `from` to `to` of a block, whose row 0 is written at `at`. */
  #measure(x: Rows, from: number, to: number, out: Float64Array, at: number): void {
    const { weights, intercepts, classes } = this.parts;
    for (let k = 0; k < intercepts.length; k++) {
      const w = weights.subarray(k * x.features, (k + 1) * x.features);
      for (let r = from; r < to; r++) {
        const distance = dotRow(x, r, w) + intercepts[k];
        const place = at + r * classes.length;
        if (intercepts.length === classes.length) out[place + k] = distance;
        else {
          out[place] = -distance;
          out[place + 1] = distance;
        }
      }
    }
  }

  protected override get keepsLeader(): boolean {
    return true;
  }

  /** Distances are log odds. */
  protected override unfitted(distances: Float64Array, classes: number): void {
    soften(distances, classes, 1);
  }
}
