/** A small estimator to test tools with: the class whose mean row is nearest, or (bias 1) always the first class. */

import {
  asMatrix,
  Dense,
  type Estimator,
  type Label,
  type LabelSets,
  type Labels,
  type MatrixLike,
  type PredictingModel,
  type Run,
  type Saved,
  toDense,
} from "@ranksim/core";
import { encodeLabels } from "@ranksim/core/internal";
import { accuracy } from "../src/select/metrics.ts";

export interface NearestMeanParams {
  readonly firstOnly: boolean;
  readonly seed: number;
}

export class NearestMean implements Estimator<MatrixLike, NearestMeanModel> {
  readonly kind = "nearest-mean";
  readonly params: NearestMeanParams & { readonly [name: string]: unknown };

  constructor(params: Partial<NearestMeanParams> = {}) {
    for (const name of Object.keys(params)) {
      if (name !== "firstOnly" && name !== "seed") throw new Error(`unknown parameter ${name}`);
    }
    this.params = { firstOnly: false, seed: 0, ...params };
  }

  with(changes: Partial<NearestMeanParams>): NearestMean {
    return new NearestMean({ ...this.params, ...changes });
  }

  async fit(x: MatrixLike, y?: Labels | LabelSets, run: Run = {}): Promise<NearestMeanModel> {
    run.signal?.throwIfAborted();
    await run.onProgress?.({ stage: "fit", share: 0.5 });
    const data = toDense(asMatrix(x));
    const { classes, codes } = encodeLabels(y as Labels, data.rows);
    const means = classes.map((_, c) => {
      const own = Array.from({ length: data.rows }, (_, r) => r).filter((r) => codes[r] === c);
      return Array.from({ length: data.features }, (_, i) => own.reduce((s, r) => s + data.row(r)[i], 0) / own.length);
    });
    await run.onProgress?.({ stage: "fit", share: 1 });
    return new NearestMeanModel(classes, means, this.params.firstOnly);
  }
}

export class NearestMeanModel implements PredictingModel<MatrixLike, Label> {
  readonly kind = "nearest-mean";
  readonly classes: readonly Label[];
  readonly means: readonly (readonly number[])[];
  readonly firstOnly: boolean;

  constructor(classes: readonly Label[], means: readonly (readonly number[])[], firstOnly: boolean) {
    this.classes = classes;
    this.means = means;
    this.firstOnly = firstOnly;
  }

  async predict(x: MatrixLike): Promise<Label[]> {
    const probabilities = await this.predictProbabilities(x);
    return Array.from({ length: probabilities.rows }, (_, r) => {
      const row = Array.from(probabilities.row(r));
      return this.classes[row.indexOf(Math.max(...row))];
    });
  }

  async predictProbabilities(x: MatrixLike): Promise<Dense> {
    const data = toDense(asMatrix(x));
    return Dense.fromRows(
      Array.from({ length: data.rows }, (_, r) => {
        if (this.firstOnly) return this.classes.map((_, c) => (c === 0 ? 1 : 0));
        const far = this.means.map((mean) => mean.reduce((s, value, i) => s + (value - data.row(r)[i]) ** 2, 0));
        const near = far.map((distance) => 1 / (1e-9 + distance));
        const sum = near.reduce((a, b) => a + b);
        return near.map((value) => value / sum);
      }),
    );
  }

  async score(x: MatrixLike, y: Labels | LabelSets): Promise<number> {
    return accuracy(y as Labels, await this.predict(x));
  }

  save(): Saved {
    return { kind: this.kind, meta: { classes: this.classes, firstOnly: this.firstOnly }, arrays: {} };
  }
}
