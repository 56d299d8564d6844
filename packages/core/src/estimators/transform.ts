/** RST: the rank similarity transform. Unsupervised filters whose similarities are a sparse nonlinear space. */

import { orGiveUp } from "../backends/kept-bank.ts";
import { joinSums } from "../bank/sums.ts";
import { growFilters } from "../beyond/later-rows/grow-filters.ts";
import type { RowSource } from "../kernels/shapes.ts";
import { Csr } from "../matrix/csr.ts";
import type { LabelSets, Labels } from "../matrix/labels.ts";
import { type MatrixLike, matchingMatrix } from "../matrix/matrix.ts";
import { checkWeights, type Weighted, weightRows } from "../matrix/row-weights.ts";
import { matchingRows, type RowsLike, trainingRows } from "../matrix/source.ts";
import type { Saved } from "../model-file/saved.ts";
import {
  filterArrays,
  readFilters,
  readNBest,
  readParams,
  readReport,
  storedFilters,
} from "../model-file/stored/filters.ts";
import { reportAsJson } from "../model-file/stored/report.ts";
import { type BankExplanation, explainRow } from "../paper/explain.ts";
import { type Similar, similarities } from "../paper/similarity.ts";
import type { Estimator, ModelReader, Run, TransformingModel } from "./estimator.ts";
import { FilterModel } from "./filter-model.ts";
import { checkParams, paramsAsJson, WHOLE_PARAMETERS, type WholeParams } from "./params.ts";
import { addedMatrix, addToReport, keptSumsOf, refuseUnsummed, storeSummed, summed } from "./partial-fit.ts";
import { makeReport } from "./report.ts";
import { oneRow } from "./row.ts";
import { advance, withBackend } from "./run.ts";
import { inheritSchema } from "./schema.ts";
import { trainWhole } from "./whole.ts";

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
export class RankSimilarityTransform implements Estimator<MatrixLike, TransformModel> {
  readonly kind = "transform";
  readonly takesWeights = true;
  readonly params: Readonly<TransformParams> & { readonly [name: string]: unknown };

  constructor(params: Partial<TransformParams> = {}) {
    this.params = checkParams<TransformParams & { readonly [name: string]: unknown }>(params, WHOLE_PARAMETERS);
  }

  /** A copy with some parameters changed. */
  with(changes: Partial<TransformParams>): RankSimilarityTransform {
    return new RankSimilarityTransform({ ...this.params, ...changes });
  }

  /** Learns filters from the rows; labels are not used and may be left out. */
  fit(x: RowSource, y?: Labels | LabelSets, run?: Run & Weighted): Promise<TransformModel>;
  fit(x: MatrixLike, y?: Labels | LabelSets, run?: Run & Weighted): Promise<TransformModel>;
  async fit(x: RowsLike, _y?: Labels | LabelSets, run: Run & Weighted = {}): Promise<TransformModel> {
    const matrix = trainingRows(x);
    refuseUnsummed(this.params);
    const weights = checkWeights(run, matrix.rows, this.params.filterFunction);
    const began = performance.now();
    return withBackend(run, async (backend) => {
      const summed = weights ? await weightRows(matrix, weights) : matrix;
      const call = { share: 1, unweighted: matrix, keepBank: true };
      const { trained, distribution, notes } = await trainWhole(summed, this.params, run, backend, call);
      const { bank, loaded, members, sums } = trained;
      await orGiveUp(loaded, advance(run, { stage: "fit", share: 1 }));
      const seconds = (performance.now() - began) / 1000;
      const report = makeReport(matrix.features, [{ rows: matrix.rows, trained }], notes, seconds, backend.name);
      const keptSums = sums && { sums: joinSums(sums, matrix.features), seen: Uint32Array.of(matrix.rows) };
      const filters = storedFilters({ bank, loaded, members, distribution, keptSums });
      return new TransformModel(filters, paramsAsJson(this.params), this.params.nBest, report);
    });
  }

  /** Learns filters and transforms the same rows. */
  async fitTransform(x: MatrixLike, y?: Labels | LabelSets, run: Run & Weighted = {}): Promise<Csr> {
    return (await this.fit(x, y, run)).transform(x, run);
  }
}

