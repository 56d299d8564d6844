/**
 * How much is tested. `npm test` runs the short tier: what a change most likely breaks, in minutes. `npm run test:full` runs
 * everything, with more back ends and many more random cases. A file that only the full tier runs is named `*.full.test.ts`,
 * one that only `npm run test:release` runs `*.release.test.ts`.
 */

export const isFull = process.env.RANKSIM_TIER === "full";

/** How many random cases are drawn; RANKSIM_CASES asks for more. */
export const cases = (short: number, full: number): number =>
  Number(process.env.RANKSIM_CASES ?? (isFull ? full : short));
