/**
 * RSC: the rank similarity classifier. Filters are trained class by class, in one bank or in the several banks of a committee
 * (deviation 30), and refined if that is asked for; the strongest filters of the model name the class.
 */

import type { Backend, HeldRows, RowSource } from "../backends/contract.ts";
import { joinBanks } from "../bank/bank.ts";
import { distinctRows, groupByCode, groupListed, joinGroups } from "../bank/groups.ts";
import { joinSums } from "../bank/sums.ts";
import type { Refinement } from "../beyond/refinement/choice.ts";
import { RanksimError } from "../errors.ts";
import { listedRows } from "../kernels/rows.ts";
import type { Groups } from "../kernels/shapes.ts";
import { Dense } from "../matrix/dense.ts";
import { type Encoded, encodeLabels, isLabelSets, type Label, type LabelSets, type Labels } from "../matrix/labels.ts";
import type { MatrixLike } from "../matrix/matrix.ts";
import { checkWeights, type Weighted, weightRows } from "../matrix/row-weights.ts";
import { type Copied, copiesOf, rowsWithoutCopies } from "../matrix/shifted.ts";
import { gatherMatrix, pickRows, type RowsLike, trainingRows } from "../matrix/source.ts";
import { sameType } from "../matrix/values.ts";
import type { KeptSums } from "../model-file/stored/sums.ts";
import { allocateFilters } from "../paper/allocate.ts";
import { resolveDistribution } from "../paper/distribution.ts";
import { Streams } from "../random.ts";
import { ClassifierModel } from "./classifier-model.ts";
import type { Estimator, Run } from "./estimator.ts";
import { type RowsToFit, rowsToFitOn } from "./held-out-rows.ts";
import { Parametrized, paramsAsJson } from "./parameter.ts";
import { CLASSIFIER_PARAMETERS, type ClassifierParams } from "./params.ts";
import { advance, partOfRun, quietRun, withBackend } from "./run.ts";
import {
  type BankPlan,
  checkInitialRows,
  filtersFor,
  joinDistributions,
  makeReport,
  mayExceedRows,
  type Place,
  type PlainFilters,
  refuseLargeDistribution,
  shapeNotes,
  storedFilters,
  type TrainedBank,
  trainBanks,
} from "./train.ts";

/**
 * A fast multiclass classifier.
 *
 * ```ts
 * const model = await new RankSimilarityClassifier({ seed: 1 }).fit(x, y);
 * const labels = await model.predict(x);
 * ```
 */
export class RankSimilarityClassifier
  extends Parametrized<ClassifierParams>
  implements Estimator<MatrixLike, ClassifierModel>
{
  readonly kind = "classifier";
  readonly takesWeights = true;
  readonly takesCopies = true;
  /** Rows may be read, or made, when they are asked for. */
  readonly takesSource = true;

  constructor(params: Partial<ClassifierParams> = {}) {
    super(params, CLASSIFIER_PARAMETERS);
  }

  /** Learns filters for each class from rows and their labels. */
  fit(x: RowSource, y: Labels, run?: Run & Weighted & Copied): Promise<ClassifierModel>;
  fit(x: MatrixLike, y?: Labels | LabelSets, run?: Run & Weighted & Copied): Promise<ClassifierModel>;
  async fit(x: RowsLike, y?: Labels | LabelSets, run: Run & Weighted & Copied = {}): Promise<ClassifierModel> {
    const { params } = this;
    const matrix = trainingRows(x);
    if (y === undefined) throw new RanksimError("bad-labels", `expected ${matrix.rows} labels, found none`);
    if (isLabelSets(y)) {
      throw new RanksimError(
        "bad-labels",
        "expected one label for each row; RankSimilarityProbabilisticClassifier takes several",
      );
    }
    const rows = rowsWithoutCopies(matrix, run);
    const copies = matrix.rows / rows;
    const weights = checkWeights(run, rows, params.filterFunction);
    if (copies > 1 && params.keepSums) {
      throw new RanksimError("bad-params", "copies: no rows can be added later: expected keepSums false, found true");
    }
    const labels = encodeLabels(y, rows);
    const folds = rowsToFitOn(labels.codes, labels.classes.length, params, FACTOR_ROWS);
    return withBackend(run, matrix, async (backend) => {
      const all: ClassTask = { matrix, ...labels, copies, weights, params, backend };
      if (folds.length === 0) return trainClasses({ ...all, params: { ...params, calibrate: "none" } }, run);
      const labelsOf = (rows: Uint32Array) => Array.from(rows, (r) => labels.classes[labels.codes[r]]);
      const method = params.calibrate as Exclude<ClassifierParams["calibrate"], "none">;
      const quiet = quietRun(run, backend);
      if (params.calibrateOn === undefined) {
        const [rest] = folds;
        const part = await trainClasses({ ...all, rest }, run);
        return part.calibrate(pickRows(matrix, rest.heldOut), labelsOf(rest.heldOut), { method, ...quiet });
      }
      const fits = folds.length + 1;
      const whole = await trainClasses(all, sameNames(partOfRun(run, 0, 1 / fits), run));
      // Without the rows held out filters are refined as with them: probabilities fitted to plain filters do not suit refined ones.
      const { refinement: reuse } = whole.report;
      const parts = [];
      for (const [f, rest] of folds.entries()) {
        const part = partOfRun(run, (f + 1) / fits, (f + 2) / fits, `calibrate${f === 0 ? "" : f}`);
        const model = await trainClasses({ ...all, rest, reuse }, part);
        parts.push({ model, rows: pickRows(matrix, rest.heldOut) });
      }
      const asked = Uint32Array.from(folds.flatMap(({ heldOut }) => Array.from(heldOut)));
      return whole.calibratedBy(parts, pickRows(matrix, asked), labelsOf(asked), method, quiet);
    });
  }
}

