/**
 * RSPC: the rank similarity probabilistic classifier. One bank for all rows; every filter carries the label shares of the
 * rows it wins. Takes one label per row (multiclass) or several (multilabel).
 */

import type { RowSource } from "../backends/contract.ts";
import { orGiveUp } from "../backends/kept-bank.ts";
import { joinSums } from "../bank/sums.ts";
import { type Truth, truthAt } from "../beyond/probabilities/fitted.ts";
import { RanksimError } from "../errors.ts";
import { numbersBelow } from "../kernels/rows.ts";
import type { Label, LabelSets, Labels } from "../matrix/labels.ts";
import type { MatrixLike } from "../matrix/matrix.ts";
import { checkWeights, type Weighted, weightRows } from "../matrix/row-weights.ts";
import { pickRows, type RowsLike, trainingRows, zeroRows } from "../matrix/source.ts";
import { type LabelCounts, sharesOf } from "../paper/filter-labels.ts";
import { countLabels, countPresence } from "../paper/label-counts.ts";
import type { Estimator, Run } from "./estimator.ts";
import { rowsToFitOn } from "./held-out-rows.ts";
import { Parametrized, paramsAsJson } from "./parameter.ts";
import { PROBABILISTIC_PARAMETERS, type ProbabilisticParams } from "./params.ts";
import { ProbabilisticModel } from "./probabilistic-model.ts";
import { advance, quietRun, withBackend } from "./run.ts";
import { labelsToLearn, makeReport, storedFilters, trainOnAll } from "./train.ts";

/** Share of a fit spent on training; the rest labels the filters. */
const TRAINING_SHARE = 0.9;

/**
 * A classifier with probabilities learned from the rows each filter wins.
 *
 * ```ts
 * const model = await new RankSimilarityProbabilisticClassifier().fit(x, [["sport", "news"], ["news"], []]);
 * const sets = await model.predict(x); // a list of labels for each row
 * ```
 */
