/**
 * RSPC: the rank similarity probabilistic classifier. One bank for all rows; every filter carries the label shares of the
 * rows it wins. Takes one label per row (multiclass) or several (multilabel).
 */

import type { RowSource } from "../backends/contract.ts";
import { orGiveUp } from "../backends/kept-bank.ts";
import { joinSums } from "../bank/sums.ts";
import { RanksimError } from "../errors.ts";
import { numbersBelow } from "../kernels/rows.ts";
import type { Csr } from "../matrix/csr.ts";
import {
  type Encoded,
  encodeLabels,
  encodeSets,
  isLabelSets,
  type Label,
  type LabelSets,
  type Labels,
} from "../matrix/labels.ts";
import type { MatrixLike } from "../matrix/matrix.ts";
import { checkWeights, type Weighted, weightRows } from "../matrix/row-weights.ts";
import { pickRows, type RowsLike, trainingRows, zeroRows } from "../matrix/source.ts";
import { storedFilters } from "../model-file/stored/filters.ts";
import { countLabels, countPresence, type LabelCounts, sharesOf } from "../paper/filter-labels.ts";
import type { Estimator, Run } from "./estimator.ts";
import { CALIBRATION_SHARE, holdOutRows, THRESHOLD_SHARE } from "./held-out-rows.ts";
import { checkParams, PROBABILISTIC_PARAMETERS, type ProbabilisticParams, paramsAsJson } from "./params.ts";
import { refuseUnsummed } from "./partial-fit.ts";
import { ProbabilisticModel } from "./probabilistic-model.ts";
import { makeReport } from "./report.ts";
import { advance, withBackend } from "./run.ts";
import { trainWhole } from "./whole.ts";

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
export class RankSimilarityProbabilisticClassifier implements Estimator<MatrixLike, ProbabilisticModel> {
  readonly kind = "probabilistic";
  readonly takesWeights = true;
  readonly params: Readonly<ProbabilisticParams> & { readonly [name: string]: unknown };

  constructor(params: Partial<ProbabilisticParams> = {}) {
    this.params = checkParams<ProbabilisticParams & { readonly [name: string]: unknown }>(
      params,
      PROBABILISTIC_PARAMETERS,
    );
  }

  /** A copy with some parameters changed. */
  with(changes: Partial<ProbabilisticParams>): RankSimilarityProbabilisticClassifier {
    return new RankSimilarityProbabilisticClassifier({ ...this.params, ...changes });
  }

  /** Learns filters from the rows and what each filter's rows are called. */
  fit(x: RowsLike, y: Labels, run?: Run & Weighted): Promise<ProbabilisticModel<Label>>;
  fit(x: RowsLike, y: LabelSets, run?: Run & Weighted): Promise<ProbabilisticModel<Label[]>>;
  fit(x: MatrixLike, y?: Labels | LabelSets, run?: Run & Weighted): Promise<ProbabilisticModel>;
  async fit(x: RowsLike, y?: Labels | LabelSets, run: Run & Weighted = {}): Promise<ProbabilisticModel> {
    const matrix = trainingRows(x);
    if (y === undefined) throw new RanksimError("bad-labels", `expected ${matrix.rows} labels, found none`);
    refuseUnsummed(this.params);
    const several = isLabelSets(y);
    const sets = several ? encodeSets(y, matrix.rows) : undefined;
    const single = several ? undefined : encodeLabels(y, matrix.rows);
    const classes = sets?.labels ?? (single?.classes as readonly Label[]);
    if (classes.length === 0) throw new RanksimError("bad-labels", "expected at least 1 label, found only empty sets");

    if (!several && this.params.thresholds !== "none") {
      throw new RanksimError("bad-params", 'thresholds: expected "none" where each row has one label');
    }

    const weights = wholeWeights(checkWeights(run, matrix.rows, this.params.filterFunction));
    const began = performance.now();
    return withBackend(run, async (backend) => {
      const rest = this.#holdOut(single?.codes ?? new Uint32Array(matrix.rows), single ? classes.length : 1);
      const { rows, note } = await rowsToTrainOn(matrix, rest?.train ?? numbersBelow(matrix.rows));
      const isWhole = rows.length === matrix.rows;
      const own = isWhole ? matrix : pickRows(matrix, rows);
      const counted = weights && Float64Array.from(rows, (r) => weights[r]);
      const training = counted ? await weightRows(own, counted) : own;
      const params = {
        ...this.params,
        initialRows: this.params.initialRows && positionsOf(this.params.initialRows, rows),
      };
      const label = () => advance(run, { stage: "label", share: TRAINING_SHARE });
      const call = { share: TRAINING_SHARE, beforeWinners: label, unweighted: own, keepBank: true };
      const { trained, distribution, notes } = await trainWhole(training, params, run, backend, call);
      const { bank, loaded } = trained;
      const winners = trained.winners as Uint32Array;
      const codesOf = ({ codes }: Encoded) => (isWhole ? codes : rows.map((r) => codes[r]));
      const counts: LabelCounts = sets
        ? countPresence(winners, sets.present.gather(rows), bank.filters, counted)
        : countLabels(winners, codesOf(single as Encoded), bank.filters, classes.length, counted);
      await orGiveUp(loaded, advance(run, { stage: "label", share: 1 }));

      const { offsets } = trained.members;
      const members = isWhole ? trained.members : { offsets, rows: trained.members.rows.map((r) => rows[r]) };
      const seconds = (performance.now() - began) / 1000;
      const report = makeReport(
        matrix.features,
        [{ rows: training.rows, trained }],
        [...notes, ...[note, rest?.note].filter((text) => text !== undefined)],
        seconds,
        backend.name,
      );
      const { sums } = trained;
      const keptSums = sums && {
        sums: joinSums(sums, matrix.features),
        seen: Uint32Array.of(matrix.rows),
        labelRows: counts.rows,
      };
      const stored = storedFilters({ bank, loaded, members, distribution, keptSums });
      const shares = sharesOf(counts, several, params.combine);
      const plain = paramsAsJson({ ...this.params, thresholds: "none", calibrate: "none" });
      const model = new ProbabilisticModel(stored, shares, classes, several, plain, params.nBest, report);
      if (!rest) return model;
      const truth = sets
        ? Array.from(rest.heldOut, (r) => labelsOf(sets.present, r).map((o) => classes[o]))
        : Array.from(rest.heldOut, (r) => classes[(single as Encoded).codes[r]]);
      const quiet = run.signal ? { backend, signal: run.signal } : { backend };
      return this.#judge(model, pickRows(matrix, rest.heldOut), truth, quiet);
    });
  }

  /** The rows to choose thresholds and fit probabilities on, if either is asked for. */
  #holdOut(codes: Uint32Array, classes: number): ReturnType<typeof holdOutRows> | undefined {
    const { params } = this;
    if (params.thresholds !== "none") return holdOutRows(codes, classes, THRESHOLD_SHARE, params, "thresholds");
    if (params.calibrate !== "none") return holdOutRows(codes, classes, CALIBRATION_SHARE, params, "calibrate");
    return undefined;
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

function labelsOf({ offsets, indices }: Csr, row: number): number[] {
  return Array.from(indices.subarray(offsets[row], offsets[row + 1]));
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
