/**
 * What back ends of other packages are made of. It follows no semantic version.
 *
 * @packageDocumentation
 */

export type * from "./backends/contract.ts";
export { BankCache, type Cached } from "./backends/host/bank-cache.ts";
export { Counted, Lock, Shared } from "./backends/host/counted.ts";
export { UNINTERRUPTED } from "./backends/turn.ts";
export { assignmentOf } from "./bank/assignment.ts";
export { inForm, joinBanks, replaceFilters } from "./bank/bank.ts";
export { emptyGroups, sliceGroups } from "./bank/groups.ts";
export {
  byteFactor,
  FACTOR_BITS,
  layersFeatures,
  type Pooled,
  pooledFeatures,
  pooledValues,
  windowFeatures,
} from "./kernels/patches.ts";
export { commonNorm } from "./kernels/rank.ts";
export { bytesOf, inMemory, numbersBelow, sourceOf } from "./kernels/rows.ts";
export type * from "./kernels/shapes.ts";
export { expandFilter, mergeTopRows } from "./kernels/top.ts";