export class RankSimilarityProbabilisticClassifier
  extends Parametrized<ProbabilisticParams>
  implements Estimator<MatrixLike, ProbabilisticModel>
{
  readonly kind = "probabilistic";
  readonly takesWeights = true;

  constructor(params: Partial<ProbabilisticParams> = {}) {
    super(params, PROBABILISTIC_PARAMETERS);
  }

  /** Learns filters from the rows and what each filter's rows are called. */
  fit(x: RowsLike, y: Labels, run?: Run & Weighted): Promise<ProbabilisticModel<Label>>;
  fit(x: RowsLike, y: LabelSets, run?: Run & Weighted): Promise<ProbabilisticModel<Label[]>>;
  fit(x: MatrixLike, y?: Labels | LabelSets, run?: Run & Weighted): Promise<ProbabilisticModel>;
  async fit(x: RowsLike, y?: Labels | LabelSets, run: Run & Weighted = {}): Promise<ProbabilisticModel> {
    const matrix = trainingRows(x);
    const { classes, truth, multilabel } = labelsToLearn(y, matrix.rows, this.params);
    const weights = wholeWeights(checkWeights(run, matrix.rows, this.params.filterFunction));
    const began = performance.now();
    return withBackend(run, matrix, async (backend) => {
      const codes = "codes" in truth ? truth.codes : new Uint32Array(matrix.rows);
      const [rest] = rowsToFitOn(codes, multilabel ? 1 : classes.length, this.params);
      const { rows, note } = await rowsToTrainOn(matrix, rest?.train ?? numbersBelow(matrix.rows));
      const isWhole = rows.length === matrix.rows;
      const kept = isWhole ? matrix : pickRows(matrix, rows);
      const counted = weights && Float64Array.from(rows, (r) => weights[r]);
      const training = counted ? await weightRows(kept, counted) : kept;
      const params = {
        ...this.params,
        initialRows: this.params.initialRows && positionsOf(this.params.initialRows, rows),
      };
      const label = () => advance(run, { stage: "label", share: TRAINING_SHARE });
      const call = { share: TRAINING_SHARE, beforeWinners: label, unweighted: kept, keepBank: true };
      const { trained, distribution, notes } = await trainOnAll(training, params, backend, run, call);
      const { bank, loaded } = trained;
      const winners = trained.winners as Uint32Array;
      const own = isWhole ? truth : truthAt(truth, rows);
      const counts: LabelCounts =
        "present" in own
          ? countPresence(winners, own.present, bank.filters, counted)
          : countLabels(winners, own.codes, bank.filters, classes.length, counted);
      await orGiveUp(loaded, advance(run, { stage: "label", share: 1 }));

      const { offsets } = trained.members;
      const members = isWhole ? trained.members : { offsets, rows: trained.members.rows.map((r) => rows[r]) };
      const told = [...notes, ...[note, rest?.note].filter((text) => text !== undefined)];
      const report = makeReport(matrix.features, [{ rows: training.rows, trained }], told, began, backend.name);
      const { sums } = trained;
      const keptSums = sums && {
        sums: joinSums(sums, matrix.features),
        seen: Uint32Array.of(matrix.rows),
        labelRows: counts.rows,
      };
      const model = new ProbabilisticModel({
        filters: storedFilters({ bank, loaded, members, distribution, keptSums }),
        labels: sharesOf(counts, multilabel, params.combine),
        classes,
        multilabel,
        params: paramsAsJson({ ...this.params, thresholds: "none", calibrate: "none" }),
        report,
      });
      if (!rest) return model;
      const labels = labelsOf(truthAt(truth, rest.heldOut), classes);
      return this.#judge(model, pickRows(matrix, rest.heldOut), labels, quietRun(run, backend));
    });
  }

  /** The model with what its parameters ask to be fitted on rows it was not trained on. */
  async #judge(model: ProbabilisticModel, x: RowSource, y: Label[] | Label[][], run: Run): Promise<ProbabilisticModel> {
    const { thresholds, calibrate } = this.params;
    const chosen =
      thresholds === "none" ? model : await model.chooseThresholds(x, y as Label[][], { rule: thresholds, ...run });
    return calibrate === "none" ? chosen : chosen.calibrate(x, y, { method: calibrate, ...run });
  }
}

/** Labels are counted, so rows have to weigh whole numbers. */
function wholeWeights(weights: Float64Array | undefined): Float64Array | undefined {
  const wrong = weights?.findIndex((weight) => !Number.isInteger(weight)) ?? -1;
  if (weights === undefined || wrong < 0) return weights;
  throw new RanksimError("bad-params", `weights: row ${wrong}: expected a whole number, found ${weights[wrong]}`);
}

function labelsOf(truth: Truth, classes: readonly Label[]): Label[] | Label[][] {
  if ("codes" in truth) return Array.from(truth.codes, (code) => classes[code]);
  const { rows, offsets, indices } = truth.present;
  return Array.from({ length: rows }, (_, r) =>
    Array.from(indices.subarray(offsets[r], offsets[r + 1]), (code) => classes[code]),
  );
}

/** Those of the listed rows that are not all zero; all of them if there are no others. */
async function rowsToTrainOn(x: RowSource, listed: Uint32Array): Promise<{ rows: Uint32Array; note?: string }> {
  const isZero = await zeroRows(x);
  const rows = isZero.includes(1) ? listed.filter((r) => isZero[r] === 0) : listed;
  if (rows.length === 0) return { rows: listed, note: "all rows are zero: the filters cannot tell rows apart" };
  if (rows.length === listed.length) return { rows };
  return { rows, note: `${listed.length - rows.length} rows of zeros were left out of training` };
}

/** The positions of `wanted` rows among the rows trained on. */
function positionsOf(wanted: readonly number[], rows: Uint32Array): number[] {
  const position = new Map(Array.from(rows, (row, p) => [row, p]));
  return Array.from(wanted, (row) => {
    const found = position.get(row);
    if (found !== undefined) return found;
    throw new RanksimError(
      "bad-params",
      `initialRows: expected rows that are there and not all zero, found row ${row}`,
    );
  });
}
