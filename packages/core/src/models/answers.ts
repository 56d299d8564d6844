/**
 * How models that name classes answer questions about rows: by scores of classes, of which probabilities are made. A model fetches this,
 * and what it is made of, with the first question: a page that loads a model has shown it by then.
 */

import type { Backend, RowSource } from "../backends/contract.ts";
import {
  applyToClasses,
  applyToLabels,
  keepOrder,
  type LabelScoreKind,
  leadersOf,
  type ScoreKind,
} from "../beyond/probabilities/calibration.ts";
import type { ClassCalibration, LabelCalibration } from "../beyond/probabilities/fitted.ts";
import { Dense } from "../matrix/dense.ts";
import type { Label } from "../matrix/labels.ts";
import { rowLengths } from "../matrix/source.ts";
import { type OnChunk, type Similar, similarities } from "../paper/similarity.ts";
import type { ClassParts } from "./class-model.ts";
import type { Run } from "./estimator.ts";
import type { FilterParts } from "./filter-model.ts";
import { advance, withBackend } from "./run.ts";

/** The answers of one model. */
export abstract class Answers<Y extends Label | Label[], P extends ClassParts = ClassParts> {
  protected readonly parts: P;
  abstract readonly kind: ScoreKind;

  constructor(parts: P) {
    this.parts = parts;
  }

  /** What `predict` says of all rows. */
  abstract predict(x: RowSource, run: Run): Promise<Y[]>;

  /** rows x classes: what probabilities are made of. */
  abstract scores(x: RowSource, run: Run): Promise<Dense>;

  /** rows x classes: what is said of classes before any probabilities were fitted. */
  classScores(x: RowSource, run: Run): Promise<Dense> {
    return this.scores(x, run);
  }

  /** rows x classes: the probabilities, fitted where any were. */
  async probabilities(x: RowSource, run: Run): Promise<Dense> {
    const { calibration, classes, multilabel } = this.parts;
    const c = classes.length;
    const scores = await this.scores(x, run);
    const values = scores.values as Float64Array;
    if (multilabel) {
      applyToLabels(calibration as LabelCalibration | undefined, this.kind as LabelScoreKind, values, c);
      return scores;
    }
    const fitted = calibration as ClassCalibration | undefined;
    const leaders = this.keepsLeader && !fitted?.rising ? leadersOf(values, c) : undefined;
    if (fitted) applyToClasses(fitted, this.kind, values, c, fitted.halfway > 0 ? await rowLengths(x) : undefined);
    else this.unfitted(values, c);
    if (leaders) keepOrder(values, leaders, c);
    return scores;
  }

  /** Whether the class that scores most has to be the most probable (deviation 38). */
  protected get keepsLeader(): boolean {
    return false;
  }

  /** Turns scores into probabilities where none were fitted, in place. */
  protected unfitted(_scores: Float64Array, _classes: number): void {}

  /** The class of the largest number of each row, or the labels whose numbers are above their thresholds. */
  protected decide(numbers: Float64Array): Y[] {
    const { classes, multilabel, thresholds } = this.parts;
    const c = classes.length;
    if (!multilabel) return Array.from(leadersOf(numbers, c), (code) => classes[code] as Y);
    return Array.from(
      { length: numbers.length / c },
      (_, r) => classes.filter((_, o) => numbers[r * c + o] > (thresholds?.[o] ?? 0.5)) as Y,
    );
  }
}

/** The answers of a model of filters. */
export abstract class FilterAnswers<Y extends Label | Label[], P extends FilterParts & ClassParts> extends Answers<
  Y,
  P
> {
  predict(x: RowSource, run: Run): Promise<Y[]> {
    return withBackend(run, x, async (backend) => {
      const tell = (share: number) => advance(run, { stage: "predict", share });
      const all: Y[] = [];
      for await (const some of this.predictSome(x, backend, tell, run)) for (const answer of some) all.push(answer);
      await tell(1);
      return all;
    });
  }

  /** The answers for all rows, some at a time. */
  protected abstract predictSome(x: RowSource, backend: Backend, tell: OnChunk, run: Run): AsyncIterable<readonly Y[]>;

  /** Rows x classes, all 0 until `fill` has written to them. */
  protected fill(
    x: RowSource,
    run: Run,
    fill: (backend: Backend, tell: OnChunk, out: Float64Array) => Promise<void>,
  ): Promise<Dense> {
    const classes = this.parts.classes.length;
    const tell = (share: number) => advance(run, { stage: "predict", share });
    return withBackend(run, x, async (backend) => {
      const out = new Float64Array(x.rows * classes);
      await fill(backend, tell, out);
      await tell(1);
      return Dense.of(out, x.rows, classes);
    });
  }

  /** What a rule makes of the similar filters of each row, rows x classes; it writes from `at` on to `out`, which is 0 there. */
  protected fromSimilar(
    x: RowSource,
    nBest: number,
    run: Run,
    rule: (similar: Similar, out: Float64Array, at: number) => void,
  ): Promise<Dense> {
    const classes = this.parts.classes.length;
    return this.fill(x, run, async (backend, tell, out) => {
      for await (const { from, similar } of similarities(x, this.parts.filters.loaded, nBest, backend, tell)) {
        rule(similar, out, from * classes);
      }
    });
  }
}
