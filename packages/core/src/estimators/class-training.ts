/**
 * The training of the classifier: filters for each class, in one bank or in the several banks of a committee (deviation 30),
 * and their refinement if it is asked for.
 */

import type { Backend, RowSource } from "../backends/contract.ts";
import { joinBanks } from "../bank/bank.ts";
import { distinctRows, groupByCode, groupListed, joinGroups } from "../bank/groups.ts";
import { joinSums } from "../bank/sums.ts";
import type { Refinement } from "../beyond/refinement/choice.ts";
import { listedRows } from "../kernels/rows.ts";
import type { Groups, Values } from "../kernels/shapes.ts";
import { Dense } from "../matrix/dense.ts";
import { encodeLabels, type Label, type Labels } from "../matrix/labels.ts";
import { weightRows } from "../matrix/row-weights.ts";
import { type Copied, copiesOf, rowsWithoutCopies } from "../matrix/shifted.ts";
import { gatherMatrix, pickRows } from "../matrix/source.ts";
import { sameType } from "../matrix/values.ts";
import { type Filters, storedFilters } from "../model-file/stored/filters.ts";
import type { Report } from "../model-file/stored/report.ts";
import type { KeptSums } from "../model-file/stored/sums.ts";
import { allocateFilters, countFilters } from "../paper/allocate.ts";
import { resolveDistribution } from "../paper/distribution.ts";
import { type Trained, trainBank } from "../paper/train.ts";
import { Streams } from "../random.ts";
import { bankKeeper } from "./checkpoint.ts";
import type { Run } from "./estimator.ts";
import { calibrationRows } from "./held-out-rows.ts";
import { checkInitialRowsByClass } from "./initial-rows.ts";
import type { ClassifierParams } from "./params.ts";
import { refuseUnsummed } from "./partial-fit.ts";
import { refineClasses, refuseUnrefinable } from "./refinement.ts";
import { makeReport, shapeNotes } from "./report.ts";
import { advance } from "./run.ts";
import { showRows } from "./shown-rows.ts";
import { refuseFullPlusplus } from "./whole.ts";

/** What the classifier's training gives. */
export interface TrainedClasses {
  readonly filters: Filters;
  readonly filterClass: Uint32Array;
  readonly classes: readonly Label[];
  readonly report: Report;
  /** Rows kept out to calibrate on; absent where that was not asked for. */
  readonly heldOut: { readonly x: RowSource; readonly y: readonly Label[] } | undefined;
}

/** One class of one bank. */
interface TrainedClass {
  readonly label: Label;
  readonly rows: Uint32Array;
  readonly trained: Trained;
  readonly distribution: Float64Array | undefined;
}

/** Share of the progress that plain training takes when refinement follows. */
const PLAIN_SHARE = 0.3;

