/** RST: the rank similarity transform. Unsupervised filters whose similarities are a sparse nonlinear space. */

import { orGiveUp } from "../backends/kept-bank.ts";
import { joinSums } from "../bank/sums.ts";
import type { FilterBank, RowSource } from "../kernels/shapes.ts";
import type { Csr } from "../matrix/csr.ts";
import type { LabelSets, Labels } from "../matrix/labels.ts";
import type { MatrixLike } from "../matrix/matrix.ts";
import { checkWeights, type Weighted, weightRows } from "../matrix/row-weights.ts";
import { matchingRows, type RowsLike, trainingRows } from "../matrix/source.ts";
import type { Saved } from "../model-file/saved.ts";
import { readFilterParams } from "../model-file/stored/arrays.ts";
import { readFilters } from "../model-file/stored/filters.ts";
import { readReport } from "../model-file/stored/report.ts";
import type { BankExplanation } from "../paper/explain.ts";
import { oneRow, TrainedModel } from "./class-model.ts";
import type { Estimator, ModelReader, Run, TransformingModel } from "./estimator.ts";
import { explainFilters, type FilterParts, paramsWithNBest, rowsOfFilter, saveFilters } from "./filter-model.ts";
import { Parametrized, paramsAsJson } from "./parameter.ts";
import { WHOLE_PARAMETERS, type WholeParams } from "./params.ts";
import { advance, withBackend } from "./run.ts";
import { makeReport, storedFilters, trainOnAll } from "./train.ts";

/** Parameters of the transform. */
export type TransformParams = WholeParams;

/**
 * Maps rows to their similarities to rank filters.
 *
 * ```ts
 * const model = await new RankSimilarityTransform({ filters: 150 }).fit(x);
 * const similarities = await model.transform(x); // Csr: rows x filters, at most nBest values a row
 * ```
 */
export class RankSimilarityTransform
  extends Parametrized<TransformParams>
  implements Estimator<MatrixLike, TransformModel>
{
  readonly kind = "transform";
  readonly takesWeights = true;

  constructor(params: Partial<TransformParams> = {}) {
    super(params, WHOLE_PARAMETERS);
  }

  /** Learns filters from the rows; labels are not used and may be left out. */
  fit(x: RowSource, y?: Labels | LabelSets, run?: Run & Weighted): Promise<TransformModel>;
  fit(x: MatrixLike, y?: Labels | LabelSets, run?: Run & Weighted): Promise<TransformModel>;
  async fit(x: RowsLike, _y?: Labels | LabelSets, run: Run & Weighted = {}): Promise<TransformModel> {
    const matrix = trainingRows(x);
    const weights = checkWeights(run, matrix.rows, this.params.filterFunction);
    const began = performance.now();
    return withBackend(run, matrix, async (backend) => {
      const summed = weights ? await weightRows(matrix, weights) : matrix;
      const call = { share: 1, unweighted: matrix, keepBank: true };
      const { trained, distribution, notes } = await trainOnAll(summed, this.params, backend, run, call);
      const { bank, loaded, members, sums } = trained;
      await orGiveUp(loaded, advance(run, { stage: "fit", share: 1 }));
      const report = makeReport(matrix.features, [{ rows: matrix.rows, trained }], notes, began, backend.name);
      const keptSums = sums && { sums: joinSums(sums, matrix.features), seen: Uint32Array.of(matrix.rows) };
      const filters = storedFilters({ bank, loaded, members, distribution, keptSums });
      return new TransformModel({ filters, params: paramsAsJson(this.params), report });
    });
  }

  /** Learns filters and transforms the same rows. */
  async fitTransform(x: MatrixLike, y?: Labels | LabelSets, run: Run & Weighted = {}): Promise<Csr> {
    return (await this.fit(x, y, run)).transform(x, run);
  }
}

/** Trained filters that transform rows. Made by `RankSimilarityTransform.fit` or `loadModel`. */
export class TransformModel extends TrainedModel<FilterParts> implements TransformingModel<MatrixLike> {
  readonly kind = "transform";

  get features(): number {
    return this.bank.features;
  }

  get nBest(): number {
    return this.params.nBest as number;
  }

  /** The filters. Not to be written to. */
  get bank(): FilterBank {
    return this.parts.filters.bank;
  }

  /** The values the weights were drawn from; absent for ranks. */
  get distribution(): Float64Array | undefined {
    return this.parts.filters.distribution;
  }

  /** Training rows that each filter was made from. */
  filterRows(filter: number): Uint32Array {
    return rowsOfFilter(this.parts.filters, filter);
  }

  /** The same filters with another nBest. */
  withNBest(nBest: number): this {
    return this.copy({ params: paramsWithNBest(this.params, nBest) });
  }

  /** The model with new rows added; this one stays as it is. Needs `keepSums`. New rows count on after the earlier ones in `filterRows`. */
  async partialFit(x: MatrixLike, _y?: Labels | LabelSets, run: Run = {}): Promise<this> {
    const { addToFilters } = await import("./partial-fit.ts");
    return this.copy(await withBackend(run, x, (backend) => addToFilters(this.parts, x, backend, run)), true);
  }

  /** Similarities, rows x filters; at most nBest values a row are not zero (more only through ties). */
  async transform(x: RowsLike, run: Run = {}): Promise<Csr> {
    const matrix = matchingRows(x, this.features);
    const { similarityMatrix } = await import("../paper/similarity.ts");
    const tell = (share: number) => advance(run, { stage: "transform", share });
    return withBackend(run, matrix, async (backend) => {
      const similar = await similarityMatrix(matrix, this.parts.filters.loaded, this.nBest, backend, tell);
      await tell(1);
      return similar;
    });
  }

  /** The strongest filters of one row, and the features that set the strongest apart from the second. */
  async explain(x: MatrixLike, row: number, run: Run = {}): Promise<BankExplanation> {
    const one = oneRow(x, row, this.features);
    return withBackend(run, one, (backend) => explainFilters(this.parts, one, (f) => f, backend));
  }

  save(): Saved {
    return { kind: this.kind, ...saveFilters(this.parts) };
  }
}

/** Reads a stored transform. */
export const transformReader: ModelReader = {
  kind: "transform",
  read: (saved) => {
    const params = readFilterParams(saved);
    return new TransformModel({ filters: readFilters(saved), params, report: readReport(saved) });
  },
};
