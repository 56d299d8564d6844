/** Models of rank filters that name classes: a bank, the rows its filters stand for and how it was trained. */

import type { Backend } from "../backends/contract.ts";
import type { FilterBank } from "../kernels/shapes.ts";
import type { Label, LabelSets, Labels } from "../matrix/labels.ts";
import type { Matrix, MatrixLike } from "../matrix/matrix.ts";
import type { Saved } from "../model-file/saved.ts";
import { type Filters, filterArrays } from "../model-file/stored/filters.ts";
import { type Report, reportAsJson } from "../model-file/stored/report.ts";
import type { BankExplanation } from "../paper/explain.ts";
import { ClassModel, type ClassParts, type TrainedParts } from "./class-model.ts";
import type { Run } from "./estimator.ts";
import { checkParams, N_BEST } from "./parameter.ts";
import { withBackend } from "./run.ts";

/** What a model of filters consists of. */
export interface FilterParts extends TrainedParts {
  readonly filters: Filters;
  readonly report: Report;
}

/** What is stored of a model of filters. */
export function saveFilters({ filters, params, report }: FilterParts): Pick<Saved, "meta" | "arrays"> {
  const { features } = filters.bank;
  return { meta: { features, params, report: reportAsJson(report) }, arrays: filterArrays(filters) };
}

/** Parameters with another nBest. */
export function paramsWithNBest(params: FilterParts["params"], nBest: number): FilterParts["params"] {
  checkParams({ nBest }, [N_BEST]);
  return { ...params, nBest };
}

/** The rows that a filter was made from. */
export function rowsOfFilter({ members: { offsets, rows } }: Filters, filter: number): Uint32Array {
  return rows.slice(offsets[filter], offsets[filter + 1]);
}

/** The strongest filters of a row, by the class of each; `given` is that of the row where filters do not alone decide it. */
export async function explainFilters(
  { filters, params }: FilterParts,
  one: Matrix,
  classOf: (filter: number) => number,
  backend: Backend,
  given?: number,
): Promise<BankExplanation> {
  const { explainRow } = await import("../paper/explain.ts");
  return explainRow(one, filters.loaded, filters.members, params.nBest as number, classOf, backend, given);
}

/** Trained filters that name a class, or several labels, for each row. */
export abstract class FilterClassModel<
  Y extends Label | Label[],
  P extends FilterParts & ClassParts,
> extends ClassModel<Y, P> {
  declare readonly report: Report;

  get features(): number {
    return this.bank.features;
  }

  get nBest(): number {
    return this.params.nBest as number;
  }

  /** The filters. Not to be written to. */
  get bank(): FilterBank {
    return this.parts.filters.bank;
  }

  /** The values the weights were drawn from (classes x features if each class has its own); absent for ranks. */
  get distribution(): Float64Array | undefined {
    return this.parts.filters.distribution;
  }

  /** Training rows that each filter was made from. */
  filterRows(filter: number): Uint32Array {
    return rowsOfFilter(this.parts.filters, filter);
  }

  /** The same filters with another nBest. What was fitted to answers that depend on it is left out. */
  withNBest(nBest: number): this {
    return this.copy({ params: paramsWithNBest(this.params, nBest) });
  }

  /**
   * The model with new rows added, and new classes or labels if any are named; this one stays as it is. Needs `keepSums`. New rows
   * count on after the earlier ones in `filterRows`. What was fitted to the model as it was is left out.
   */
  async partialFit(x: MatrixLike, y?: Labels | LabelSets, run: Run = {}): Promise<this> {
    return this.copy(await withBackend(run, x, (backend) => this.grown(x, y, backend, run)), true);
  }

  /** The parts that new rows change. */
  protected abstract grown(
    x: MatrixLike,
    y: Labels | LabelSets | undefined,
    backend: Backend,
    run: Run,
  ): Promise<Partial<P>>;

  save(): Saved {
    const [filters, classes] = [saveFilters(this.parts), this.saveClasses()];
    const { meta, arrays } = this.saveOwn();
    return {
      kind: this.kind,
      meta: { ...filters.meta, ...classes.meta, ...meta },
      arrays: { ...filters.arrays, ...classes.arrays, ...arrays },
    };
  }

  /** What a kind of model adds to that. */
  protected abstract saveOwn(): Partial<Pick<Saved, "meta" | "arrays">>;
}
