/** The slots of the kernels for sparse rows (`engine/slots.ts` says what a slot is). */

// The rows.
export const ROW_OFFSETS = 0; // u32, N + 1; positions in the next two
export const ROW_INDICES = 8; // u32 per entry
export const ROW_VALUES = 16; // per entry
export const ROW_TYPE = 24; // U8 to F64 of `engine/slots.ts`
export const FEATURES = 32; // n
export const MOST_ENTRIES = 40; // of any one row

// The filters as they are. Without FILTER_OFFSETS they are dense: n weights each.
export const FILTER_OFFSETS = 48; // u32, m + 1; positions in the next two
export const FILTER_INDICES = 56; // u32 per exception
export const FILTER_WEIGHTS = 64;
export const WEIGHT_BYTES = 72; // 2 and 4: unsigned integers; 8: float64
export const FILTER_BASE = 80; // f64 per filter
export const FILTER_NORM = 88; // f64 per filter
export const FILTER_COUNT = 96; // m

// The index; see `assembly/sparse/inverted-index.ts`.
export const WHOLE = 112; // 1: whole weights in i32; 0: scaled weights in f32
export const PLACES = 120; // filters in the index
export const PLACE_FILTER = 128; // u32 per place: the filter there
export const PLACE_BASE_32S = 136; // i32 or f32 per place
export const PLACE_BASE_F64S = 144; // f64 per place, with WHOLE
export const PLACE_FACTOR_F64S = 152; // f64 per place, without WHOLE: brings it to the common norm
export const COMMON_NORM_F64 = 160;
export const TABLE = 168; // u32 pairs per feature: start and count
export const COLUMNS = 176; // dense columns, ROOM numbers each
export const COLUMN_BOUNDS = 184; // per column its highest number, at least 0, and its lowest, at most 0
export const POSTINGS = 192; // pairs of 4 bytes: the place's byte offset in the scores, the difference from its base
export const ROOM = 200; // PLACES rounded up to 4
export const COLUMN_COUNT = 208;
export const POSTING_COUNT = 216; // out
export const SCALE_F64 = 224; // weights times this, a power of two, are at most 1
export const SPREAD_F64 = 232; // largest scaled base plus largest scaled difference from a base
export const LARGEST_32_F64 = 240; // rows of a smaller sum of absolute values have products below 2^31
export const TINY_ROW_F64 = 248; // rows whose largest value lies below or above: responses may round in ways that
export const HUGE_ROW_F64 = 256; // the allowance does not cover
export const EXACT_DIFFERENCES = 264; // 1: differences over SCALE are exact
export const COLUMN_EXCEPTIONS = 272; // otherwise, u32 for each number of COLUMNS: its exception counted from 1, or 0
export const POSTING_EXCEPTIONS = 280; // u32 per posting: its exception

// Filters written out in full; see `assembly/sparse/direct.ts`.
export const DIRECT = 288; // blocks of DIRECT_WIDTH filters, n x DIRECT_WIDTH float64 each
export const DIRECT_WIDTH = 296; // 1 or 8
export const DIRECT_COUNT = 304; // filters written out
export const DIRECT_LIST = 312; // u32 per filter written out: its number; 0: all, in order

// What is asked.
export const LIST = 320; // u32 per item: the rows asked for; 0: all, in order
export const K = 328;
export const OUT_ID = 336; // u32, k per item
export const OUT_VALUE = 344; // f64, k per item
export const KNOWN = 352; // 1: OUT holds an answer to be improved

// The strongest rows of filters: pieces of rows, each with an answer of its own, joined afterwards.
export const ROW_COUNT = 376; // N
export const PIECE_ROWS = 384; // rows of a piece
export const PIECE_COUNT = 392;
export const PIECE_K = 400; // places per filter in a piece's answer
export const PIECE_ID = 408; // u32, PIECE_K for each filter of each piece
export const PIECE_VALUE = 416; // f64, in the same order
export const DIVISOR = 424; // f64 per row
export const ASKED = 432; // filters asked for

// First answers from an earlier bank.
export const WINNER = 440; // u32 per row
export const WINNER_VALUE = 448; // f64 per row
export const CHANGED = 456; // u8 per filter
export const VERDICT = 464; // u8 per row, out: 1 where all filters must be looked at

// Groups of rows.
export const GROUP_OFFSETS = 472; // u32, groups + 1
export const GROUP_ROWS = 480; // u32
export const GROUP_WEIGHT = 488; // f64 per entry of GROUP_ROWS; 0: none
export const MOST_TOUCHED = 496; // features a group can touch at most
export const DISTRIBUTION = 504; // f64, n ascending; 0: ranks
export const DISTRIBUTION_SUMS = 512; // f64, n + 1: prefix sums
export const OUT_PLACES = 520; // u32 per group: where its exceptions go in the next two
export const OUT_INDICES = 528; // u32
export const OUT_WEIGHTS = 536; // WEIGHT_BYTES each
export const OUT_COUNT = 544; // u32 per group
export const OUT_BASE = 552; // f64 per group
