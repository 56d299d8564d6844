/** Refinement on sparse rows: products read the ranks as they are. */

import { commonNorm } from "../../../kernels/rank.ts";
import type { Prototypes } from "../../../kernels/shapes.ts";
import type { RefineForm } from "../shared/refine.ts";
import { COMMON_NORM_F64, FEATURES } from "./context.ts";
import { type CsrBlock, describeCsr } from "./rows.ts";

export function csrForm({ features, distribution }: Prototypes): RefineForm<CsrBlock> {
  return {
    compare: "compare_listed_csr",
    compareScratch: "scratch_compare_csr",
    move: "move_prototypes_csr",
    moveScratch: "scratch_move_csr",
    stride: features,
    describeFilters: (context) =>
      context.set([FEATURES, features]).setF64([COMMON_NORM_F64, commonNorm(features, distribution)]),
    describeRows: describeCsr,
    largest: () => Number.POSITIVE_INFINITY,
  };
}
