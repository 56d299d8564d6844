/**
 * Rows added to a trained model (deviation 26). Rows whose class or labels the model knows go to the filters that are there, of their
 * class where classes train separately; rows of a new class, or with a new label, get filters of their own, trained as `fit` trains them.
 */

import type { Backend } from "../backends/contract.ts";
import { inForm, joinBanks } from "../bank/bank.ts";
import { groupByCode, joinGroups, pickGroups } from "../bank/groups.ts";
import { joinSums, listSums } from "../bank/sums.ts";
import { growFilters, type Summed } from "../beyond/later-rows/grow-filters.ts";
import { RanksimError } from "../errors.ts";
import { pickFilters } from "../kernels/pick-filters.ts";
import { numbersBelow } from "../kernels/rows.ts";
import type { FilterBank, Groups } from "../kernels/shapes.ts";
import { Csr } from "../matrix/csr.ts";
import {
  compareLabels,
  type Encoded,
  encodeLabels,
  encodeSets,
  isLabelSets,
  type Label,
  type LabelSets,
  type Labels,
  refuseOtherForm,
} from "../matrix/labels.ts";
import { isZeroRow, type Matrix, type MatrixLike, matchingMatrix } from "../matrix/matrix.ts";
import type { Filters } from "../model-file/stored/filters.ts";
import type { TrainingReport } from "../model-file/stored/report.ts";
import { type KeptSums, MOST_ROWS } from "../model-file/stored/sums.ts";
import { allocateFilters } from "../paper/allocate.ts";
import { resolveDistribution } from "../paper/distribution.ts";
import { countsOf, type LabelShares, sharesOf } from "../paper/filter-labels.ts";
import { countPresence, joinCounts } from "../paper/label-counts.ts";
import { type RandomGenerator, Streams } from "../random.ts";
import type { Run } from "./estimator.ts";
import type { FilterParts } from "./filter-model.ts";
import { checkParams, recipeOf } from "./parameter.ts";
import {
  CLASSIFIER_PARAMETERS,
  type ClassifierParams,
  type FilterParams,
  PROBABILISTIC_PARAMETERS,
  type ProbabilisticParams,
  WHOLE_PARAMETERS,
  type WholeParams,
} from "./params.ts";
import { advance, partOfRun } from "./run.ts";
import { filtersFor, joinDistributions, storedFilters, trainBanks } from "./train.ts";

interface ClassParts extends FilterParts {
  readonly filterClass: Uint32Array;
  readonly classes: readonly Label[];
}

interface LabelParts extends FilterParts {
  readonly labels: LabelShares;
  readonly classes: readonly Label[];
}

/** The model with the rows of `x` added to its filters; nothing is known of them. */
export async function addToFilters(model: FilterParts, x: MatrixLike, backend: Backend, run: Run) {
  const adding = begin(model, "transform", x);
  const { rows } = adding.matrix;
  const params = checkParams<WholeParams>(recipeOf(model.params), WHOLE_PARAMETERS);
  const { distribution } = model.filters;
  const all = wholeGroup(model, numbersBelow(rows));
  const added = await addGroups(adding, [all], params, backend, run);
  return partsWith(adding, added, distribution, { seen: Uint32Array.of(adding.first + rows) }, backend);
}

