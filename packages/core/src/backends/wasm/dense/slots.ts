/** The slots of the kernels for dense rows (`engine/slots.ts` says what a slot is). */

// The rows.
export const ROWS = 0; // first value of row 0
export const TYPE = 8;
export const FEATURES = 16; // n
export const STRIDE = 24; // elements from one row to the next: n rounded up to 8, the rest is zero

// The filters, prepared for exact responses.
export const WEIGHTS = 32; // m rows of STRIDE weights: i16 (minus CENTRE), f32 or f64 by MODE
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
export const DIVISOR = 128; // f64 per row

// Bounds; see `assembly/dense/bound.ts`.
export const ROW_BOUNDS = 136; // BOUND_BYTES per row: level 1, then what level 2 adds
export const ROW_SCALES = 144; // SCALES_BYTES per row
export const FILTER_FIRST = 152; // FIRST_BYTES per filter: level 1
export const PANEL = 160; // FILTER_FIRST, packed in blocks of 8 filters in the order of ORDER
export const ORDER = 168; // u32 per place in PANEL: the filter there
export const PLACES = 176; // places of PANEL to look at, a multiple of 8; or rows to look at
export const COMMON_NORM_F64 = 184; // the norm to which all filters were brought
export const FILTER_SCALE_F64 = 192; // quantised units per unit of a filter
export const FILTER_LONGEST_F64 = 200; // largest Euclidean norm of a filter minus b
export const FILTER_LOSS_F64 = 208; // largest Euclidean norm of what 16 bits could not hold of a filter
export const ROW_PARTS = 216; // PARTS_BYTES per row: level 3
export const FILTER_PARTS = 224; // PARTS_BYTES per filter: level 3
export const ROUNDING_F64 = 232; // allowance for the rounding of a response, per unit of the row's norm
export const KNOWN = 240; // 1: OUT holds a first answer; 0: nothing is known
export const COMPACT = 248; // table of `compact_table`
export const FILTER_ERROR_1_F64 = 256; // largest rounding of a filter's coordinates, quantised units; level 1
export const FILTER_ERROR_2_F64 = 264;
export const FILTER_ERROR_3_F64 = 272;
export const LEADING = 280; // 1: only the strongest matters, and what equals it

// The middle filter b, taken off before projecting.
export const FILTER_MIDDLE = 288; // STRIDE float64
export const FILTER_MIDDLE_16 = 296; // minus (n + 1), in 16 bits; 0: it is not whole or too large
export const FILTER_MIDDLE_FLUSH = 304; // bytes after which 32-bit sums of its product with a row are carried over
export const WHOLE_ROWS = 312; // 1: rows are whole numbers that 16 signed bits hold
export const WHOLE_FILTERS = 320; // 1: so are the filters minus b

// Directions; see `assembly/dense/directions.ts`.
export const DIRECTIONS = 328; // panels of the basis: one for each part, then the rotation, then its scale (f64)
export const DIRECTION_SCALE_F64 = 336; // the basis is the panels over this, a contraction
export const COORDINATES = 344; // i32, LEVEL_3 per filter
export const FILTER_FACTS = 352; // FACTS_BYTES per filter
export const SAMPLE_ROWS = 360; // u32 per sampled row
export const SAMPLE_ROW_COUNT = 368;
export const SAMPLE_FILTERS = 376; // u32 per sampled filter
export const SAMPLE_FILTER_COUNT = 384;

// First answers from an earlier bank.
export const WINNER = 392; // u32 per row
export const WINNER_VALUE = 400; // f64 per row
export const CHANGED = 408; // u8 per filter
export const VERDICT = 416; // u8 per row, out: 1 where all filters must be looked at

// Groups of rows.
export const GROUP_OFFSETS = 424; // u32, groups + 1
export const GROUP_ROWS = 432; // u32
export const GROUP_WEIGHT = 440; // f64 per entry of GROUP_ROWS; 0: none
export const DISTRIBUTION = 448; // f64, n ascending; 0: ranks
export const OUT_WEIGHTS = 456; // per group n weights, unpadded
export const OUT_BYTES = 464; // 2, 4 or 8 per weight

export const FILTER_SECOND = 488; // SECOND_BYTES per filter: what level 2 adds
export const PANEL_SECOND = 496; // the same per place of PANEL
export const FACT = 504; // which of the facts is asked about: bytes from the first

// Filters in panels; see `assembly/dense/panels.ts`.
export const PANELS = 512; // blocks of 8 filters, pairs of 16-bit numbers
export const PANEL_SCALE_F64 = 520; // units per weight; 0: panels have the 16-bit weights as they are, and products are exact
export const PANEL_CENTRE_F64 = 528; // taken off each weight before it is rounded
export const PANEL_LONGEST_F64 = 536; // largest Euclidean norm of a filter less CENTRE, in units
export const PANEL_LOSS_F64 = 544; // largest Euclidean norm of what was rounded away from a filter, in units
export const LONGEST_F64 = 552; // largest Euclidean norm of the weights themselves
