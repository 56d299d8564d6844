/**
 * Rows added to a classifier (deviation 26). Rows of a class that the model knows go to that class's filters; a new class
 * gets filters of its own, trained on its rows as `fit` trains them.
 */

import type { Backend, Sum } from "../backends/contract.ts";
import { groupByCode, pickGroups } from "../bank/groups.ts";
import { growFilters, type Summed } from "../beyond/later-rows/grow-filters.ts";
import { RanksimError } from "../errors.ts";
import { pickFilters } from "../kernels/pick-filters.ts";
import { compareLabels, encodeLabels, type Label, type Labels } from "../matrix/labels.ts";
import type { Matrix, MatrixLike } from "../matrix/matrix.ts";
import type { Json } from "../model-file/saved.ts";
import type { Filters } from "../model-file/stored/filters.ts";
import type { Report, TrainingReport } from "../model-file/stored/report.ts";
import { allocateFilters, countFilters } from "../paper/allocate.ts";
import { resolveDistribution } from "../paper/distribution.ts";
import { trainBank } from "../paper/train.ts";
import { Streams } from "../random.ts";
import type { Run } from "./estimator.ts";
import { CLASSIFIER_PARAMETERS, type ClassifierParams, checkParams } from "./params.ts";
import { addedMatrix, joinSummed, keptSumsOf, recipeOf, storeSummed, summed } from "./partial-fit.ts";
import { advance } from "./run.ts";

/** What a classifier consists of, as far as new rows change it. */
interface ClassifierParts {
  readonly filters: Filters;
  readonly filterClass: Uint32Array;
  readonly classes: readonly Label[];
  readonly report: Report;
}

/** The filters of one class after its new rows. */
interface ClassPart extends Summed {
  readonly distribution: Float64Array | undefined;
  readonly training: TrainingReport;
}

/** The parts of the model with the rows of `x` added. */
export async function addToClasses(
  model: ClassifierParts & { readonly params: { readonly [name: string]: Json } },
  x: MatrixLike,
  y: Labels,
  backend: Backend,
  run: Run,
): Promise<ClassifierParts> {
  const { filters } = model;
  const keptSums = keptSumsOf(filters, "classifier");
  if (filters.filterBank)
    throw new RanksimError("unsupported", "partialFit: a committee of banks takes in no new rows");
  const { matrix, first } = addedMatrix(x, filters.bank.features, keptSums);
  const began = performance.now();
  const given = encodeLabels(y, matrix.rows);
  const classes = [...new Set([...model.classes, ...given.classes])].sort(compareLabels);
  const groups = groupByCode(given.codes, given.classes.length);
  const whole = summed(filters, keptSums);
  const params = checkParams<ClassifierParams>(recipeOf(model.params), CLASSIFIER_PARAMETERS);

  const [known, named] = [positions(model.classes), positions(given.classes)];
  const old = classes.map((label) => known.get(label) ?? -1);
  const rows = classes.map((label) => {
    const c = named.get(label);
    return c === undefined ? new Uint32Array(0) : groups.rows.subarray(groups.offsets[c], groups.offsets[c + 1]);
  });
  const own = groupByCode(model.filterClass, model.classes.length);
  const trainings = new Map(model.report.trainings.map((training) => [training.label, training]));
  const seen = Uint32Array.from(classes, (_, c) => (old[c] < 0 ? 0 : keptSums.seen[old[c]]) + rows[c].length);
  const counts = countNewFilters(params, classes, seen);

  const parts: ClassPart[] = [];
  let done = 0;
  for (const [c, label] of classes.entries()) {
    const xc = matrix.gather(rows[c]);
    const numbers = rows[c].map((row) => first + row);
    const picked = old[c] < 0 ? new Uint32Array(0) : own.rows.subarray(own.offsets[old[c]], own.offsets[old[c] + 1]);
    const share = done / matrix.rows;
    await advance(run, { stage: "spread", label, share });
    if (picked.length === 0) {
      parts.push(
        await trainClass(xc, numbers, counts[c], c, {
          label,
          params,
          filters,
          backend,
          run,
          from: share,
          of: matrix.rows,
        }),
      );
    } else {
      const part = {
        bank: pickFilters(whole.bank, picked),
        members: pickGroups(whole.members, picked),
        sums: Array.from(picked, (f) => whole.sums[f]),
      };
      const distribution = distributionOf(filters, params, old[c]);
      const grown = rows[c].length === 0 ? part : await growFilters(part, xc, numbers, distribution, backend);
      const before = trainings.get(label);
      // Rows that were held out to calibrate were seen, but are in no filter.
      const trainedOn = before ? before.rows + rows[c].length : seen[c];
      const training = { converged: true, steps: [], ...before, label, rows: trainedOn, filters: picked.length };
      parts.push({ ...grown, distribution, training });
    }
    done += rows[c].length;
  }
  await advance(run, { stage: "fit", share: 1 });
  const distribution = params.distributionPerClass ? joinDistributions(parts) : filters.distribution;
  return {
    filters: storeSummed(joinSummed(parts), distribution, { seen }),
    filterClass: Uint32Array.from(parts.flatMap(({ bank }, c) => new Array<number>(bank.filters).fill(c))),
    classes,
    report: {
      rows: model.report.rows + matrix.rows,
      features: matrix.features,
      filters: parts.reduce((sum, { bank }) => sum + bank.filters, 0),
      converged: parts.every(({ training }) => training.converged),
      trainings: parts.map(({ training }) => training),
      notes: model.report.notes,
      seconds: (performance.now() - began) / 1000,
      backend: backend.name,
    },
  };
}