/** A part of a call that is alone in keeping its state under the names of the whole. */
const sameNames = (part: Run, { checkpoint }: Run): Run => ({ ...part, ...(checkpoint && { checkpoint }) });

/** Rows that are enough to fit one factor; functions of each class need all of their share. */
const FACTOR_ROWS = 2500;

/** What is learned from. */
interface ClassTask extends Encoded {
  readonly matrix: RowSource;
  /** How often each row comes: copy c of row r is row c * rows / copies + r. Labels and weights are of the first ones. */
  readonly copies: number;
  readonly weights: Float64Array | undefined;
  /** Rows that are held out of training; absent: none. */
  readonly rest?: RowsToFit | undefined;
  readonly params: ClassifierParams;
  readonly backend: Backend;
  /** What refinement did in a training on other rows, to be done here as well. */
  readonly reuse?: Refinement | undefined;
}

/** Share of the progress that plain training takes when refinement follows. */
const PLAIN_SHARE = 0.3;

/** Learns filters for each class, without fitting probabilities. */
async function trainClasses(task: ClassTask, run: Run): Promise<ClassifierModel> {
  const { matrix, codes, copies, rest, params, backend } = task;
  const learning = rest ? pickRows(matrix, copiesOf(rest.train, codes.length, copies)) : matrix;
  // Rows that are worked out when they are asked for go to the back end as a whole once, and those of classes are copied from there.
  if (!learning.made || !params.refine || task.weights) return trainOn(learning, task, run);
  const filters = filtersFor(params, learning.rows / copies, task.classes.length * params.committee);
  const plan = { filters: Math.ceil(filters / params.committee), searches: params.refineEpochs };
  const held = await backend.hold(learning, plan);
  return trainOn(learning, task, run, held).finally(() => held.release());
}

