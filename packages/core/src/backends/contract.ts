/**
 * The contract between the method and the machine. A back end holds rows and banks behind handles, each with an owner who
 * releases it; answers are values. Calls may overlap freely, on one handle and on many: what is in use stays until its last
 * user is done. Answers are reductions, never a rows x filters matrix. All back ends give the same bits; `kernels/` defines them.
 */

import type {
  Assignment,
  Compared,
  DenseRows,
  FilterBank,
  Groups,
  Leaders,
  Listed,
  PatchLayer,
  Prototypes,
  RefineBatch,
  RowSource,
  Rows,
  Sum,
  TopFilters,
  TopRows,
} from "../kernels/shapes.ts";
import type { Turn } from "./turn.ts";

export type {
  Assignment,
  Compared,
  Groups,
  Leaders,
  Listed,
  PatchLayer,
  Prototypes,
  RefineBatch,
  RefineRule,
  RowSource,
  Sum,
  TopFilters,
  TopRows,
  Windows,
} from "../kernels/shapes.ts";
export type { Turn } from "./turn.ts";

/** Something in a back end's memory. */
export interface Handle {
  /** Releases it; calls that use it run to their end. May be called twice. */
  release(): void;
}

/** Stores rows and banks and runs kernels on them. */
export interface Backend {
  readonly name: string;
  /** Threads at work, 1 where there is no choice. */
  readonly threads: number;
  /** How many trainings to run at once, where answers have a latency to hide; absent: one. */
  readonly overlap?: number;
  /** The processes that share the work, which must all ask the same in the same order; absent: one. */
  readonly processes?: Processes;
  /** What the work would take here; `auto` asks every back end. */
  estimate(work: WorkShape): Estimate | Refusal;
  /** What it runs on, where that is not the processor. */
  describe?(): Promise<Described>;
  /** Takes rows in. All work on them, and on what is made from them, happens in the given turn. */
  hold(rows: RowSource, plan?: Plan): Promise<HeldRows>;
  /** Ends workers and frees memory. Handles become unusable. May be called twice. */
  close(): Promise<void>;
}

/** Opens a back end of another package. `openProcessor` opens one that does what it does not do. */
export type Opener = (openProcessor: () => Promise<Backend>) => Promise<Backend>;

/** Processes that run the same program on the same data. */
export interface Processes {
  readonly count: number;
  /** Does independent pieces of work, each in one process on its back end alone. All of them get all results, in order. */
  pieces(count: number, work: (piece: number, own: Backend) => Promise<PieceResult>): Promise<PieceResult[]>;
}

/** The result of a piece of work. */
export interface PieceResult {
  readonly banks: readonly FilterBank[];
  readonly numbers: Uint32Array;
}

/** A device that a back end runs on. */
export interface Described {
  /** Its name. */
  readonly adapter: string;
  /** Whether it is a program that plays a GPU. */
  readonly isSoftware: boolean;
  /** The program for products that is used, and products of bytes a second of each that was timed. */
  readonly variant: string;
  readonly timed: readonly { readonly name: string; readonly rate: number }[];
  readonly limits: { readonly bufferBytes: number; readonly workgroupBytes: number };
}

/** How rows will be used. It may decide where they go and never alters an answer. */
export interface Plan {
  /** Filters they will meet in a search; absent: unknown. */
  readonly filters?: number;
  /** Searches expected; absent: one. */
  readonly searches?: number;
  readonly turn?: Turn;
}

/** The size of some work: searches of filters by rows. */
export interface WorkShape {
  readonly rows: number;
  readonly features: number;
  /** Stored values of all rows: rows x features if dense. */
  readonly values: number;
  readonly bytes: number;
  readonly filters: number;
  readonly searches: number;
}

/** What work would take: seconds by a rough measure, the same for every back end, and bytes of its memory. */
export interface Estimate {
  readonly seconds: number;
  readonly bytes: number;
}

/** Why a back end cannot do some work. */
export interface Refusal {
  readonly refused: string;
}

/** Rows in a back end. */
export interface HeldRows extends Handle {
  readonly rows: number;
  readonly features: number;
  /** The back end that has them. */
  readonly backend: Backend;
  /** The turn in which all work on them happens. */
  readonly turn: Turn;
  /** Takes a bank in, to be used with all rows of this back end. */
  load(bank: FilterBank): HeldBank;
  /** The k strongest filters of each row, 1 <= k <= filters; with a list (ascending), of those rows in that order. */
  topFilters(bank: HeldBank, k: number, of?: Uint32Array): Promise<TopFilters>;
  /** The strongest filter of each row, and whether it is alone: less work than the two strongest. */
  leaders(bank: HeldBank): Promise<Leaders>;
  /** The k strongest rows of the listed filters by response over the row's mean response to the bank; 1 <= k <= rows. */
  topRows(bank: HeldBank, filters: Uint32Array, k: number): Promise<TopRows>;
  /** Which filter each row belongs to. An earlier assignment may save work, as may knowing what is asked next. */
  assign(bank: HeldBank, before?: Assignment, next?: Next): Promise<Assignment>;
  /** The sum of each group's rows, in the order listed, each on top of what `onto` has for it. */
  sum(groups: Groups, onto?: readonly Sum[]): Promise<Sum[]>;
  /** One filter for each such sum: its rank, or its draw from the distribution. */
  rank(groups: Groups, distribution?: Float64Array, onto?: readonly Sum[]): Promise<HeldBank>;
  /** Images of bytes to their pooled sums, or bytes where layers have a limit, the layers side by side, as `kernels/patches.ts` defines them. */
  pool(layers: readonly PatchLayer[]): Promise<DenseRows>;
  /** The listed rows, from where they are in memory if they are. Absent: their source has them. */
  gather?(rows: Uint32Array): Promise<Rows>;
  /** Prototypes to be refined by the rows. */
  refine(start: Prototypes): Promise<Refining>;
  /** What the searches have done so far. */
  work(): Work;
}

/** What is asked once rows are assigned: where they have to be read, it is found in the same pass. It never alters an answer. */
export interface Next {
  /** The sums of all filters; they come with the assignment if there is room for them. */
  readonly sums?: boolean;
  /** So many of the strongest rows of filters that won none. */
  readonly rowsOfEmpty?: number;
}

/** Filters in a back end. */
export interface HeldBank extends Handle {
  readonly filters: number;
  readonly features: number;
  /** A bank in which filter `at[j]` (ascending) is filter j of `by`; this one stays as it is. */
  replace(at: Uint32Array, by: HeldBank): Promise<HeldBank>;
  /** The filters. Not to be written to. */
  read(): Promise<FilterBank>;
}

/** Filters under refinement, together with the rows they learn from. Calls on one must not overlap: each builds on the last. */
export interface Refining extends Handle {
  /** Which filters rows are compared with from now on; called before any update. The lists must not change until they are given again. */
  list(listed: Listed): void;
  /** One update by a batch of rows, as `kernels/refine.ts` defines it. Returns how the rows compared before the update. */
  update(batch: RefineBatch): Promise<Compared>;
  /** A copy of the prototypes as they now are, in `room` where that suits the back end. */
  values(room?: Float64Array): Promise<Float64Array>;
  /** The filters as they now are. */
  bank(): Promise<HeldBank>;
}

/** What searches did. */
export interface Work {
  /** Row-filter pairs asked about, and those whose exact product had to be computed; the rest was pruned. */
  readonly pairs: number;
  readonly exact: number;
  /** What was done another way than usual, and why: too little memory, a lost device. */
  readonly notes: readonly string[];
}
