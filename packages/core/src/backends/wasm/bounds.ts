/** The vectors of `assembly/bound.ts` for rows and for filters, in memory. */

import { type Basis, describeBasis, release, retain } from "./basis.ts";
import {
  BOUND_BYTES,
  COMMON_NORM_F64,
  COORDINATES,
  FACT,
  FACTS_BYTES,
  FILTER_ERROR_1_F64,
  FILTER_ERROR_2_F64,
  FILTER_ERROR_3_F64,
  FILTER_FACTS,
  FILTER_FIRST,
  FILTER_LONGEST_F64,
  FILTER_LOSS_F64,
  FILTER_PARTS,
  FILTER_SCALE_F64,
  FILTER_SECOND,
  FIRST_BYTES,
  I16,
  LEVEL_3,
  LONGEST_FILTER,
  ORDER,
  PANEL,
  PANEL_SECOND,
  PARTS_BYTES,
  PLACES,
  ROUNDING_F64,
  ROW_BOUNDS,
  ROW_PARTS,
  ROW_SCALES,
  SCALES_BYTES,
  SECOND_BYTES,
  U8,
  WHOLE_FILTERS,
  WHOLE_ROWS,
} from "./context.ts";
import { type DenseBlock, describeRows, ROW_PIECE } from "./dense-rows.ts";
import { Context, type Engine } from "./engine.ts";
import { describeFilters, FILTER_PIECE, type LoadedBank } from "./loaded-bank.ts";
import type { Memory } from "./memory.ts";

/** Where among the facts of a filter its loss is, and later the rounding of each level (`assembly/project.ts`). */
const LOST = 8;
const ERRORS = [0, 8, 16] as const;
/** Largest signed 16-bit number. */
const MOST_16 = 32_767;

/** Bounds of the rows of a block. */
export interface RowBounds {
  readonly basis: Basis;
  readonly vectors: number;
  readonly parts: number;
  readonly scales: number;
}

/** Bounds of a bank's filters. */
export interface FilterBounds {
  readonly basis: Basis;
  readonly first: number;
  readonly second: number;
  readonly parts: number;
  readonly scale: number;
  readonly longest: number;
  readonly loss: number;
  /** Largest rounding of each level. */
  readonly errors: readonly [number, number, number];
  readonly rounding: number;
  /** All filters in their own order. */
  readonly panel: Panel;
}

/** The first level of some filters, packed. */
export interface Panel {
  readonly at: number;
  /** What the second level adds; 0 if the panel was made without, or is that of all filters. */
  readonly second: number;
  readonly order: number;
  readonly places: number;
}

/** Projects rows. The bounds are a user of the basis. */
export async function boundRows(engine: Engine, block: DenseBlock, basis: Basis): Promise<RowBounds> {
  const { memory } = engine;
  const vectors = memory.take(block.rows * BOUND_BYTES);
  let parts = 0;
  let scales = 0;
  const context = new Context(memory);
  try {
    parts = memory.take(block.rows * PARTS_BYTES);
    scales = memory.take(block.rows * SCALES_BYTES);
    describeBasis(describeRows(context, block), basis, block).set(
      [ROW_BOUNDS, vectors],
      [ROW_PARTS, parts],
      [ROW_SCALES, scales],
      [WHOLE_ROWS, isWholeHere(block) ? 1 : 0],
    );
    await engine.run("bound_rows", block.rows, ROW_PIECE, engine.ask("scratch_bounds", context.at), context);
    return { basis: retain(basis), vectors, parts, scales };
  } catch (error) {
    memory.give(vectors);
    memory.give(parts);
    memory.give(scales);
    throw error;
  } finally {
    context.release();
  }
}

/** Whether rows fit 16 signed bits. */
function isWholeHere(block: DenseBlock): boolean {
  return block.type === U8 || (block.type === I16 && block.largest <= MOST_16);
}

export function releaseRowBounds(memory: Memory, bounds: RowBounds): void {
  memory.give(bounds.vectors);
  memory.give(bounds.parts);
  memory.give(bounds.scales);
  release(memory, bounds.basis);
}

/** The bounds of rows [from, ...) of a block. */
export function sliceRowBounds(bounds: RowBounds, from: number): RowBounds {
  return {
    ...bounds,
    vectors: bounds.vectors + from * BOUND_BYTES,
    parts: bounds.parts + from * PARTS_BYTES,
    scales: bounds.scales + from * SCALES_BYTES,
  };
}

