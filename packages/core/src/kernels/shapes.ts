/**
 * The plain shapes the kernels work on: typed arrays with their sizes, nothing else. `matrix/` makes values of these
 * shapes after checking them; kernels trust them.
 *
 * Letters used in all kernels: N rows, n features, m filters, k results kept.
 */

/** Element types a matrix may have. */
export type Values = Uint8Array | Uint16Array | Int16Array | Float32Array | Float64Array;

/** Row-major N x n: the value of row r, feature i is `values[r * features + i]`. */
export interface DenseRows {
  readonly form: "dense";
  readonly rows: number;
  readonly features: number;
  readonly values: Values;
}

/**
 * Compressed sparse rows: row r holds the entries `offsets[r]` (included) to `offsets[r + 1]` (not included) of `indices`
 * and `values`; indices ascend strictly within a row. `offsets[0]` need not be 0, so that a slice is a view.
 */
export interface CsrRows {
  readonly form: "csr";
  readonly rows: number;
  readonly features: number;
  readonly offsets: Uint32Array;
  readonly indices: Uint32Array;
  readonly values: Values;
}

export type Rows = DenseRows | CsrRows;

/**
 * Rows, wherever they are: in memory, in one file or in many. A matrix in memory is the simplest source, and is a value of
 * type `Rows` as well.
 */
export interface RowSource {
  readonly form: Rows["form"];
  readonly rows: number;
  readonly features: number;
  /** Stored values of all rows, and the bytes of one. */
  readonly entries: number;
  readonly valueBytes: number;
  /** All rows in order, in blocks of about `bytes` bytes at most and one row at least. */
  blocks(bytes: number): Iterable<Rows> | AsyncIterable<Rows>;
  /** The listed rows in that order. */
  gather(rows: Uint32Array): Rows | Promise<Rows>;
  /** Rows `from` (included) to `to` (not included). */
  slice(from: number, to: number): RowSource;
  /** Where these are rows of another source, in some order: that source, and which. A back end may take in the whole of it once. */
  readonly listed?: { readonly source: RowSource; readonly rows: Uint32Array };
  /** Rows that are not in memory: bytes of memory that work on them may take for rows at a time. */
  readonly room?: number;
  /** Whether rows are worked out when they are asked for: asking twice takes the work twice. */
  readonly made?: boolean;
  /** The listed rows in that order, as a source that is read well in its order: where gathering them would jump about. */
  arrange?(rows: Uint32Array): Promise<RowSource>;
  /** Keeps dense rows that were made of these and come in order, where they can be read again. `like` is an empty array of their element type. */
  keep?(blocks: AsyncIterable<DenseRows>, shape: KeptShape): Promise<RowSource>;
}

/** What is known of rows before they are kept. */
export interface KeptShape {
  readonly rows: number;
  readonly features: number;
  readonly like: Values;
}

/** One sum of rows: n values, or those of the listed features (ascending), all others being 0. */
export interface Sum {
  readonly indices?: Uint32Array;
  readonly values: Values;
}

/** Doubled ranks (integers) or values drawn from a distribution (float64). */
export type Weights = Uint16Array | Uint32Array | Float64Array;

/** m x n weights, row-major; a filter's response to x is x·w / norm. */
export interface DenseBank {
  readonly form: "dense";
  readonly filters: number;
  readonly features: number;
  readonly weights: Weights;
  readonly norm: Float64Array;
}

/**
 * Filters of sparse data: all features that are zero in a filter's rows tie, so a filter is one base weight and a few
 * exceptions. Exception e of filter f, `offsets[f] <= e < offsets[f + 1]`, says that feature `indices[e]` weighs
 * `weights[e]`; every other feature weighs `base[f]`. Indices ascend strictly within a filter.
 */
export interface SparseBank {
  readonly form: "sparse";
  readonly filters: number;
  readonly features: number;
  readonly base: Float64Array;
  readonly offsets: Uint32Array;
  readonly indices: Uint32Array;
  readonly weights: Weights;
  readonly norm: Float64Array;
}

/** The filters: m prototypes whose weights are the rank order of their features. */
export type FilterBank = DenseBank | SparseBank;

