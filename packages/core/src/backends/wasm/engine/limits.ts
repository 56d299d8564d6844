/** How much memory is used at a time. What does not fit goes in blocks; what still does not fit, in smaller ones. */

/** Limits in bytes, and whether there are bounds. */
export interface Limits {
  /** Rows that stay in memory from call to call. */
  readonly residentBytes: number;
  /** A block of rows that do not. */
  readonly blockBytes: number;
  /** Filters in memory at a time. */
  readonly bankBytes: number;
  /** Answers in memory at a time. */
  readonly answerBytes: number;
  /** Whether searches are pruned by bounds where they pay. */
  readonly bounds: boolean;
  /** Memory that may be taken in all; absent: as much as there is. */
  readonly memoryBytes?: number;
}

export const LIMITS: Limits = {
  residentBytes: 2.5 * 2 ** 30, // of 4 GB: `best` on 65,000 images
  blockBytes: 2 ** 28,
  bankBytes: 2 ** 30,
  answerBytes: 2 ** 25,
  bounds: true,
};

/** Below this there is nothing left to save. */
const LEAST = 2 ** 12;

/** Limits for work that found no room: first without bounds, then with a quarter of everything. Undefined if that would not help. */
export function lesser(limits: Limits): Limits | undefined {
  if (limits.bounds) return { ...limits, bounds: false };
  const quarter = (bytes: number): number => Math.max(LEAST, Math.floor(bytes / 4));
  const { residentBytes, blockBytes, bankBytes, answerBytes } = limits;
  if (Math.max(blockBytes, bankBytes, answerBytes) <= LEAST && residentBytes === 0) return undefined;
  return {
    ...limits,
    residentBytes: 0,
    blockBytes: quarter(Math.min(blockBytes, 2 ** 28)),
    bankBytes: quarter(Math.min(bankBytes, 2 ** 28)),
    answerBytes: quarter(answerBytes),
  };
}