/** The parts of a classifier with the rows of `x` added. */
export async function addToClasses(
  model: ClassParts,
  x: MatrixLike,
  y: Labels | LabelSets | undefined,
  backend: Backend,
  run: Run,
): Promise<Omit<ClassParts, "params">> {
  const { filters } = model;
  const adding = begin(model, "classifier", x);
  const { matrix, keptSums } = adding;
  if (filters.filterBank) {
    throw new RanksimError("unsupported", "partialFit: a committee of banks takes in no new rows");
  }
  refuseOtherForm(y as Labels, false);
  const given = encodeLabels(y as Labels, matrix.rows);
  const classes = joined(model.classes, given.classes);
  const params = checkParams<ClassifierParams>(recipeOf(model.params), CLASSIFIER_PARAMETERS);
  const [known, named] = [positions(model.classes), positions(given.classes)];
  const old = classes.map((label) => known.get(label) ?? -1);
  const newRows = groupByCode(given.codes, given.classes.length);
  const rows = classes.map((label) => groupOf(newRows, named.get(label) ?? -1));
  const own = groupByCode(model.filterClass, model.classes.length);
  const trainings = new Map(model.report.trainings.map((training) => [training.label, training]));
  const before = old.map((c) => (c < 0 ? 0 : keptSums.seen[c]));
  const seen = Uint32Array.from(before, (count, c) => count + rows[c].length);
  const mayExceed = params.initialize === "weightedAverage";
  const counts = newFilters(params, classes, [...seen], params.classWeight, mayExceed);
  const streams = new Streams(params.seed);
  const groups = classes.map((label, c): Group => {
    const picked = groupOf(own, old[c]);
    return {
      label,
      rows: rows[c],
      own: picked,
      // Rows that were held out to calibrate were seen, but are in no filter.
      training: trainings.get(label) ?? { rows: before[c], filters: picked.length, converged: true, steps: [] },
      filters: counts[c],
      generator: streams.trainingOfClass(c),
      distribution: (own) =>
        picked.length > 0 ? distributionOf(filters, params, old[c]) : newDistribution(filters, params, label, own, run),
    };
  });
  const added = await addGroups(adding, groups, params, backend, run);
  const distribution = params.distributionPerClass
    ? joinDistributions(added.map(({ distribution }) => distribution))
    : filters.distribution;
  const parts = partsWith(adding, added, distribution, { seen }, backend);
  const filterClass = Uint32Array.from(added.flatMap(({ bank }, c) => new Array<number>(bank.filters).fill(c)));
  return { ...parts, filterClass, classes };
}

/** The parts of a probabilistic classifier with the rows of `x` added; the counts behind its label shares grow with them. */
export async function addToLabels(
  model: LabelParts & { readonly multilabel: boolean },
  x: MatrixLike,
  y: Labels | LabelSets,
  backend: Backend,
  run: Run,
): Promise<Omit<LabelParts, "params">> {
  const { filters, multilabel } = model;
  const { distribution, bank } = filters;
  const adding = begin(model, "probabilistic", x);
  const { matrix, first, keptSums } = adding;
  const { classes, present } = labelsAmong(model.classes, y, matrix.rows, multilabel);
  const position = positions(classes);
  const numbers = model.classes.map((label) => position.get(label) as number);
  const isKnown = new Uint8Array(classes.length);
  for (const c of numbers) isKnown[c] = 1;
  const params = checkParams<ProbabilisticParams>(recipeOf(model.params), PROBABILISTIC_PARAMETERS);

  // Rows of zeros excite no filter: like `fit`, this leaves them out.
  const filled = numbersBelow(matrix.rows).filter((r) => !isZeroRow(matrix, r));
  const isNew = (r: number) =>
    present.indices.subarray(present.offsets[r], present.offsets[r + 1]).some((c) => isKnown[c] === 0);
  const strange = filled.filter(isNew);
  const all = first + matrix.rows;
  const groups: Group[] = [
    wholeGroup(
      model,
      filled.filter((r) => !isNew(r)),
    ),
  ];
  if (strange.length > 0) {
    const [, count] = newFilters(params, ["known", "new"], [all - strange.length, strange.length]);
    const generator = new Streams(params.seed).training();
    const none = new Uint32Array(0);
    groups.push({ rows: strange, own: none, filters: count, generator, distribution: () => distribution });
  }
  const added = await addGroups(adding, groups, params, backend, run);
  const before = model.labels.counts ?? countsOf(model.labels, keptSums.labelRows as Uint32Array);
  const counts = joinCounts(
    [
      { counts: before, classOf: numbers },
      ...added.flatMap(({ winners, bank: { filters } }, g) =>
        winners
          ? { counts: countPresence(winners, present.gather(groups[g].rows), filters), from: g * bank.filters }
          : [],
      ),
    ],
    added.reduce((sum, part) => sum + part.bank.filters, 0),
    classes.length,
  );
  const seen = Uint32Array.of(all);
  const parts = partsWith(adding, added, distribution, { seen, labelRows: counts.rows }, backend);
  return { ...parts, labels: sharesOf(counts, multilabel, params.combine), classes };
}

/** A model that rows are added to, and these rows. */
interface Adding {
  readonly model: FilterParts;
  readonly matrix: Matrix;
  /** The number of the first row. */
  readonly first: number;
  readonly keptSums: KeptSums;
  readonly began: number;
}

