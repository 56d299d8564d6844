/** What all models of rank filters share: a bank, the rows its filters stand for, and how it was trained. */

import type { KeptBank } from "../backends/kept-bank.ts";
import type { FilterBank } from "../kernels/shapes.ts";
import type { Json } from "../model-file/saved.ts";
import { type Filters, keptBankOf } from "../model-file/stored/filters.ts";
import type { Report } from "../model-file/stored/report.ts";

export abstract class FilterModel {
  readonly features: number;
  /** The parameters the model was trained with. */
  readonly params: { readonly [name: string]: Json };
  readonly nBest: number;
  readonly report: Report;
  readonly #filters: Filters;
  readonly #keptBank: KeptBank;

  constructor(filters: Filters, params: { readonly [name: string]: Json }, nBest: number, report: Report) {
    this.features = filters.bank.features;
    this.params = params;
    this.nBest = nBest;
    this.report = report;
    this.#filters = filters;
    this.#keptBank = keptBankOf(filters);
  }

  /** The filters. Not to be written to. */
  get bank(): FilterBank {
    return this.#filters.bank;
  }

  /** The values the weights were drawn from (classes x features if each class has its own); absent for ranks. */
  get distribution(): Float64Array | undefined {
    return this.#filters.distribution;
  }

  /** Training rows that each filter was made from. */
  filterRows(filter: number): Uint32Array {
    const { offsets, rows } = this.#filters.members;
    return rows.slice(offsets[filter], offsets[filter + 1]);
  }

  protected get filters(): Filters {
    return this.#filters;
  }

  /** The bank in the back ends that know it. */
  protected get keptBank(): KeptBank {
    return this.#keptBank;
  }
}
