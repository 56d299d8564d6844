/**
 * The slots of refinement. They lie beyond those of `dense/slots.ts` and of `sparse/slots.ts`, so that updates
 * of dense and of sparse rows share them.
 */

// The filters.
export const PROTOTYPES = 560; // float64 per feature and filter: for dense rows STRIDE of them a filter, for sparse rows n
export const RANKS = 568; // n weights per filter: the ranks of the prototypes
export const RANK_BYTES = 576; // 2 or 4: unsigned integers; 8: float64, drawn from a distribution
export const DRAWN_FROM = 584; // f64, n ascending; 0: ranks
export const FILTER_CLASS = 592; // u32 per filter

// Rows to compare, one an item.
export const BATCH_ROWS = 600; // u32: the row
export const LIST_PLACES = 696; // u32: its place in CODES and LISTS; 0: that of the item
export const CODES = 608; // u32: its class
export const LISTED = 616; // k
export const LISTS = 624; // u32, k: the filters it is compared with
export const FOUND = 632; // u32 pairs, out: its strongest own filter and its strongest other
export const MARGINS = 640; // f64, out

// Prototypes to move, one an item.
export const TOUCHED = 648; // u32: twice the filter's number, and one more if it is to be ranked again
export const MOVE_OFFSETS = 656; // u32, items + 1: positions in the next two
export const MOVE_ROWS = 664; // u32: the rows that move it, in order
export const MOVE_STEPS = 672; // f64: the step of each; negative: away from the row
export const STEP = 680; // the size of all steps where all values are whole numbers; 0: MOVE_STEPS has them
export const BY_FACTORS = 688; // 1: the rule "multiply"