/** Trained filters that transform rows. Made by `RankSimilarityTransform.fit` or `loadModel`. */
export class TransformModel extends FilterModel implements TransformingModel<MatrixLike> {
  readonly kind = "transform";

  /** The same filters with another nBest. */
  withNBest(nBest: number): TransformModel {
    const params = checkParams<TransformParams>({ nBest }, WHOLE_PARAMETERS);
    return inheritSchema(new TransformModel(this.filters, { ...this.params, nBest }, params.nBest, this.report), this);
  }

  /**
   * The model with new rows added; this one stays as it is. Needs `keepSums`. New rows count on after the earlier ones in
   * `filterRows`.
   */
  async partialFit(x: MatrixLike, _y?: Labels | LabelSets, run: Run = {}): Promise<TransformModel> {
    const keptSums = keptSumsOf(this.filters, this.kind);
    const { matrix, first } = addedMatrix(x, this.features, keptSums);
    const began = performance.now();
    return withBackend(run, async (backend) => {
      await advance(run, { stage: "spread", share: 0 });
      const numbers = Uint32Array.from({ length: matrix.rows }, (_, r) => first + r);
      const grown = await growFilters(summed(this.filters, keptSums), matrix, numbers, this.distribution, backend);
      await advance(run, { stage: "fit", share: 1 });
      const filters = storeSummed(grown, this.distribution, { seen: Uint32Array.of(first + matrix.rows) });
      const seconds = (performance.now() - began) / 1000;
      const report = { ...addToReport(this.report, matrix.rows), seconds, backend: backend.name };
      return inheritSchema(new TransformModel(filters, this.params, this.nBest, report), this, true);
    });
  }

  /** Similarities, rows x filters; at most nBest values a row are not zero (more only through ties). */
  async transform(x: RowsLike, run: Run = {}): Promise<Csr> {
    const matrix = matchingRows(x, this.features);
    const tell = (share: number) => advance(run, { stage: "transform", share });
    return withBackend(run, async (backend) => {
      const parts: Similar[] = [];
      for await (const { similar } of similarities(matrix, this.keptBank, this.nBest, backend, tell))
        parts.push(similar);
      await tell(1);
      return toMatrix(parts, matrix.rows, this.bank.filters);
    });
  }

  /** The strongest filters of one row, and the features that set the strongest apart from the second. */
  async explain(x: MatrixLike, row: number, run: Run = {}): Promise<BankExplanation> {
    const one = oneRow(matchingMatrix(x, this.features), row);
    return withBackend(run, (backend) =>
      explainRow(one, this.keptBank, this.filters.members, this.nBest, (f) => f, backend),
    );
  }

  save(): Saved {
    const meta = { features: this.features, params: this.params, report: reportAsJson(this.report) };
    return { kind: this.kind, meta, arrays: filterArrays(this.filters) };
  }
}

/** Joins chunks of similarities into one matrix, filters ascending within a row. */
function toMatrix(parts: readonly Similar[], rows: number, filters: number): Csr {
  const entries = parts.reduce((sum, part) => sum + part.filter.length, 0);
  const offsets = new Uint32Array(rows + 1);
  const indices = new Uint32Array(entries);
  const values = new Float64Array(entries);
  let row = 0;
  let at = 0;
  for (const part of parts) {
    for (let r = 0; r + 1 < part.offsets.length; r++) {
      const from = part.offsets[r];
      const to = part.offsets[r + 1];
      const order = Uint32Array.from({ length: to - from }, (_, j) => from + j);
      order.sort((a, b) => part.filter[a] - part.filter[b]);
      for (const e of order) {
        indices[at] = part.filter[e];
        values[at++] = part.similarity[e];
      }
      offsets[++row] = at;
    }
  }
  return Csr.of(offsets, indices, values, filters);
}

/** Reads a stored transform. */
export const transformReader: ModelReader = {
  kind: "transform",
  read: (saved) => {
    const filters = readFilters(saved, []);
    return new TransformModel(filters, readParams(saved), readNBest(saved), readReport(saved));
  },
};
