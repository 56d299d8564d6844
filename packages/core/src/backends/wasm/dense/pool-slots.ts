/** The slots of the kernel that pools patches (`engine/slots.ts` says what a slot is). */

// The images: bytes, rows of pixels one after the other, channels last.
export const IMAGES = 0; // first value of image 0
export const IMAGE_BYTES = 8; // from one image to the next
export const IMAGE_VALUES = 16;
export const LINE_VALUES = 24; // values of a row of pixels

// The windows.
export const PATCH_LINE = 32; // values of a row of pixels in a window
export const PATCH_LINES = 40; // rows of pixels in a window
export const STEP_RIGHT = 48; // values from one window to the next
export const STEP_DOWN = 56;
export const ACROSS = 64; // windows in a row of windows
export const DOWN = 72; // rows of windows
export const CELLS_ACROSS = 80;
export const CELLS_DOWN = 88;

// The filters, packed in blocks of 8: 16-bit ranks minus (n + 1).
export const PATCH_PANEL = 96;
export const PATCH_FILTERS = 104; // m
export const WINDOW_VALUES = 112; // n rounded up to 8; filters have zeros beyond n
export const ID_BITS = 120; // bits for the number of a filter below its response; 0: the two do not fit 32 bits together
export const BEST = 128; // filters per window whose similarity counts

// The pooled values.
export const POOLED = 136; // u16, or u8 where there is a limit: those of image 0
export const POOLED_BYTES = 144; // from one image to the next
export const POOLED_SHIFT = 152; // bits left out at the end of each sum
export const BYTE_LIMIT = 160; // sum that is 255 as a byte; 0: values are the sums
export const BYTE_FACTOR = 168; // ⌊255 · 2^24 / limit⌋
