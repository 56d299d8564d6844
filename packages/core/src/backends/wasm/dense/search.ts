/**
 * The searches on a block of dense rows: by bounds where that pays, by a full loop otherwise. Both give the same answer;
 * what is decided here only changes how long it takes.
 */

import { placesOf } from "../../../bank/groups.ts";
import type { Since } from "../../host/block.ts";
import { Context, type Engine } from "../engine/engine.ts";
import { borrowed, type Lease } from "../engine/memory.ts";
import type { Answer } from "../shared/rows.ts";
import { listByLandmark, listByWinner } from "./alike.ts";
import { describeFilters, type LoadedBank } from "./bank.ts";
import { describeBounds, type FilterBounds, type Panel, packPanel, type RowBounds } from "./bounds.ts";
import { type DenseBlock, describeRows, ROW_PIECE } from "./rows.ts";
import * as slot from "./slots.ts";

/** Bytes of the table of `assembly/dense/compact.ts`. */
const TABLE_BYTES = 4096 + 2 * 16 * 16 + 16;

/** Bounds of both sides. */
export interface Bounds {
  readonly rows: RowBounds;
  readonly filters: FilterBounds;
}

/** The k strongest filters of each row. */
export function searchFull(engine: Engine, block: DenseBlock, loaded: LoadedBank, answer: Answer): Promise<number> {
  return borrowed(engine.memory, async (lease) => {
    const context = describeFilters(describeRows(new Context(engine.memory, lease), block), loaded, block);
    describeAnswer(context, answer);
    const scratch = engine.ask("scratch_full", context.at);
    return (await engine.run("top_filters_full", block.rows, ROW_PIECE, scratch, context)).sum;
  });
}

/** The same by bounds, with nothing known of the rows, for the listed ones if there is a list. Returns the exact products computed. */
export function searchPruned(
  engine: Engine,
  block: DenseBlock,
  loaded: LoadedBank,
  bounds: Bounds,
  answer: Answer,
  rows?: Uint32Array,
): Promise<number> {
  return borrowed(engine.memory, async (lease) => {
    if (rows?.length === 0) return 0;
    const context = pruning(engine, lease, block, loaded, bounds, answer);
    if (rows) {
      context.set([slot.LIST, lease.put(rows)]);
      return prune(engine, context, rows.length);
    }
    const alike = listByLandmark(bounds.rows, block.rows);
    if (alike) context.set([slot.LIST, lease.put(alike)]);
    return prune(engine, context, block.rows);
  });
}

/**
 * The strongest filter of each row, given the winners of an earlier bank. A row whose winner did not become weaker need
 * only look at the filters that changed; the others look at all, from their old winner's response on.
 */
export function searchSince(
  engine: Engine,
  block: DenseBlock,
  loaded: LoadedBank,
  bounds: Bounds,
  answer: Answer,
  since: Since,
): Promise<number> {
  const { memory } = engine;
  return borrowed(memory, async (lease) => {
    const context = pruning(engine, lease, block, loaded, bounds, answer);
    const to = block.first + block.rows;
    const verdict = lease.take(block.rows);
    context
      .set(
        [slot.WINNER, lease.put(since.winners.filter.subarray(block.first, to))],
        [slot.VERDICT, verdict],
        [slot.KNOWN, 1],
      )
      .set([slot.WINNER_VALUE, lease.put(since.winners.response.subarray(block.first, to))])
      .set([slot.CHANGED, lease.put(since.changed)]);
    const scratch = engine.ask("scratch_full", context.at);
    let exact = (await engine.run("first_answers", block.rows, ROW_PIECE, scratch, context)).sum;

    const alike = listByWinner(bounds.rows, since.winners.filter.subarray(block.first, to), loaded.filters);
    const [some, all] = splitRows(alike, memory.u8(verdict, block.rows));
    const changed = placesOf(since.changed, 1);
    const look = (panel: Panel, rows: Uint32Array): Promise<number> => {
      describeBounds(context, bounds.rows, bounds.filters, panel, memory.f64(loaded.norm, 1)[0]);
      context.set([slot.LIST, lease.put(rows)]);
      return prune(engine, context, rows.length);
    };
    if (changed.length > 0 && some.length > 0) {
      exact += await look(await packPanel(engine, lease, bounds.filters, changed, true), some);
    }
    if (all.length > 0) exact += await look(bounds.filters.panel, all);
    return exact;
  });
}

/** Filters that meet a row at a time where all rows are looked at: each piece prepares the row again. */
const LISTED_PIECE = 16;

/** The k strongest rows of the listed filters. */
export function searchDenseRows(
  engine: Engine,
  block: DenseBlock,
  loaded: LoadedBank,
  bounds: Bounds | undefined,
  filters: Uint32Array,
  divisor: Float64Array,
  answer: Answer,
): Promise<number> {
  return borrowed(engine.memory, async (lease) => {
    const context = describeFilters(describeRows(new Context(engine.memory, lease), block), loaded, block);
    if (bounds) {
      const common = engine.memory.f64(loaded.norm, 1)[0];
      describeBounds(context, bounds.rows, bounds.filters, bounds.filters.panel, common);
    }
    describeAnswer(context, answer).set(
      [slot.PLACES, block.rows],
      [slot.LIST, lease.put(filters)],
      [slot.DIVISOR, lease.put(divisor)],
    );
    const [kernel, piece] = bounds ? (["top_rows_pruned", 4] as const) : (["top_rows_full", LISTED_PIECE] as const);
    return (await engine.run(kernel, filters.length, piece, engine.ask("scratch_full", context.at), context)).sum;
  });
}

function pruning(
  engine: Engine,
  lease: Lease,
  block: DenseBlock,
  loaded: LoadedBank,
  bounds: Bounds,
  answer: Answer,
): Context {
  const table = lease.take(TABLE_BYTES);
  engine.ask("compact_table", table);
  const context = describeFilters(describeRows(new Context(engine.memory, lease), block), loaded, block);
  const common = engine.memory.f64(loaded.norm, 1)[0];
  describeBounds(context, bounds.rows, bounds.filters, bounds.filters.panel, common);
  return describeAnswer(context, answer).set([slot.COMPACT, table]);
}

async function prune(engine: Engine, context: Context, items: number): Promise<number> {
  const scratch = engine.ask("scratch_pruned", context.at);
  return (await engine.run("top_filters_pruned", items, ROW_PIECE, scratch, context)).sum;
}

function describeAnswer(context: Context, { k, ids, values, leading }: Answer): Context {
  return context.set([slot.K, k], [slot.OUT_ID, ids], [slot.OUT_VALUE, values], [slot.LEADING, leading ? 1 : 0]);
}

/** The listed rows that need a look at the changed filters only, and those that need all. */
function splitRows(list: Uint32Array, verdict: Uint8Array): [Uint32Array, Uint32Array] {
  const parts = [new Uint32Array(list.length), new Uint32Array(list.length)];
  const [some, all] = parts.map((part, wanted) => part.subarray(0, listJudged(list, verdict, wanted, part)));
  return [some, all];
}

function listJudged(list: Uint32Array, verdict: Uint8Array, wanted: number, out: Uint32Array): number {
  let count = 0;
  for (let j = 0; j < list.length; j++) if (verdict[list[j]] === wanted) out[count++] = list[j];
  return count;
}
