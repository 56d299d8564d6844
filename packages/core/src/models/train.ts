/**
 * The training of banks of filters: one for each class of each bank of a committee, or one for all rows. Plans say how many filters a
 * bank has and which rows; here they are trained, with what they share: progress, checkpoints, back ends that train several at a time.
 */

import type { Backend, RowSource } from "../backends/contract.ts";
import { KeptBank } from "../backends/kept-bank.ts";
import { canonicalBank } from "../bank/bank.ts";
import type { Truth } from "../beyond/probabilities/fitted.ts";
import { RanksimError } from "../errors.ts";
import type { Values } from "../kernels/shapes.ts";
import { encodeLabels, encodeSets, isLabelSets, type Label, type LabelSets, type Labels } from "../matrix/labels.ts";
import type { Filters } from "../model-file/stored/filters.ts";
import type { Report } from "../model-file/stored/report.ts";
import { countFilters } from "../paper/allocate.ts";
import { resolveDistribution } from "../paper/distribution.ts";
import { type Trained, type TrainOptions, trainBank } from "../paper/train.ts";
import { type RandomGenerator, Streams } from "../random.ts";
import { bankKeeper } from "./checkpoint.ts";
import type { Run } from "./estimator.ts";
import type { FilterParams, WholeParams } from "./params.ts";
import { advance, refuseLarge } from "./run.ts";

/** A bank to be trained. */
export interface BankPlan {
  /** The class, where classes train separately. */
  readonly label?: Label;
  /** Rows, by which its share of the progress is counted. */
  readonly rows: number;
  readonly filters: number;
  readonly initialRows: Uint32Array | undefined;
  readonly generator: RandomGenerator;
  /** The name under which its state is kept. */
  readonly name: string;
  /** Called when its turn comes: its rows, and what its weights are drawn from. `place` is its own until its training ends. */
  readonly begin: (place: Place) => Promise<{ readonly x: RowSource; readonly distribution: Float64Array | undefined }>;
}

/** Memory for the rows of one bank after the other: memory that is freed piece by piece is kept by the process for long. */
export interface Place {
  room?: Values;
}

/** A trained bank, and what its weights were drawn from. */
export interface TrainedBank {
  readonly trained: Trained;
  readonly distribution: Float64Array | undefined;
}

/** How banks are trained, beside the parameters. */
interface Wanted extends Pick<TrainOptions, "beforeWinners" | "keepBank"> {
  /** Progress runs from 0 to this. */
  readonly share: number;
  /** Banks that may train at a time. */
  readonly most?: number;
}