/** The gate: a model that kept its sums, at least one row, as wide as the model, and numbers left to give to the rows. */
function begin(model: FilterParts, kind: string, x: MatrixLike): Adding {
  const { bank, keptSums } = model.filters;
  if (!keptSums) {
    throw new RanksimError("unsupported", {
      expected: `a ${kind} model that kept its sums`,
      found: "one that kept none",
      cure: (called) => `train it with ${called("keepSums")}`,
    });
  }
  const matrix = matchingMatrix(x, bank.features);
  if (matrix.rows === 0) throw new RanksimError("empty-input", "expected at least 1 row to add, found none");
  const first = keptSums.seen.reduce((sum, rows) => sum + rows, 0);
  if (first + matrix.rows > MOST_ROWS) {
    throw new RanksimError("unsupported", `partialFit: expected at most ${MOST_ROWS} rows in all`);
  }
  return { model, matrix, first, keptSums, began: performance.now() };
}

/** New rows that go to the same filters, or get filters of their own. */
interface Group {
  /** The class, where classes train separately. */
  readonly label?: Label;
  readonly rows: Uint32Array;
  /** Filters that there are for these rows, and how they were trained. */
  readonly own: Uint32Array;
  readonly training?: TrainingReport | undefined;
  /** Where there are none: how many are made, and what draws the rows they begin with. */
  readonly filters?: number;
  readonly generator?: RandomGenerator;
  /** What weights are drawn from. */
  distribution(x: Matrix): Float64Array | undefined | Promise<Float64Array | undefined>;
}

/** The filters of a group after its rows were added. */
interface Added extends Summed {
  /** The filter of each row; absent where there were no rows. */
  readonly winners?: Uint32Array;
  readonly training: TrainingReport;
  readonly distribution: Float64Array | undefined;
}

/** Rows for all filters of a model. */
function wholeGroup({ filters: { bank, distribution }, report }: FilterParts, rows: Uint32Array): Group {
  const [training] = report.trainings;
  return { rows, own: numbersBelow(bank.filters), training, distribution: () => distribution };
}

/** Adds the rows of one group after the other. */
async function addGroups(
  { model: { filters }, matrix, first, keptSums }: Adding,
  groups: readonly Group[],
  params: FilterParams,
  backend: Backend,
  run: Run,
): Promise<Added[]> {
  const sums = listSums(keptSums.sums);
  const all = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  const added: Added[] = [];
  let done = 0;
  for (const { label, rows, own, training, filters: wanted = 0, generator, distribution: draw } of groups) {
    const which = label === undefined ? {} : { label };
    const share = done / Math.max(1, all);
    await advance(run, { stage: "spread", ...which, share });
    done += rows.length;
    const x = rows.length === matrix.rows ? matrix : matrix.gather(rows);
    const numbers = rows.map((row) => first + row);
    const distribution = await draw(x);
    if (training && own.length > 0) {
      const part = {
        bank: pickFilters(filters.bank, own),
        members: pickGroups(filters.members, own),
        sums: Array.from(own, (f) => sums[f]),
      };
      const grown = rows.length === 0 ? part : await growFilters(part, x, numbers, distribution, backend);
      added.push({ ...grown, distribution, training: { ...training, ...which, rows: training.rows + rows.length } });
      continue;
    }
    const plan = {
      ...{ ...which, rows: x.rows, filters: wanted, initialRows: undefined, name: "new" },
      generator: generator as RandomGenerator,
      begin: async () => ({ x, distribution }),
    };
    const part = partOfRun(run, share, done / all);
    const searched = { share: 1, beforeWinners: async () => {} };
    const [{ trained }] = await trainBanks([plan], params, backend, part, searched);
    const { bank, members, winners, converged, steps } = trained;
    added.push({
      bank,
      members: joinGroups([{ groups: members, rows: numbers }]),
      sums: trained.sums ?? [],
      ...(winners && { winners }),
      training: { ...which, rows: x.rows, filters: bank.filters, converged, steps },
      distribution,
    });
  }
  await advance(run, { stage: "fit", share: 1 });
  return added;
}

