/** Refinement as the classifier and its models ask for it: what can be refined, the filters bank by bank, progress. */

import type { Backend, RowSource } from "../backends/contract.ts";
import { orGiveUp } from "../backends/kept-bank.ts";
import { joinBanks } from "../bank/bank.ts";
import { banksOf } from "../beyond/committee/committee.ts";
import { type Refinement, refineAs, refineCommittee } from "../beyond/refinement/choice.ts";
import { RanksimError } from "../errors.ts";
import type { Label } from "../matrix/labels.ts";
import type { Filters } from "../model-file/stored/filters.ts";
import { Streams } from "../random.ts";
import { refinementKeeper } from "./checkpoint.ts";
import type { Run } from "./estimator.ts";
import type { ClassifierParams } from "./params.ts";
import { advance } from "./run.ts";

/** Refuses parameters that neither a committee nor refined filters can have. */
export function refuseUnrefinable(params: ClassifierParams): void {
  const { committee, refine } = params;
  const found = (name: keyof ClassifierParams): string => {
    const value = params[name];
    return `${name} ${typeof value === "function" ? "a function" : JSON.stringify(value)}`;
  };
  const wrong =
    committee > 1 && params.voters > 1
      ? `committee: banks add up their scores: expected voters 1, found ${found("voters")}`
      : committee > 1 && params.initialRows
        ? "committee: banks begin with rows of their own: expected no initialRows"
        : (committee > 1 || refine) && params.keepSums
          ? `${refine ? "refine" : "committee"}: no rows can be added later: expected keepSums false, found true`
          : refine && params.filterFunction !== "meanRank"
            ? `refine: filters are ranks of prototypes: expected filterFunction "meanRank", found ${found("filterFunction")}`
            : refine && params.distributionPerClass
              ? "refine: filters share one distribution: expected distributionPerClass false, found true"
              : undefined;
  if (wrong !== undefined) throw new RanksimError("bad-params", wrong);
}

/** Filters to be refined, and the rows to learn from. */
interface ClassTask {
  readonly matrix: RowSource;
  readonly codes: Uint32Array;
  /** How often each row comes, see `showRows`. */
  readonly copies: number;
  readonly filters: Filters;
  readonly filterClass: Uint32Array;
  readonly classes: readonly Label[];
  readonly params: Pick<ClassifierParams, "seed" | "committee" | "refineEpochs" | "refineWindow">;
}

/**
 * Refines filters where held-out rows show that it helps, or as it was done with other rows (`chosen`). A refined filter keeps the rows of
 * the plain one it began as.
 */
export async function refineClasses(
  { matrix, codes, copies, filters, filterClass, classes, params }: ClassTask,
  backend: Backend,
  run: Run,
  from: number,
  chosen?: Refinement,
): Promise<{ filters: Filters; report: Refinement; notes: readonly string[] }> {
  const filterBank = filters.filterBank ?? new Uint32Array(filters.bank.filters);
  const task = {
    x: matrix,
    codes,
    copies,
    classes: classes.length,
    banks: banksOf(filters.bank, filterClass, filterBank),
    distribution: filters.distribution,
    epochs: params.refineEpochs,
    window: params.refineWindow,
    generator: new Streams(params.seed).refinement(classes.length, params.committee),
    backend,
    keeper: refinementKeeper(run, filters.bank.features),
    onEpoch: (share: number, epoch: number) =>
      advance(run, { stage: "refine", epoch, share: from + (1 - from) * share }),
  };
  const refined = await (chosen ? refineAs(chosen, task) : refineCommittee(task));
  const { report, notes } = refined;
  await orGiveUp(refined.keptBank, advance(run, { stage: "fit", share: 1 }));
  if (!report.refined) return { filters, report, notes };
  const bank = joinBanks(refined.banks.map(({ bank }) => bank));
  return { filters: { ...filters, bank, loaded: refined.keptBank }, report, notes };
}