/** Rows gathered in groups: group g has the rows `rows[offsets[g]]` to `rows[offsets[g + 1] - 1]`, in ascending order. */
export interface Groups {
  readonly offsets: Uint32Array;
  readonly rows: Uint32Array;
  /** Weight of each entry of `rows`; absent: all 1. */
  readonly weight?: Float64Array;
}

/** The k strongest filters of each row, strongest first, equal responses by lower filter: entry `r * k + j`. */
export interface TopFilters {
  readonly rows: number;
  readonly k: number;
  readonly filter: Uint32Array;
  /** x·w / norm. */
  readonly response: Float64Array;
}

/** The strongest filter of each row, the lowest of those that share its response. */
export interface Leaders {
  readonly rows: number;
  readonly filter: Uint32Array;
  readonly response: Float64Array;
  /** 1 for each row where other filters share the largest response. */
  readonly tied: Uint8Array;
}

/** The k strongest rows of each filter asked for, strongest first, equal values by lower row: entry `f * k + j`. */
export interface TopRows {
  readonly filters: number;
  readonly k: number;
  readonly row: Uint32Array;
  /** x·w / divisor of the row; 0 where the divisor is 0. */
  readonly value: Float64Array;
}

/** Which filter each row belongs to. Equal responses: the lowest filter. */
export interface Assignment {
  /** The filter of each row. */
  readonly winners: Uint32Array;
  /** Rows of each filter. */
  readonly wins: Uint32Array;
  /** Rows that changed filter since the earlier assignment; all rows where there was none. */
  readonly moved: number;
  /** 1 for each filter that lost or gained a row since the earlier assignment. */
  readonly changed: Uint8Array;
  /** The sum of each filter's rows, in ascending order, where it was found in the same pass. */
  readonly sums?: readonly Sum[];
}

/** How a row moves a prototype: it is added to it, or its features scale it, so that features no row has stay tied. */
export type RefineRule = "add" | "multiply";

/** Vectors whose ranks are filters, at the start of refinement. */
export interface Prototypes {
  readonly filters: number;
  readonly features: number;
  /** m x n; positive for the rule "multiply". */
  readonly values: Float64Array;
  /** Class number of each filter. */
  readonly filterClass: Uint32Array;
  readonly rule: RefineRule;
  /** What the weights are drawn from; absent for ranks. */
  readonly distribution: Float64Array | undefined;
}

/** What each row of a matrix is compared with in updates. */
export interface Listed {
  /** Class number of each row. */
  readonly codes: Uint32Array;
  /** k filters for each row; one may be listed twice. */
  readonly filters: Uint32Array;
  readonly k: number;
}

/** A batch of rows that prototypes are updated by, all at once. */
export interface RefineBatch {
  /** Ascending. */
  readonly rows: Uint32Array;
  readonly step: number;
  /** A row whose margin reaches this has nothing to learn. */
  readonly window: number;
  /** A prototype is ranked again once it has been moved this often since. */
  readonly patience: number;
}

/** How the rows of a batch compared: for each its strongest own filter, its strongest other and how far the first leads. */
export interface Compared {
  readonly own: Uint32Array;
  readonly rival: Uint32Array;
  /** (r⁺ - r⁻) / (|r⁺| + |r⁻|), in -1..1; 1 where either is missing (its number then means nothing) or both are 0. */
  readonly margin: Float64Array;
}

/** The windows of images of one size, the cells they are pooled in, and how similarities are counted. */
export interface Windows {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly patchWidth: number;
  readonly patchHeight: number;
  /** Pixels from one window to the next, to the right and down. */
  readonly stride: number;
  /** Windows in a row of windows, and rows of windows. */
  readonly across: number;
  readonly down: number;
  readonly cellsAcross: number;
  readonly cellsDown: number;
  /** Filters per window whose similarity counts; at least 2. */
  readonly nBest: number;
  /** Bits left out at the end of each sum, so that no sum can exceed 15 bits. */
  readonly shift: number;
  /** Sums from which on a pooled value is 255, smaller ones in proportion: values are bytes. 0: they are the sums. */
  readonly limit: number;
}

/** Filters for the windows of images: doubled ranks, all of one norm. */
export interface PatchLayer {
  readonly bank: DenseBank;
  readonly windows: Windows;
}