/** Learns filters for each class; `chosen`: what refinement did in a training on other rows, to be done here as well. */
export async function trainClasses(
  matrix: RowSource,
  y: Labels,
  params: ClassifierParams,
  backend: Backend,
  run: Run & Copied,
  weights?: Float64Array,
  chosen?: Refinement,
): Promise<TrainedClasses> {
  const began = performance.now();
  refuseUnsummed(params);
  refuseUnrefinable(params);
  const rows = rowsWithoutCopies(matrix, run);
  const { classes, codes } = encodeLabels(y, rows);
  const rest = calibrationRows(codes, classes.length, params);
  const shown = showRows(matrix, codes, params);
  // What filters are made of; draws and what is fitted to rows held out see the rows as they are.
  const summed = weights
    ? showRows(await weightRows(matrix, repeated(weights, matrix)), codes, params).matrix
    : shown.matrix;
  const training = rest && copiesOf(rest.train, rows, shown.copies);
  const groups = training
    ? groupListed(shown.codes, classes.length, training)
    : groupByCode(shown.codes, classes.length);
  const learning = training ? pickRows(shown.matrix, training) : shown.matrix;
  const rowCount = learning.rows / shown.copies;
  const notes = [...shapeNotes(matrix.features), ...(rest ? [rest.note] : [])];
  const initialRows = params.initialRows && checkInitialRowsByClass(params.initialRows, classes, codes, groups);
  const filters = initialRows?.map((rows) => rows.length) ?? allocate(params, rowCount, classes, groups, notes);

  const streams = new Streams(params.seed);
  await advance(run, { stage: "distribution", share: 0 });
  const forDistribution = streams.distribution();
  const draw = (rows: RowSource) => resolveDistribution(rows, params.distribution, params, forDistribution, run.signal);
  const common = params.distributionPerClass ? undefined : await draw(learning);

  const whole = (params.refine ? PLAIN_SHARE : 1) / (learning.rows * params.committee);
  const drawn: (Float64Array | undefined)[] = [];
  const shares = new Float64Array(filters.length);
  const most = params.distributionPerClass ? 1 : (backend.overlap ?? 1); // distributions are drawn in the order of the classes
  const rowsOfClass = await classReader(summed, groups, most > 1 && params.filterFunction === "meanRank");
  const banks = filters.length / classes.length;
  const trained: TrainedClass[] = [];
  // Class by class, with all banks of a class in a row: rows that are made when they are asked for are made once.
  await overlapping(filters.length, most, async (position, place: Place): Promise<void> => {
    const c = Math.floor(position / banks);
    const j = (position % banks) * classes.length + c;
    const rows = groups.rows.subarray(groups.offsets[c], groups.offsets[c + 1]);
    const xc = await rowsOfClass(c, place);
    if (params.distributionPerClass) drawn[c] ??= await draw(weights ? pickRows(shown.matrix, rows) : xc);
    const distribution = params.distributionPerClass ? drawn[c] : common;
    const bank = await trainBank(
      xc,
      filters[j],
      { ...params, initialRows: initialRows?.[c], distribution },
      streams.trainingOfClass(j, classes.length),
      backend,
      (filters, step) => {
        shares[j] = (rows.length * whole * (1 + (step?.iteration ?? 0))) / (params.iterations + 1);
        const share = shares.reduce((sum, each) => sum + each);
        const stage = step ? "spread" : "initialize";
        return advance(run, { stage, label: classes[c], ...step, filters, share });
      },
      bankKeeper(run, `bank-${j}`),
    );
    shares[j] = rows.length * whole;
    trained[j] = { label: classes[c], rows, trained: bank, distribution };
  });

  const own = trained.slice(0, classes.length);
  const plain: Filters = {
    bank: joinBanks(trained.map(({ trained: { bank } }) => bank)),
    members: rowsOfFilters(trained, rows, shown.copies),
    distribution: common ?? flat(own.flatMap(({ distribution }) => distribution ?? [])),
    keptSums: params.keepSums ? keep(own, groupByCode(codes, classes.length), matrix.features) : undefined,
    filterBank: params.committee > 1 ? repeat(filters, (j) => Math.floor(j / classes.length)) : undefined,
  };
  const filterClass = repeat(filters, (j) => j % classes.length);
  const trainingCodes = training ? training.map((r) => shown.codes[r]) : shown.codes;
  const task = {
    ...shown,
    matrix: training ? pickRows(summed, training) : summed,
    codes: trainingCodes,
    filters: plain,
    filterClass,
    classes,
    params,
  };
  const refined = params.refine ? await refineClasses(task, backend, run, PLAIN_SHARE, chosen) : undefined;
  if (!refined) await advance(run, { stage: "fit", share: 1 });
  notes.push(...(refined?.notes ?? []));
  const seconds = (performance.now() - began) / 1000;
  const reported = trained.map(({ label, rows, trained }) => ({ label, rows: rows.length / shown.copies, trained }));
  const report = makeReport(matrix.features, reported, notes, seconds, backend.name);
  return {
    filters: storedFilters(refined?.filters ?? plain),
    filterClass,
    classes,
    report: { ...report, rows: rowCount, ...(refined ? { refinement: refined.report } : {}) },
    heldOut: rest && { x: pickRows(matrix, rest.heldOut), y: Array.from(rest.heldOut, (r) => classes[codes[r]]) },
  };
}

