/** RSC: the rank similarity classifier. Filters are trained class by class; its model lets the strongest filter name the class. */

import { RanksimError } from "../errors.ts";
import type { Groups } from "../kernels/shapes.ts";
import { encodeLabels, isLabelSets, type Label, type LabelSets, type Labels } from "../matrix/labels.ts";
import { type Matrix, type MatrixLike, trainingMatrix } from "../matrix/matrix.ts";
import { allocateFilters, countFilters } from "../method/allocate.ts";
import { joinBanks } from "../method/bank.ts";
import { resolveDistribution } from "../method/distribution.ts";
import { groupByCode, groupListed, joinGroups } from "../method/groups.ts";
import { joinSums, type Sum } from "../method/sums.ts";
import { trainBank } from "../method/train.ts";
import { streams } from "../random.ts";
import { ClassifierModel } from "./classifier-model.ts";
import type { Estimator, Run } from "./estimator.ts";
import { CALIBRATION_SHARE, holdOutRows } from "./held-out-rows.ts";
import { checkInitialRowsByClass } from "./initial-rows.ts";
import { CLASSIFIER_PARAMETERS, type ClassifierParams, checkParams, paramsAsJson } from "./params.ts";
import { refuseUnsummed, sumsOf } from "./partial-fit.ts";
import { makeReport, shapeNotes } from "./report.ts";
import { advance, backendOf } from "./run.ts";
import { storedFilters } from "./saved-filters.ts";
import type { Kept } from "./saved-sums.ts";
import { refuseFullPlusplus } from "./whole.ts";

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
  readonly params: Readonly<ClassifierParams> & { readonly [name: string]: unknown };

  constructor(params: Partial<ClassifierParams> = {}) {
    this.params = checkParams<ClassifierParams & { readonly [name: string]: unknown }>(params, CLASSIFIER_PARAMETERS);
  }

  /** A copy with some parameters changed. */
  with(changes: Partial<ClassifierParams>): RankSimilarityClassifier {
    return new RankSimilarityClassifier({ ...this.params, ...changes });
  }

  /** Learns filters for each class from rows and their labels. */
  async fit(x: MatrixLike, y?: Labels | LabelSets, run: Run = {}): Promise<ClassifierModel> {
    const { params } = this;
    const matrix = trainingMatrix(x);
    if (y === undefined) throw new RanksimError("bad-labels", `expected ${matrix.rows} labels, found none`);
    if (isLabelSets(y)) {
      throw new RanksimError(
        "bad-labels",
        "expected one label for each row; RankSimilarityProbabilisticClassifier takes several",
      );
    }
    const began = performance.now();
    refuseUnsummed(params);
    const { classes, codes } = encodeLabels(y, matrix.rows);
    const all = groupByCode(codes, classes.length);
    const rest =
      params.calibrate === "none"
        ? undefined
        : holdOutRows(codes, classes.length, CALIBRATION_SHARE, params, "calibrate");
    const groups = rest ? groupListed(codes, classes.length, rest.train) : all;
    const rowsOf = (c: number) => groups.rows.subarray(groups.offsets[c], groups.offsets[c + 1]);
    const notes = [...shapeNotes(matrix.features), ...(rest ? [rest.note] : [])];
    const initialRows = params.initialRows && checkInitialRowsByClass(params.initialRows, classes, codes, groups);
    const filters =
      initialRows?.map((rows) => rows.length) ?? this.#allocate(groups.rows.length, classes, groups, notes);

    const backend = await backendOf(run);
    const generators = streams(params.seed);
    await advance(run, { stage: "distribution", share: 0 });
    const forDistribution = generators.next().value;
    const draw = (rows: Matrix) => resolveDistribution(rows, params.distribution, params, forDistribution, run.signal);
    const common = params.distributionPerClass ? undefined : draw(rest ? matrix.gather(rest.train) : matrix);

    const trained = [];
    const distributions: Float64Array[] = [];
    for (let c = 0; c < classes.length; c++) {
      const rows = rowsOf(c);
      const xc = matrix.gather(rows);
      const distribution = params.distributionPerClass ? draw(xc) : common;
      if (params.distributionPerClass && distribution) distributions.push(distribution);
      const label = classes[c];
      const share = (done: number) => (groups.offsets[c] + rows.length * done) / groups.rows.length;
      const bank = await trainBank(
        xc,
        filters[c],
        { ...params, initialRows: initialRows?.[c], distribution },
        generators.next().value,
        backend,
        (bank, step) =>
          advance(run, {
            stage: step ? "spread" : "initialize",
            label,
            ...step,
            filters: bank,
            share: share((1 + (step?.iteration ?? 0)) / (params.iterations + 1)),
          }),
      );
      trained.push({ label, rows: rows.length, trained: bank, sums: sumsOf(params, xc, bank.members) });
    }
    await advance(run, { stage: "fit", share: 1 });
    const stored = storedFilters({
      bank: joinBanks(trained.map(({ trained: { bank } }) => bank)),
      members: joinGroups(trained.map(({ trained: { members } }, c) => ({ groups: members, rows: rowsOf(c) }))),
      distribution: common ?? (distributions.length > 0 ? flat(distributions) : undefined),
      kept: params.keepSums ? keep(trained, all, matrix.features) : undefined,
    });
    const filterClass = Uint32Array.from(filters.flatMap((count, c) => new Array<number>(count).fill(c)));
    const seconds = (performance.now() - began) / 1000;
    const report = makeReport(matrix.features, trained, notes, seconds, backend.name);
    const model = new ClassifierModel(stored, filterClass, classes, paramsAsJson(params), params.nBest, report);
    if (!rest || params.calibrate === "none") return model;
    const quiet = run.signal ? { backend, signal: run.signal } : { backend };
    const truth = Array.from(rest.held, (r) => classes[codes[r]]);
    return model.calibrate(matrix.gather(rest.held), truth, params.calibrate, quiet);
  }

  /** Filters per class. */
  #allocate(rows: number, classes: readonly Label[], groups: Groups, notes: string[]): number[] {
    const { params } = this;
    const filters = countFilters(rows, params.filters, params.fastFilters, params.maxFilters);
    refuseFullPlusplus(params, filters, rows);
    const classRows = classes.map((_, c) => groups.offsets[c + 1] - groups.offsets[c]);
    const mayExceed = params.initialize === "weightedAverage";
    const allocated = allocateFilters(classes, classRows, filters, params.classWeight, mayExceed);
    if (!mayExceed && filters > rows) {
      notes.push(
        `${filters} filters were asked for ${rows} rows; initialize: "weightedAverage" allows more filters than rows`,
      );
    }
    return allocated;
  }
}

/** What is kept of the rows of each class, held-out ones among those that were seen. */
function keep(classes: readonly { sums: readonly Sum[] | undefined }[], seen: Groups, features: number): Kept {
  const sums = joinSums(
    classes.flatMap(({ sums }) => sums ?? []),
    features,
  );
  return { sums, seen: Uint32Array.from(classes, (_, c) => seen.offsets[c + 1] - seen.offsets[c]) };
}

function flat(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.length * parts[0].length);
  parts.forEach((part, j) => {
    all.set(part, j * part.length);
  });
  return all;
}
