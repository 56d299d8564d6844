/** Refinement on sparse rows: products read the ranks as they are. */

import { commonNorm } from "../../../kernels/rank.ts";
import { inMemory } from "../../../kernels/rows.ts";
import type { CsrRows, FilterBank, Prototypes } from "../../../kernels/shapes.ts";
import type { HeldBank, Refining } from "../../contract.ts";
import type { Engine } from "../engine/engine.ts";
import { type RefineForm, type RefineRows, refineRows } from "../shared/refine.ts";
import { type CsrBlock, describeCsr, placeCsr } from "./rows.ts";
import * as slot from "./slots.ts";

/** Puts prototypes beside sparse rows. */
export function refineCsr(
  engine: Engine,
  rows: RefineRows<CsrBlock>,
  start: Prototypes,
  own: (bank: FilterBank) => HeldBank,
): Promise<Refining> {
  return refineRows(engine, rows, start, async () => csrForm(engine, start), own);
}

function csrForm(engine: Engine, { features, distribution }: Prototypes): RefineForm<CsrBlock> {
  return {
    compare: "compare_listed_csr",
    compareScratch: "scratch_compare_csr",
    move: "move_prototypes_csr",
    moveScratch: "scratch_move_csr",
    stride: features,
    place: async (lease, rows) => placeCsr(engine, lease, inMemory(rows) as CsrRows),
    describeFilters: (context) =>
      context.set([slot.FEATURES, features]).setF64([slot.COMMON_NORM_F64, commonNorm(features, distribution)]),
    describeRows: describeCsr,
    largest: () => Number.POSITIVE_INFINITY,
  };
}
