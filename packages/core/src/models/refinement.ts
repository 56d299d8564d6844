/** Refinement as the classifier and its models ask for it: the filters bank by bank, and progress. */

import type { Backend, HeldRows, RowSource } from "../backends/contract.ts";
import { orGiveUp } from "../backends/kept-bank.ts";
import { joinBanks } from "../bank/bank.ts";
import { banksOf } from "../beyond/committee/committee.ts";
import { truthAmong } from "../beyond/probabilities/fit.ts";
import type { Truth } from "../beyond/probabilities/fitted.ts";
import { type Refinement, refineAs, refineCommittee } from "../beyond/refinement/choice.ts";
import type { Label, LabelSets, Labels } from "../matrix/labels.ts";
import { type MatrixLike, matchingMatrix, trainingMatrix } from "../matrix/matrix.ts";
import { Streams } from "../random.ts";
import { refinedKeeper } from "./checkpoint.ts";
import type { ClassifierParts } from "./classifier-model.ts";
import type { Run } from "./estimator.ts";
import { checkParams, recipeOf } from "./parameter.ts";
import { CLASSIFIER_PARAMETERS, type ClassifierParams } from "./params.ts";
import { advance, refuseLarge, withBackend } from "./run.ts";
import { type PlainFilters, storedFilters } from "./train.ts";

/** Filters to be refined, and the rows to learn from. */
interface ClassTask {
  readonly matrix: RowSource;
  /** The same in the back end, where it has them already. */
  readonly held?: HeldRows | undefined;
  readonly codes: Uint32Array;
  /** How often each row comes: copy c of row r is row c * rows / copies + r. */
  readonly copies: number;
  readonly filters: PlainFilters;
  readonly filterClass: Uint32Array;
  readonly classes: readonly Label[];
  readonly params: Pick<ClassifierParams, "seed" | "committee" | "refineEpochs" | "refineWindow">;
}

/** Bytes of a weight that is refined: prototypes and ranks of the bank at work, of the one before and of the one it is compared with, in back ends and out of them. */
const PROTOTYPE_BYTES = 160;

/**
 * Refines filters where held-out rows show that it helps, or as it was done with other rows (`reuse`). A refined filter keeps the rows of
 * the plain one it began as.
 */
export async function refineClasses(
  { matrix, held, codes, copies, filters, filterClass, classes, params }: ClassTask,
  backend: Backend,
  run: Run,
  from: number,
  reuse?: Refinement,
): Promise<{ filters: PlainFilters; report: Refinement; notes: readonly string[] }> {
  const bytes = PROTOTYPE_BYTES * filters.bank.filters * filters.bank.features;
  refuseLarge(run, bytes, "filters to be refined", "lower filters, leave features out, or set refine to false");
  const filterBank = filters.filterBank ?? new Uint32Array(filters.bank.filters);
  const task = {
    x: matrix,
    held,
    codes,
    copies,
    classes: classes.length,
    banks: banksOf(filters.bank, filterClass, filterBank),
    distribution: filters.distribution,
    epochs: params.refineEpochs,
    window: params.refineWindow,
    generator: new Streams(params.seed).refinement(classes.length, params.committee),
    backend,
    keeperOf: (name: string) => refinedKeeper(run, name, filters.bank.features),
    onEpoch: (share: number, epoch: number) =>
      advance(run, { stage: "refine", epoch, share: from + (1 - from) * share }),
  };
  const refined = await (reuse ? refineAs(reuse, task) : refineCommittee(task));
  const { report, notes } = refined;
  await orGiveUp(refined.keptBank, advance(run, { stage: "fit", share: 1 }));
  if (!report.refined) return { filters, report, notes };
  const bank = joinBanks(refined.banks.map(({ bank }) => bank));
  return { filters: { ...filters, bank, loaded: refined.keptBank }, report, notes };
}

/** The parts that change where a model is refined by rows like those it was trained on. */
export async function refineModel(
  parts: ClassifierParts,
  x: MatrixLike,
  y: Labels | LabelSets,
  run: Run,
): Promise<Pick<ClassifierParts, "filters" | "params" | "report">> {
  const matrix = trainingMatrix(matchingMatrix(x, parts.filters.bank.features));
  const { codes } = truthAmong(y, parts.classes, matrix.rows, false) as Extract<Truth, { codes: unknown }>;
  const params = { ...parts.params, calibrate: "none", refine: true };
  const recipe = checkParams<ClassifierParams>(recipeOf(params), CLASSIFIER_PARAMETERS);
  const { filters, report, notes } = await withBackend(run, matrix, (backend) =>
    refineClasses({ ...parts, matrix, codes, copies: 1, params: recipe }, backend, run, 0),
  );
  const told = { ...parts.report, notes: [...new Set([...parts.report.notes, ...notes])], refinement: report };
  return { filters: storedFilters(filters), params, report: told };
}
