/** Refinement on dense rows: beside their ranks, filters have a copy of the weights in the layout that products need. */

import type { Prototypes } from "../../../kernels/shapes.ts";
import type { Engine } from "../engine/engine.ts";
import type { Lease } from "../engine/memory.ts";
import { emptyBank, type RefineForm } from "../shared/refine.ts";
import { isWholeType } from "../shared/rows.ts";
import { describeFilters, type LoadedBank, loadBank } from "./bank.ts";
import { type DenseBlock, describeRows } from "./rows.ts";

/** Lays weights out for rows like those of `block`: no later block may have larger values. */
export async function denseForm(
  engine: Engine,
  lease: Lease,
  start: Prototypes,
  block: DenseBlock,
): Promise<RefineForm<DenseBlock>> {
  // Only the layout of this bank counts: its weights are replaced by the ranks of the prototypes.
  const bank = emptyBank(start);
  bank.weights[0] = 2 * start.features; // the largest rank
  const loaded = widest(await loadBank(engine, lease, bank, 0, start.filters, block));
  if (loaded.shifted) engine.memory.f64(loaded.shifted, start.filters).fill(0); // ranks minus (n + 1) add up to 0
  return {
    compare: "compare_listed",
    compareScratch: "scratch_compare",
    move: "move_prototypes",
    moveScratch: "scratch_sums",
    stride: block.stride,
    describeFilters: (context) => describeFilters(describeRows(context, block), loaded, block),
    describeRows,
    largest: ({ type, largest }) => (isWholeType(type) ? largest : Number.POSITIVE_INFINITY),
  };
}

/** The bank with the facts of the widest weights that ranks can take: 2 to 2n, all different. */
function widest(loaded: LoadedBank): LoadedBank {
  const n = loaded.features;
  return { ...loaded, largest: n + 1, longest: Math.sqrt((n * (n * n - 1)) / 3) };
}
