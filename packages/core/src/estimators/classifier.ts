/** RSC: the rank similarity classifier. Filters are trained class by class; its model lets the strongest filter name the class. */

import type { RowSource } from "../backends/contract.ts";
import { RanksimError } from "../errors.ts";
import { isLabelSets, type LabelSets, type Labels } from "../matrix/labels.ts";
import type { MatrixLike } from "../matrix/matrix.ts";
import { checkWeights, type Weighted } from "../matrix/row-weights.ts";
import { type RowsLike, trainingRows } from "../matrix/source.ts";
import { trainClasses } from "./class-training.ts";
import { ClassifierModel } from "./classifier-model.ts";
import type { Estimator, Run } from "./estimator.ts";
import { CLASSIFIER_PARAMETERS, type ClassifierParams, checkParams, paramsAsJson } from "./params.ts";
import { withBackend } from "./run.ts";

/**
 * A fast multiclass classifier.
 *
 * ```ts
 * const model = await new RankSimilarityClassifier({ seed: 1 }).fit(x, y);
 * const labels = await model.predict(x);
 * ```
 */
export class RankSimilarityClassifier implements Estimator<MatrixLike, ClassifierModel> {
  readonly kind = "classifier";
  readonly takesWeights = true;
  /** Whether rows may be read, or made, when they are asked for. */
  get takesSource(): boolean {
    return this.params.shiftImages === undefined;
  }

  readonly params: Readonly<ClassifierParams> & { readonly [name: string]: unknown };

  constructor(params: Partial<ClassifierParams> = {}) {
    this.params = checkParams<ClassifierParams & { readonly [name: string]: unknown }>(params, CLASSIFIER_PARAMETERS);
  }

  /** A copy with some parameters changed. */
  with(changes: Partial<ClassifierParams>): RankSimilarityClassifier {
    return new RankSimilarityClassifier({ ...this.params, ...changes });
  }

  /** Learns filters for each class from rows and their labels. */
  fit(x: RowSource, y: Labels, run?: Run & Weighted): Promise<ClassifierModel>;
  fit(x: MatrixLike, y?: Labels | LabelSets, run?: Run & Weighted): Promise<ClassifierModel>;
  async fit(x: RowsLike, y?: Labels | LabelSets, run: Run & Weighted = {}): Promise<ClassifierModel> {
    const { params } = this;
    const matrix = trainingRows(x);
    if (y === undefined) throw new RanksimError("bad-labels", `expected ${matrix.rows} labels, found none`);
    if (isLabelSets(y)) {
      throw new RanksimError(
        "bad-labels",
        "expected one label for each row; RankSimilarityProbabilisticClassifier takes several",
      );
    }
    const weights = checkWeights(run, matrix.rows, params.filterFunction);
    return withBackend(run, async (backend) => {
      const trained = await trainClasses(matrix, y, params, backend, run, weights);
      const { filters, filterClass, classes, report, heldOut } = trained;
      const model = new ClassifierModel(filters, filterClass, classes, paramsAsJson(params), params.nBest, report);
      if (!heldOut || params.calibrate === "none") return model;
      const quiet = run.signal ? { backend, signal: run.signal } : { backend };
      return model.calibrate(heldOut.x, heldOut.y, params.calibrate, quiet);
    });
  }
}