/** The filters of all groups one after the other as a model stores them, and what its report says of their training. */
function partsWith(
  { model: { report }, matrix, began }: Adding,
  added: readonly Added[],
  distribution: Float64Array | undefined,
  keptSums: Omit<KeptSums, "sums">,
  backend: Backend,
): Pick<FilterParts, "filters" | "report"> {
  const form: FilterBank["form"] = added.every(({ bank }) => bank.form === "dense") ? "dense" : "sparse";
  const bank = joinBanks(added.map(({ bank }) => inForm(bank, form)));
  const members = joinGroups(added.map(({ members }) => ({ groups: members })));
  const sums = joinSums(
    added.flatMap(({ sums }) => sums),
    matrix.features,
  );
  const own = added.map(({ training }) => training);
  // Of a model trained on all rows together the others are of rows with labels that were new in their time.
  const trainings = own[0].label === undefined ? [own[0], ...report.trainings.slice(1), ...own.slice(1)] : own;
  return {
    filters: storedFilters({ bank, members, distribution, keptSums: { ...keptSums, sums } }),
    report: {
      ...report,
      rows: trainings.reduce((sum, { rows }) => sum + rows, 0),
      filters: bank.filters,
      converged: trainings.every(({ converged }) => converged),
      trainings,
      seconds: (performance.now() - began) / 1000,
      backend: backend.name,
    },
  };
}

/** Filters for each of some groups of rows as `fit` would share them out over all rows so far; only those of new ones are used. */
function newFilters(
  params: FilterParams,
  groups: readonly Label[],
  seen: readonly number[],
  classWeight: ClassifierParams["classWeight"] = "proportional",
  mayExceedRows = false,
): number[] {
  const filters = filtersFor(
    params,
    seen.reduce((sum, rows) => sum + rows),
  );
  return allocateFilters(groups, seen, Math.max(filters, groups.length), classWeight, mayExceedRows);
}

/** The distribution that a known class draws from. */
function distributionOf({ bank, distribution }: Filters, params: ClassifierParams, c: number) {
  if (!distribution || !params.distributionPerClass) return distribution;
  return distribution.subarray(c * bank.features, (c + 1) * bank.features);
}

/** The distribution that a new class draws from. */
async function newDistribution(
  { distribution }: Filters,
  params: ClassifierParams,
  label: Label,
  x: Matrix,
  run: Run,
): Promise<Float64Array | undefined> {
  if (!distribution || !params.distributionPerClass) return distribution;
  if (params.distribution === "rank") {
    throw new RanksimError(
      "unsupported",
      `partialFit: class ${JSON.stringify(label)} is new and needs a distribution of its own, which the model cannot make: its distribution was given by the caller`,
    );
  }
  return resolveDistribution(x, params.distribution, params, new Streams(params.seed).distribution(), run.signal);
}

/** One label or several for each row, as the model has them: all labels, known and new, in order, and which of them each row has. */
function labelsAmong(
  known: readonly Label[],
  y: Labels | LabelSets,
  rows: number,
  several: boolean,
): { readonly classes: readonly Label[]; readonly present: Csr } {
  refuseOtherForm(y, several);
  const given = isLabelSets(y) ? encodeSets(y, rows) : presenceOf(encodeLabels(y, rows));
  const classes = joined(known, given.labels);
  const position = positions(classes);
  const column = given.labels.map((label) => position.get(label) as number);
  const { offsets, indices, values } = given.present;
  // Both lists are sorted, so columns keep their order and rows stay ascending.
  const renumbered = indices.map((c) => column[c]);
  return { classes, present: Csr.of(offsets, renumbered, values, classes.length) };
}

/** One label for each row as a list of one. */
function presenceOf({ classes, codes }: Encoded) {
  const ones = new Uint8Array(codes.length).fill(1);
  return { labels: classes, present: Csr.of(numbersBelow(codes.length + 1), codes, ones, classes.length) };
}

const joined = (known: readonly Label[], given: readonly Label[]): Label[] =>
  [...new Set([...known, ...given])].sort(compareLabels);

const positions = (labels: readonly Label[]): Map<Label, number> => new Map(labels.map((label, c) => [label, c]));

/** The entries of a group; none of one that is not there. */
function groupOf({ offsets, rows }: Groups, g: number): Uint32Array {
  return g < 0 ? new Uint32Array(0) : rows.subarray(offsets[g], offsets[g + 1]);
}