/**
 * Does `count` pieces of work, at most `most` at a time, each begun in order, with a place of its own while it runs. After a
 * failure nothing new is begun, and all that was has ended before it is thrown.
 */
async function overlapping(
  count: number,
  most: number,
  work: (position: number, place: Place) => Promise<void>,
): Promise<void> {
  let next = 0;
  const line = async (place: Place): Promise<void> => {
    while (next < count) {
      const position = next++;
      try {
        await work(position, place);
      } catch (error) {
        next = count;
        throw error;
      }
    }
  };
  const lines = Array.from({ length: Math.min(most, count) }, () => line({}));
  for (const each of await Promise.allSettled(lines)) if (each.status === "rejected") throw each.reason;
}

/** What rows weigh, for each copy of them. */
function repeated(weights: Float64Array, { rows }: RowSource): Float64Array {
  return Float64Array.from({ length: rows }, (_, r) => weights[r % weights.length]);
}

/** The rows that each filter was made of; a copy counts as the row it was made from. */
function rowsOfFilters(trained: readonly TrainedClass[], rows: number, copies: number): Groups {
  const joined = joinGroups(
    trained.map((own) => ({ groups: own.trained.members, rows: own.rows.map((r) => r % rows) })),
  );
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
  const fewest = classes.length * committee;
  const filters = countFilters(rows, params.filters, params.fastFilters, params.maxFilters, fewest);
  refuseFullPlusplus(params, Math.ceil(filters / committee), rows);
  const classRows = classes.map((_, c) => groups.offsets[c + 1] - groups.offsets[c]);
  const mayExceed = params.initialize === "weightedAverage";
  if (!mayExceed && filters > rows * committee) {
    notes.push(
      `${filters} filters were asked for ${rows} rows; initialize: "weightedAverage" allows more filters than rows`,
    );
  }
  return Array.from({ length: committee }, (_, b) => {
    const own = Math.floor((filters * (b + 1)) / committee) - Math.floor((filters * b) / committee);
    return allocateFilters(classes, classRows, own, params.classWeight, mayExceed, committee);
  }).flat();
}

/** The number of each entry, as often as it counts. */
function repeat(counts: readonly number[], of: (position: number) => number): Uint32Array {
  return Uint32Array.from(counts.flatMap((count, j) => new Array<number>(count).fill(of(j))));
}

/** What is kept of the rows of each class, held-out ones among those that were seen. */
function keep(classes: readonly TrainedClass[], seen: Groups, features: number): KeptSums {
  const sums = joinSums(
    classes.flatMap(({ trained: { sums } }) => sums ?? []),
    features,
  );
  return { sums, seen: Uint32Array.from(classes, (_, c) => seen.offsets[c + 1] - seen.offsets[c]) };
}

function flat(parts: readonly Float64Array[]): Float64Array | undefined {
  if (parts.length === 0) return undefined;
  const all = new Float64Array(parts.length * parts[0].length);
  parts.forEach((part, j) => {
    all.set(part, j * part.length);
  });
  return all;
}

/** Memory for the rows of one class after the other: memory that is freed piece by piece is kept by the process for long. */
interface Place {
  room?: Values;
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
    const largest = largestOf(groups) * x.features;
    return (c, place) => {
      place.room ??= sameType(x.values, largest);
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

/** Rows of the largest group. */
function largestOf({ offsets }: Groups): number {
  let most = 0;
  for (let g = 1; g < offsets.length; g++) most = Math.max(most, offsets[g] - offsets[g - 1]);
  return most;
}