/** Trains banks in the order of their plans. */
export async function trainBanks(
  plans: readonly BankPlan[],
  params: FilterParams,
  backend: Backend,
  run: Run,
  { share, most = 1, ...wanted }: Wanted,
): Promise<TrainedBank[]> {
  const all = plans.reduce((sum, { rows }) => sum + rows, 0);
  // Sums of all shares at each step would take the square of the plans.
  let sum = 0;
  const done: TrainedBank[] = [];
  await overlapping(plans.length, most, async (p, place: Place) => {
    const { label, rows, filters, initialRows, generator, name, begin } = plans[p];
    const { x, distribution } = await begin(place);
    const own = (share * rows) / all;
    let counted = 0;
    const count = (part: number) => {
      sum += part - counted;
      counted = part;
    };
    const trained = await trainBank(
      x,
      filters,
      { ...params, ...wanted, initialRows, distribution },
      generator,
      backend,
      (filters, step) => {
        count((own * (1 + (step?.iteration ?? 0))) / (params.iterations + 1));
        const stage = step ? "spread" : "initialize";
        const which = label === undefined ? {} : { label };
        return advance(run, { stage, ...which, ...step, filters, share: Math.min(sum, 1) });
      },
      bankKeeper(run, name, x.rows, x.features, filters),
    );
    count(own);
    done[p] = { trained, distribution };
  });
  return done;
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

/** Trains one bank on all rows of `x`; `unweighted` are the same rows without their weights. */
export async function trainOnAll(
  x: RowSource,
  params: WholeParams,
  backend: Backend,
  run: Run,
  { unweighted = x, ...wanted }: Wanted & { readonly unweighted?: RowSource },
): Promise<TrainedBank & { readonly notes: string[] }> {
  const notes = shapeNotes(x.features);
  const initialRows = params.initialRows && checkInitialRows(params.initialRows, x.rows);
  const asked = filtersFor(params, x.rows);
  const filters =
    initialRows?.length ?? (mayExceedRows(params, asked, 1, x.rows, notes) ? asked : Math.min(asked, x.rows));
  const streams = new Streams(params.seed);
  refuseLargeDistribution(run, params, x);
  await advance(run, { stage: "distribution", share: 0 });
  const begin = async () => {
    const drawn = resolveDistribution(unweighted, params.distribution, params, streams.distribution(), run.signal);
    return { x, distribution: await drawn };
  };
  const plan = { rows: x.rows, filters, initialRows, generator: streams.training(), name: "bank", begin };
  const [bank] = await trainBanks([plan], params, backend, run, wanted);
  return { ...bank, notes };
}

/** Bytes of a feature where weights are drawn from a distribution of one number for each: as it is drawn, sorted and looked up. */
const DRAWN_BYTES = 32;

/** Refuses (code "bad-file") a distribution that takes more memory than there is. Ranks need no list of them. */
export function refuseLargeDistribution(run: Run, { distribution }: FilterParams, { features }: RowSource): void {
  if (distribution === "rank") return;
  refuseLarge(run, DRAWN_BYTES * features, "a distribution of features", 'leave features out, or take "rank"');
}

/** The number of filters for so many rows; an automatic one is at least `fewest`. */
export function filtersFor({ filters, fastFilters, maxFilters }: FilterParams, rows: number, fewest = 1): number {
  return countFilters(rows, filters, fastFilters, maxFilters, fewest);
}

/** Whether filters may be more than rows; with a note where more are asked for than may be. `plusplus` chooses among rows, so it is refused for as many. */
export function mayExceedRows(
  { initialize }: FilterParams,
  filters: number,
  banks: number,
  rows: number,
  notes: string[],
): boolean {
  const inBank = Math.ceil(filters / banks);
  if (initialize === "plusplus" && inBank >= rows) {
    throw new RanksimError(
      "bad-params",
      `initialize: "plusplus" expects fewer filters than rows, found ${inBank} filters for ${rows} rows; set filters, or use "random"`,
    );
  }
  const mayExceed = initialize === "weightedAverage";
  if (!mayExceed && filters > rows * banks) {
    notes.push(
      `${filters} filters were asked for ${rows} rows; initialize: "weightedAverage" allows more filters than rows`,
    );
  }
  return mayExceed;
}

/** Row numbers below `rows`, as an index array. */
export function checkInitialRows(initialRows: readonly number[], rows: number): Uint32Array {
  for (const row of initialRows) {
    if (!(row < rows)) throw new RanksimError("bad-params", `initialRows: expected rows below ${rows}, found ${row}`);
  }
  return Uint32Array.from(initialRows);
}

/** One distribution after the other. */
export function joinDistributions(parts: readonly (Float64Array | undefined)[]): Float64Array | undefined {
  const all = parts.filter((part) => part !== undefined);
  if (all.length === 0) return undefined;
  const joined = new Float64Array(all.length * all[0].length);
  for (const [j, part] of all.entries()) joined.set(part, j * part.length);
  return joined;
}

/** Labels of rows to learn from. */
export interface Labelling {
  readonly classes: readonly Label[];
  readonly truth: Truth;
  readonly multilabel: boolean;
}

/** The labels of so many rows, one or several for each; at least one in all. Thresholds are for several. */
export function labelsToLearn(
  y: Labels | LabelSets | undefined,
  rows: number,
  { thresholds }: { readonly thresholds: string },
): Labelling {
  if (y === undefined) throw new RanksimError("bad-labels", `expected ${rows} labels, found none`);
  if (!isLabelSets(y)) {
    if (thresholds !== "none") {
      throw new RanksimError("bad-params", 'thresholds: expected "none" where each row has one label');
    }
    const { classes, codes } = encodeLabels(y, rows);
    return { classes, truth: { codes }, multilabel: false };
  }
  const { labels: classes, present } = encodeSets(y, rows);
  if (classes.length > 0) return { classes, truth: { present }, multilabel: true };
  throw new RanksimError("bad-labels", "expected at least 1 label, found only empty sets");
}

/** Below this many features the paper advises against rank filters: too few orders to distinguish rows. */
const FEW_FEATURES = 9;

/** Advice that depends on the shape of the data alone. */
export function shapeNotes(features: number): string[] {
  if (features >= FEW_FEATURES) return [];
  return [
    `${features} features have few rank orders; rank filters work best with ${FEW_FEATURES} or more features of one unit`,
  ];
}

/** How training went that began at `began` (`performance.now()`). */
export function makeReport(
  features: number,
  trained: readonly { readonly label?: Label; readonly rows: number; readonly trained: Trained }[],
  notes: readonly string[],
  began: number,
  backend: string,
): Report {
  const total = (of: (each: (typeof trained)[number]) => number) => trained.reduce((sum, each) => sum + of(each), 0);
  const pairs = total(({ trained: { work } }) => work.pairs);
  return {
    rows: total(({ rows }) => rows),
    features,
    filters: total(({ trained: { bank } }) => bank.filters),
    converged: trained.every(({ trained: { converged } }) => converged),
    trainings: trained.map(({ label, rows, trained: { bank, converged, steps } }) => ({
      ...(label === undefined ? {} : { label }),
      rows,
      filters: bank.filters,
      converged,
      steps,
    })),
    notes,
    seconds: (performance.now() - began) / 1000,
    backend,
    pruned: pairs === 0 ? 0 : 1 - total(({ trained: { work } }) => work.exact) / pairs,
    fallbacks: [...new Set(trained.flatMap(({ trained: { work } }) => work.notes))],
  };
}

/** Filters as they were trained. */
export type PlainFilters = Omit<Filters, "loaded"> & { readonly loaded?: Filters["loaded"] | undefined };

/** Filters in the form in which they are stored. A bank in a back end stays there if that is its form. */
export function storedFilters(filters: PlainFilters): Filters {
  const bank = canonicalBank(filters.bank);
  if (filters.loaded?.bank === bank) return { ...filters, bank, loaded: filters.loaded };
  filters.loaded?.release();
  return { ...filters, bank, loaded: new KeptBank(bank) };
}
