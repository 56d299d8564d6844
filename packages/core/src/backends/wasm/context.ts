/**
 * The contexts through which TypeScript tells a kernel what to work on: a block of 8-byte slots in WebAssembly memory.
 * This file is compiled twice, by TypeScript and by AssemblyScript (`assembly/` imports it), so the two sides cannot
 * disagree. Slots hold an unsigned 32-bit number (pointers, counts) unless the name ends in `_F64`.
 *
 * Letters as in the kernels: N rows, n features, m filters, k results kept.
 */

/** Bytes of a context. */
export const CONTEXT_BYTES = 592;

/** Element types of the rows. */
export const U8 = 0;
export const U16 = 1;
export const I16 = 2;
export const F32 = 3;
export const F64 = 4;

/** How responses are computed; see `assembly/respond.ts`. */
export const WHOLE_NARROW = 0;
export const WHOLE_WIDE = 1;
export const ORDERED_F32 = 2;
export const ORDERED_F64 = 3;

// The rows.
export const ROWS = 0; // first value of row 0
export const TYPE = 8;
export const FEATURES = 16; // n
export const STRIDE = 24; // elements from one row to the next: n rounded up to 8, the rest is zero

// The filters, prepared for exact responses.
export const WEIGHTS = 32; // m rows of STRIDE weights: i16 (less CENTRE), f32 or f64 by MODE
export const MODE = 40;
export const FILTERS = 48; // m
export const CENTRE_F64 = 56; // what was taken off each 16-bit weight
export const SHIFTED = 64; // f64 per filter: what the offset of 16-bit rows contributes; 0 if none
export const NORM = 72; // f64 per filter
export const FLUSH = 80; // WHOLE_WIDE: bytes of a row after which 32-bit sums are carried over

// What is asked.
export const LIST = 88; // u32 per item: the rows (or filters) asked for; 0: all, in order
export const K = 96;
export const OUT_ID = 104; // u32, k per item
export const OUT_VALUE = 112; // f64, k per item
export const FIRST_ROW = 120; // number of row 0 in the caller's matrix
export const DIVISOR = 128; // f64 per row

// Bounds; see `assembly/bound.ts`.
export const ROW_BOUNDS = 136; // i16, DEPTH per row
export const ROW_SCALES = 144; // f64, 5 per row: scale, length, loss, span, x·b
export const FILTER_BOUNDS = 152; // i16, DEPTH per filter
export const PANEL = 160; // the first DEPTH_1 of FILTER_BOUNDS, packed in blocks of 8 filters in the order of ORDER
export const ORDER = 168; // u32 per place in PANEL: the filter there
export const PLACES = 176; // places of PANEL to look at, a multiple of 8
export const DEPTH = 184; // numbers per vector, all levels together
export const DEPTH_1 = 192; // numbers of the first level
export const DEPTH_2 = 200; // numbers of the first two levels
export const MIDDLE_F64S = 208; // the middle filter b: STRIDE float64
export const COMMON_NORM_F64 = 216; // the norm to which all filters were brought
export const FILTER_SCALE_F64 = 224; // quantised units per unit of a filter
export const FILTER_LONGEST_F64 = 232; // largest Euclidean norm of a filter less b
export const FILTER_LOSS_F64 = 240; // largest Euclidean norm of what 16 bits could not hold of a filter
export const FILTER_SPAN_F64 = 248; // largest sum of absolute quantised coordinates of a filter
export const ROUNDING_F64 = 256; // allowance for the rounding of a response, per unit of the row's norm
export const KNOWN = 264; // 1: OUT holds a first answer for each row; 0: nothing is known
export const COMPACT = 272; // table of `compactTable`

// Directions; see `assembly/directions.ts`.
export const DIRECTIONS = 280; // packed panel of the basis
export const DIRECTION_COUNT = 288; // a multiple of 8
export const DIRECTION_SCALE_F64 = 296; // the basis is the panel over this, a contraction
export const COORDINATES = 304; // i32, DIRECTION_COUNT per filter
export const FILTER_FACTS = 312; // f64, 4 per filter: unit, squared length in units, loss, a·v; the last becomes the span
export const SAMPLE_ROWS = 320; // u32 per sampled row
export const SAMPLE_ROW_COUNT = 328;
export const SAMPLE_FILTERS = 336; // u32 per sampled filter
export const SAMPLE_FILTER_COUNT = 344;

// First answers from an earlier bank.
export const WINNER = 352; // u32 per row
export const WINNER_VALUE = 360; // f64 per row
export const CHANGED = 368; // u8 per filter
export const VERDICT = 376; // u8 per row, out: 1 where all filters must be looked at

// Groups of rows.
export const GROUP_OFFSETS = 384; // u32, groups + 1
export const GROUP_ROWS = 392; // u32
export const GROUP_WEIGHT = 400; // f64 per entry of GROUP_ROWS; 0: none
export const DISTRIBUTION = 408; // f64, n ascending; 0: ranks
export const OUT_WEIGHTS = 416; // per group n weights, unpadded
export const OUT_BYTES = 424; // 2, 4 or 8 per weight

// Sparse rows and filters.
export const ROW_OFFSETS = 432; // u32, N + 1
export const ROW_INDICES = 440; // u32 per entry
export const FILTER_OFFSETS = 448; // u32, m + 1
export const FILTER_INDICES = 456; // u32 per exception
export const BASE = 464; // f64 per filter
export const POSTING_OFFSETS = 472; // u32, n + 1
export const POSTING_FILTER = 480; // u32 per posting
export const POSTING_DELTA = 488; // f64 per posting
export const OUT_OFFSETS = 496;
export const OUT_INDICES = 504;

// Filters in blocks, when not all are in memory at once.
export const FIRST_FILTER = 512; // number of filter 0 in the caller's bank
export const LAST_BLOCK = 520; // 1: no further filters (or rows) follow, the answer may be put in order

// Whether 16 bits hold things exactly.
export const WHOLE_ROWS = 528; // 1: rows less a are whole numbers that 16 signed bits hold
export const WHOLE_FILTERS = 536; // 1: so are the filters less b
export const MIDDLE_16 = 544; // b less n + 1 in 16 bits; 0: it is not whole or too large
export const MIDDLE_FLUSH = 552; // bytes of a row after which the 32-bit sums of its product with b are carried over

// The middle row a, taken off every row before it is projected.
export const ROW_MIDDLE_F64S = 560; // STRIDE float64
export const ROW_MIDDLE_16 = 568; // in 16 bits; 0: it is not whole
export const ROW_MIDDLE_LENGTH_F64 = 576; // its Euclidean norm, 1 if that is 0
export const ROW_MIDDLE_FLUSH = 584; // bytes after which 32-bit sums of its product with a filter are carried over