async function trainOn(learning: RowSource, task: ClassTask, run: Run, held?: HeldRows): Promise<ClassifierModel> {
  const began = performance.now();
  const { matrix, classes, codes, copies, weights, rest, params, backend } = task;
  const rows = codes.length;
  const allCodes = Uint32Array.from({ length: matrix.rows }, (_, r) => codes[r % rows]);
  // What filters are made of; draws see the rows as they are.
  const summed = weights
    ? await weightRows(
        matrix,
        Float64Array.from({ length: matrix.rows }, (_, r) => weights[r % rows]),
      )
    : matrix;
  const training = rest && copiesOf(rest.train, rows, copies);
  const learnedCodes = training ? training.map((r) => allCodes[r]) : allCodes;
  const groups = training ? groupListed(allCodes, classes.length, training) : groupByCode(allCodes, classes.length);
  const rowCount = learning.rows / copies;
  const notes = [...shapeNotes(matrix.features), ...(rest ? [rest.note] : [])];
  const initialRows = params.initialRows && positionsInClasses(params.initialRows, classes, codes, groups);
  const filters = initialRows?.map((rows) => rows.length) ?? allocate(params, rowCount, classes, groups, notes);

  refuseLargeDistribution(run, params, matrix);
  await advance(run, { stage: "distribution", share: 0 });
  const streams = new Streams(params.seed);
  const forDistribution = streams.distribution();
  const draw = (rows: RowSource) => resolveDistribution(rows, params.distribution, params, forDistribution, run.signal);
  const common = params.distributionPerClass ? undefined : await draw(learning);
  const drawn: (Float64Array | undefined)[] = [];
  const most = params.distributionPerClass ? 1 : (backend.overlap ?? 1); // distributions are drawn in the order of the classes
  const rowsOfClass = held
    ? await classReader(heldSource(learning, held), groupByCode(learnedCodes, classes.length), false)
    : await classReader(summed, groups, most > 1 && params.filterFunction === "meanRank");
  const planOf = (c: number, j: number): BankPlan => {
    const own = groups.rows.subarray(groups.offsets[c], groups.offsets[c + 1]);
    return {
      label: classes[c],
      rows: own.length,
      filters: filters[j],
      initialRows: initialRows?.[c],
      generator: streams.trainingOfClass(j, classes.length),
      name: `bank-${j}`,
      begin: async (place) => {
        const x = await rowsOfClass(c, place);
        if (params.distributionPerClass) drawn[c] ??= await draw(weights ? pickRows(matrix, own) : x);
        return { x, distribution: params.distributionPerClass ? drawn[c] : common };
      },
    };
  };
  // Class by class, with all banks of a class in a row: rows that are made when they are asked for are made once.
  const { committee } = params;
  const places = [...classes.keys()].flatMap((c) =>
    Array.from({ length: committee }, (_, b) => ({ c, j: b * classes.length + c })),
  );
  const plans = places.map(({ c, j }) => planOf(c, j));
  const done = await trainBanks(plans, params, backend, run, { share: params.refine ? PLAIN_SHARE : 1, most });
  const trained: ClassBank[] = [];
  for (const [p, { c, j }] of places.entries()) {
    const own = groups.rows.subarray(groups.offsets[c], groups.offsets[c + 1]);
    trained[j] = { ...done[p], label: classes[c], rows: own.length / copies, members: own.map((r) => r % rows) };
  }

  const first = trained.slice(0, classes.length);
  const plain: PlainFilters = {
    bank: joinBanks(trained.map(({ trained: { bank } }) => bank)),
    members: rowsOfFilters(trained, copies),
    distribution: common ?? joinDistributions(first.map(({ distribution }) => distribution)),
    keptSums: params.keepSums ? keep(first, groupByCode(codes, classes.length), matrix.features) : undefined,
    filterBank: committee > 1 ? repeat(filters, (j) => Math.floor(j / classes.length)) : undefined,
  };
  const filterClass = repeat(filters, (j) => j % classes.length);
  const refining = {
    matrix: held ? heldSource(learning, held) : training ? pickRows(summed, training) : summed,
    codes: learnedCodes,
    held,
    copies,
    filters: plain,
    filterClass,
    classes,
    params,
  };
  const refined = params.refine
    ? await (await import("./refinement.ts")).refineClasses(refining, backend, run, PLAIN_SHARE, task.reuse)
    : undefined;
  if (!refined) await advance(run, { stage: "fit", share: 1 });
  const told = makeReport(matrix.features, trained, [...notes, ...(refined?.notes ?? [])], began, backend.name);
  return new ClassifierModel({
    filters: storedFilters(refined?.filters ?? plain),
    filterClass,
    classes,
    params: paramsAsJson(params, CLASSIFIER_PARAMETERS),
    report: { ...told, rows: rowCount, ...(refined && { refinement: refined.report }) },
  });
}

/** Rows as they are in a back end that has them. */
function heldSource(x: RowSource, held: HeldRows): RowSource {
  const { form, rows, features, entries, valueBytes, room, made } = x;
  return {
    ...{ form, rows, features, entries, valueBytes },
    ...(room === undefined ? {} : { room }),
    ...(made === undefined ? {} : { made }),
    blocks: (bytes) => x.blocks(bytes),
    slice: (from, to) => x.slice(from, to),
    gather: (listed) => held.gather?.(listed) ?? x.gather(listed),
  };
}

/** A trained bank of one class. */
interface ClassBank extends TrainedBank {
  readonly label: Label;
  /** Rows without their copies, and all of them by the numbers of the rows that they are copies of. */
  readonly rows: number;
  readonly members: Uint32Array;
}