/** Filters for each class as `fit` would share them out over all rows so far; only those of new classes are used. */
function countNewFilters(params: ClassifierParams, classes: readonly Label[], seen: Uint32Array): number[] {
  const rows = seen.reduce((sum, count) => sum + count, 0);
  const filters = countFilters(rows, params.filters, params.fastFilters, params.maxFilters);
  const mayExceed = params.initialize === "weightedAverage";
  return allocateFilters(classes, [...seen], Math.max(filters, classes.length), params.classWeight, mayExceed);
}

/** A new class: position c among all, with the generator that `fit` has for this position. */
async function trainClass(
  xc: Matrix,
  numbers: Uint32Array,
  count: number,
  c: number,
  how: {
    readonly label: Label;
    readonly params: ClassifierParams;
    readonly filters: Filters;
    readonly backend: Backend;
    readonly run: Run;
    readonly from: number;
    readonly of: number;
  },
): Promise<ClassPart> {
  const { label, params, filters, backend, run } = how;
  const streams = new Streams(params.seed);
  let { distribution } = filters;
  if (params.distributionPerClass && distribution) {
    if (params.distribution === "rank") {
      throw new RanksimError(
        "unsupported",
        `partialFit: class ${JSON.stringify(label)} is new and needs a distribution of its own, which the model cannot make: its distribution was given by the caller`,
      );
    }
    distribution = await resolveDistribution(xc, params.distribution, params, streams.distribution(), run.signal);
  }
  const rounds = params.iterations + 1;
  const trained = await trainBank(
    xc,
    count,
    { ...params, initialRows: undefined, distribution },
    streams.trainingOfClass(c),
    backend,
    (filters, step) =>
      advance(run, {
        stage: step ? "spread" : "initialize",
        label,
        ...step,
        filters,
        share: how.from + ((xc.rows / how.of) * (1 + (step?.iteration ?? 0))) / rounds,
      }),
  );
  const { converged, steps } = trained;
  return {
    bank: trained.bank,
    members: { offsets: trained.members.offsets, rows: trained.members.rows.map((row) => numbers[row]) },
    sums: trained.sums as readonly Sum[],
    distribution,
    training: { label, rows: xc.rows, filters: count, converged, steps },
  };
}

/** The distribution that a known class draws from. */
function distributionOf(
  { bank, distribution }: Filters,
  params: ClassifierParams,
  c: number,
): Float64Array | undefined {
  if (!distribution || !params.distributionPerClass) return distribution;
  return distribution.subarray(c * bank.features, (c + 1) * bank.features);
}

function joinDistributions(parts: readonly ClassPart[]): Float64Array | undefined {
  const all = parts.map(({ distribution }) => distribution);
  return all[0] && Float64Array.from(all.flatMap((part) => Array.from(part as Float64Array)));
}

const positions = (labels: readonly Label[]): Map<Label, number> => new Map(labels.map((label, c) => [label, c]));
