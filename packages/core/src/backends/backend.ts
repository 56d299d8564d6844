/**
 * The contract between the method and the machine, on one screen. A back end holds a matrix and answers five questions
 * about it; each answer is a reduction, never a rows x filters matrix. All CPU back ends give the same bits; `kernels/`
 * defines them.
 */

import type {
  Compared,
  DenseRows,
  FilterBank,
  Groups,
  Leaders,
  Lesson,
  Listed,
  PatchLayer,
  Prototypes,
  Rows,
  TopFilters,
  TopRows,
} from "../kernels/shapes.ts";

export type {
  Compared,
  Groups,
  Leaders,
  Lesson,
  Listed,
  PatchLayer,
  Prototypes,
  RefineRule,
  TopFilters,
  TopRows,
  Windows,
} from "../kernels/shapes.ts";

/** Back ends by name. */
export type BackendName = "reference" | "wasm" | "threads";

/** What is already known when a bank is a changed copy of an earlier one. It may save work and never alters an answer. */
export interface Since {
  /** The strongest filter of each row (k = 1) in the earlier bank. */
  readonly winners: TopFilters;
  /** 1 for each filter whose weights may differ from the earlier bank's, 0 for those that are the same. */
  readonly changed: Uint8Array;
}

/** Row-filter pairs asked about, and those whose exact product had to be computed; the rest was pruned. */
export interface Work {
  readonly pairs: number;
  readonly exact: number;
}

/** A matrix resident in a back end. Calls on one matrix must not overlap. */
export interface Held {
  /** The k strongest filters of each row; 1 <= k <= filters. */
  topFilters(bank: FilterBank, k: number, since?: Since): Promise<TopFilters>;
  /** The same for the listed rows, ascending, in their order. */
  topFiltersOf(rows: Uint32Array, bank: FilterBank, k: number): Promise<TopFilters>;
  /** The strongest filter of each row, and whether it is alone: less work than the two strongest. */
  leaders(bank: FilterBank): Promise<Leaders>;
  /** The k strongest rows of the listed filters, by response over the row's divisor; 1 <= k <= rows. */
  topRows(bank: FilterBank, filters: Uint32Array, k: number, divisor: Float64Array): Promise<TopRows>;
  /** One filter per group: the rank, or the draw from `distribution`, of the sum of the group's rows. */
  rankSums(groups: Groups, distribution?: Float64Array): Promise<FilterBank>;
  /** Prototypes to be taught by the rows. */
  refining(start: Prototypes): Promise<Refining>;
  /** Work done so far by the searches. */
  work(): Work;
  /** Gives the memory back; the matrix must not be used afterwards. May be called twice. */
  release(): void;
}

/** Filters under refinement, resident in a back end together with the matrix they learn from. */
export interface Refining {
  /** Which filters rows are compared with from now on; before lessons. The lists must not change until they are given again. */
  list(listed: Listed): void;
  /** One lesson, as `kernels/refine.ts` defines it. Returns how the rows compared before it. */
  teach(lesson: Lesson): Promise<Compared>;
  /** A copy of the prototypes as they now are. */
  values(): Float64Array;
  /** A copy of the filters as they now are. */
  bank(): FilterBank;
  /** Gives the memory back. May be called twice. */
  release(): void;
}

/** A machine that can hold matrices. Passed as a value; there is no registry. */
export interface Backend {
  readonly name: BackendName;
  /** Threads at work, 1 where there is no choice. */
  readonly threads: number;
  hold(x: Rows): Promise<Held>;
  /** Images of bytes to their pooled sums, the layers side by side, as `kernels/patches.ts` defines them. */
  pool(images: DenseRows, layers: readonly PatchLayer[]): Promise<Uint16Array>;
  /** Ends workers and frees memory. Held matrices become unusable. May be called twice. */
  close(): Promise<void>;
}
