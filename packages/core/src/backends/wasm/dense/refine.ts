/** Refinement on dense rows: beside their ranks, filters have a copy of the weights in the layout that products need. */

import type { DenseRows, FilterBank, Prototypes } from "../../../kernels/shapes.ts";
import type { HeldBank, Refining } from "../../contract.ts";
import type { Engine } from "../engine/engine.ts";
import type { Lease } from "../engine/memory.ts";
import { emptyBank, type RefineForm, type RefineRows, refineRows } from "../shared/refine.ts";
import { isWholeType } from "../shared/rows.ts";
import { describeFilters, type LoadedBank, layBank } from "./bank.ts";
import { type DenseBlock, describeRows, placeDense, typicalBlock } from "./rows.ts";

/** Puts prototypes beside dense rows. */
export function refineDense(
  engine: Engine,
  rows: RefineRows<DenseBlock>,
  start: Prototypes,
  own: (bank: FilterBank) => HeldBank,
): Promise<Refining> {
  const formIn = async (lease: Lease): Promise<RefineForm<DenseBlock>> => {
    const some = rows.whole?.value.block ?? typicalBlock((await rows.source.gather(Uint32Array.of(0))) as DenseRows);
    return denseForm(engine, lease, start, some);
  };
  return refineRows(engine, rows, start, formIn, own);
}

/** Lays weights out for rows like those of `block`: no other block may have larger values. */
async function denseForm(
  engine: Engine,
  lease: Lease,
  start: Prototypes,
  block: DenseBlock,
): Promise<RefineForm<DenseBlock>> {
  // Only the layout of this bank counts: its weights are replaced by the ranks of the prototypes.
  const bank = emptyBank(start);
  bank.weights[0] = 2 * start.features; // the largest rank
  const loaded = widest(await layBank(engine, lease, bank, block));
  if (loaded.shifted) engine.memory.f64(loaded.shifted, start.filters).fill(0); // ranks minus (n + 1) add up to 0
  return {
    compare: "compare_listed",
    compareScratch: "scratch_compare",
    move: "move_prototypes",
    moveScratch: "scratch_sums",
    stride: block.stride,
    place: (own, rows) => placeDense(engine, own, rows),
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