/** The rows that each filter was made of; a copy counts as the row it was made from. */
function rowsOfFilters(trained: readonly ClassBank[], copies: number): Groups {
  const joined = joinGroups(trained.map(({ trained, members }) => ({ groups: trained.members, rows: members })));
  return copies > 1 ? distinctRows(joined) : joined;
}

/** Filters of each class, for one bank after the other. */
function allocate(
  params: ClassifierParams,
  rows: number,
  classes: readonly Label[],
  groups: Groups,
  notes: string[],
): number[] {
  const { committee } = params;
  const filters = filtersFor(params, rows, classes.length * committee);
  const mayExceed = mayExceedRows(params, filters, committee, rows, notes);
  const classRows = classes.map((_, c) => groups.offsets[c + 1] - groups.offsets[c]);
  return Array.from({ length: committee }, (_, b) => {
    const own = Math.floor((filters * (b + 1)) / committee) - Math.floor((filters * b) / committee);
    return allocateFilters(classes, classRows, own, params.classWeight, mayExceed, committee);
  }).flat();
}

/** The rows of each class to start from, of the whole matrix, as positions among the rows of the class. */
function positionsInClasses(
  initialRows: readonly (readonly number[])[],
  classes: readonly Label[],
  codes: Uint32Array,
  groups: Groups,
): Uint32Array[] {
  if (initialRows.length !== classes.length || !initialRows.every((rows) => typeof rows === "object")) {
    throw new RanksimError("bad-params", `initialRows: expected a list of rows for each of ${classes.length} classes`);
  }
  const position = new Uint32Array(codes.length);
  for (let c = 0; c < classes.length; c++) {
    for (let e = groups.offsets[c]; e < groups.offsets[c + 1]; e++) position[groups.rows[e]] = e - groups.offsets[c];
  }
  return initialRows.map((rows, c) => {
    const checked = checkInitialRows(rows, codes.length);
    const stray = checked.find((row) => codes[row] !== c);
    if (stray !== undefined) {
      throw new RanksimError(
        "bad-params",
        `initialRows: expected rows of class ${JSON.stringify(classes[c])}, found row ${stray} of class ${JSON.stringify(classes[codes[stray]])}`,
      );
    }
    return checked.map((row) => position[row]);
  });
}

/** The number of each entry, as often as it counts. */
function repeat(counts: readonly number[], of: (position: number) => number): Uint32Array {
  return Uint32Array.from(counts.flatMap((count, j) => new Array<number>(count).fill(of(j))));
}

/** What is kept of the rows of each class, held-out ones among those that were seen. */
function keep(classes: readonly TrainedBank[], seen: Groups, features: number): KeptSums {
  const sums = joinSums(
    classes.flatMap(({ trained: { sums } }) => sums ?? []),
    features,
  );
  return { sums, seen: Uint32Array.from(classes, (_, c) => seen.offsets[c + 1] - seen.offsets[c]) };
}

/**
 * Gives the rows of a class. Those that are gathered lie in the given place until the next ones do; `inParts`: a back end with
 * memory of its own takes them in parts, and none of them has to be gathered as a whole.
 */
async function classReader(
  x: RowSource,
  groups: Groups,
  inParts: boolean,
): Promise<(c: number, place: Place) => RowSource | Promise<RowSource>> {
  const rowsOf = (c: number) => groups.rows.subarray(groups.offsets[c], groups.offsets[c + 1]);
  if (inParts && x instanceof Dense) return (c) => listedRows(x, rowsOf(c));
  if (x instanceof Dense) {
    const largest = groups.offsets.reduce((most, to, g) => Math.max(most, to - (groups.offsets[g - 1] ?? 0)), 0);
    return (c, place) => {
      place.room ??= sameType(x.values, largest * x.features);
      return x.gather(rowsOf(c), place.room);
    };
  }
  if (x.made) {
    let last: { readonly c: number; readonly rows: Promise<RowSource> } | undefined;
    return (c) => {
      if (last?.c !== c) last = { c, rows: gatherMatrix(x, rowsOf(c)) };
      return last.rows;
    };
  }
  const arranged = await x.arrange?.(groups.rows);
  return (c) => arranged?.slice(groups.offsets[c], groups.offsets[c + 1]) ?? pickRows(x, rowsOf(c));
}
