/**
 * The order in which rows are searched: next to rows like them, which look at the same filters, so that these stay in a cache. It never
 * changes an answer.
 */

import { groupByCode, pickNumbers } from "../../../bank/groups.ts";
import { Context, type Engine } from "../engine/engine.ts";
import { borrowed } from "../engine/memory.ts";
import { describeBounds, type FilterBounds, packPanel, type RowBounds } from "./bounds.ts";
import { type DenseBlock, ROW_PIECE } from "./rows.ts";
import * as slot from "./slots.ts";

/** Fewest filters and rows for which the order matters. */
const MANY_FILTERS = 1024;
const MANY_ROWS = 256;
/** Filters that rows are grouped by, a multiple of 8. More or fewer gained nothing. */
const LANDMARKS = 128;

/** Finds for each row which of some filters, the landmarks, is the strongest, unless this is known or rows or filters are too few. Rows keep it while filters change. */
export async function findLandmarks(
  engine: Engine,
  block: DenseBlock,
  rows: RowBounds,
  filters: FilterBounds,
): Promise<void> {
  const { memory } = engine;
  const { loaded } = filters;
  if (rows.landmark || loaded.filters < MANY_FILTERS || block.rows < MANY_ROWS) return;
  const landmarks = Uint32Array.from({ length: LANDMARKS }, (_, j) => Math.floor((j * loaded.filters) / LANDMARKS));
  await borrowed(memory, async (lease) => {
    const panel = await packPanel(engine, lease, filters, landmarks, false);
    const found = lease.take(block.rows * 4);
    const context = new Context(memory, lease);
    describeBounds(context, rows, filters, panel, memory.f64(loaded.norm, 1)[0]).set([slot.OUT_ID, found]);
    await engine.run("nearest_places", block.rows, ROW_PIECE, LANDMARKS * 8, context);
    rows.landmark = memory.u32(found, block.rows).slice();
  });
}

/** The rows of a block by landmark; undefined where none are known. */
export function listByLandmark({ landmark }: RowBounds, rows: number): Uint32Array | undefined {
  return landmark && groupByCode(landmark.subarray(0, rows), LANDMARKS).rows;
}

/** The rows of a block by landmark, where landmarks are known, and then by the filter that each belonged to. */
export function listByWinner({ landmark }: RowBounds, winners: Uint32Array, filters: number): Uint32Array {
  const byWinner = groupByCode(winners, filters).rows;
  if (!landmark) return byWinner;
  return pickNumbers(byWinner, groupByCode(pickNumbers(landmark, byWinner), LANDMARKS).rows);
}