/** Projects filters. The bounds are a user of the basis. */
export async function boundFilters(
  engine: Engine,
  loaded: LoadedBank,
  block: DenseBlock,
  basis: Basis,
): Promise<FilterBounds> {
  const { memory } = engine;
  const { filters, features } = loaded;
  const context = new Context(memory);
  const temporary: number[] = [];
  let first = 0;
  let second = 0;
  let parts = 0;
  try {
    first = memory.take(filters * FIRST_BYTES);
    second = memory.take(Math.ceil(filters / 8) * 8 * SECOND_BYTES);
    parts = memory.take(filters * PARTS_BYTES);
    temporary.push(memory.take(filters * FACTS_BYTES), memory.take(filters * LEVEL_3 * 4));
    const [facts, coordinates] = temporary;
    const norm = memory.f64(loaded.norm, filters);
    const common = norm[0];
    const factor = loaded.equal ? 1 : largestFactor(norm);
    const middle = basis.filter;
    const whole = loaded.layout === "whole" && middle.whole > 0 && loaded.largest + middle.largest <= MOST_16;
    describeBasis(describeFilters(describeRows(context, block), loaded, block), basis, undefined)
      .set([FILTER_FACTS, facts], [COORDINATES, coordinates], [WHOLE_FILTERS, whole ? 1 : 0])
      .set([FILTER_FIRST, first], [FILTER_SECOND, second], [FILTER_PARTS, parts])
      .setF64([COMMON_NORM_F64, common]);
    const scratch = engine.ask("scratch_bounds", context.at);
    const largestFact = async (fact: number): Promise<number> =>
      (await engine.run("largest_fact", filters, filters, 0, context.set([FACT, fact]))).largest;
    const { largest: length } = await engine.run("project_filters", filters, FILTER_PIECE, scratch, context);
    const loss = await largestFact(LOST);
    const scale = length === 0 ? 1 : LONGEST_FILTER / length;
    context.setF64([FILTER_SCALE_F64, scale]);
    await engine.run("finish_filters", filters, FILTER_PIECE, scratch, context);
    const errors = [0, 0, 0] as [number, number, number];
    for (const [level, fact] of ERRORS.entries()) errors[level] = await largestFact(fact);
    const rounding =
      loaded.layout === "whole" ? 0 : (features + 16) * 2 ** -52 * (loaded.longest * factor + basis.filter.length);
    repeatLast(memory.u8(second, Math.ceil(filters / 8) * 8 * SECOND_BYTES), filters);
    const panel = await packPanel(engine, { first, second }, ascending(filters), false);
    return { basis: retain(basis), first, second, parts, scale, longest: length + loss, loss, errors, rounding, panel };
  } catch (error) {
    for (const at of [first, second, parts]) memory.give(at);
    throw error;
  } finally {
    for (const at of temporary) memory.give(at);
    context.release();
  }
}

/** The most by which bringing a filter to the norm of the first stretches it. */
function largestFactor(norm: Float64Array): number {
  let least = norm[0];
  for (let f = 1; f < norm.length; f++) least = Math.min(least, norm[f]);
  return norm[0] / least;
}

function ascending(count: number): Uint32Array {
  const numbers = new Uint32Array(count);
  for (let j = 0; j < count; j++) numbers[j] = j;
  return numbers;
}

/** Fills the records after the last filter's with copies of it: the places of a panel are a multiple of 8. */
function repeatLast(records: Uint8Array, filters: number): void {
  for (let at = filters * SECOND_BYTES; at < records.length; at += SECOND_BYTES) {
    records.copyWithin(at, at - SECOND_BYTES, at);
  }
}

export function releaseFilterBounds(memory: Memory, bounds: FilterBounds): void {
  for (const at of [bounds.first, bounds.second, bounds.parts]) memory.give(at);
  releasePanel(memory, bounds.panel);
  release(memory, bounds.basis);
}

/** Packs the first level of the filters in `order`, filled up to a multiple of 8 with the last, and their second if asked to. */
export async function packPanel(
  engine: Engine,
  { first, second }: Pick<FilterBounds, "first" | "second">,
  order: Uint32Array,
  both: boolean,
): Promise<Panel> {
  const { memory } = engine;
  const places = Math.ceil(order.length / 8) * 8;
  const filled = new Uint32Array(places).fill(order[order.length - 1]);
  filled.set(order);
  const context = new Context(memory);
  const list = memory.put(filled);
  let at = 0;
  let own = 0;
  try {
    at = memory.take(places * FIRST_BYTES);
    if (both) own = memory.take(places * SECOND_BYTES);
    context.set([FILTER_FIRST, first], [FILTER_SECOND, second], [PANEL, at], [PANEL_SECOND, own], [ORDER, list]);
    await engine.run("pack_filters", places, 1024, 0, context);
    return { at, second: own, order: list, places };
  } catch (error) {
    for (const block of [list, at, own]) memory.give(block);
    throw error;
  } finally {
    context.release();
  }
}

export function releasePanel(memory: Memory, panel: Panel): void {
  memory.give(panel.at);
  memory.give(panel.second);
  memory.give(panel.order);
}

/** Tells a context about the bounds of rows and filters, with the panel to look at. */
export function describeBounds(
  context: Context,
  rows: RowBounds,
  filters: FilterBounds,
  panel: Panel,
  common: number,
): Context {
  return describeBasis(context, filters.basis, undefined)
    .set([ROW_BOUNDS, rows.vectors], [ROW_PARTS, rows.parts], [ROW_SCALES, rows.scales])
    .set([FILTER_FIRST, filters.first], [FILTER_SECOND, filters.second], [FILTER_PARTS, filters.parts])
    .set(
      [PANEL, panel.at],
      [PANEL_SECOND, panel.second || filters.second],
      [ORDER, panel.order],
      [PLACES, panel.places],
    )
    .setF64([COMMON_NORM_F64, common], [FILTER_SCALE_F64, filters.scale], [FILTER_LONGEST_F64, filters.longest])
    .setF64([FILTER_ERROR_1_F64, filters.errors[0]], [FILTER_ERROR_2_F64, filters.errors[1]])
    .setF64([FILTER_ERROR_3_F64, filters.errors[2]])
    .setF64([FILTER_LOSS_F64, filters.loss], [ROUNDING_F64, filters.rounding]);
}
