/** The vectors of `assembly/dense/bound.ts` for rows and for filters, in memory. */

import { numbersBelow } from "../../../kernels/rows.ts";
import type { Shared } from "../../host/counted.ts";
import { Context, type Engine } from "../engine/engine.ts";
import { MOST_16 } from "../engine/exact.ts";
import { borrowed, type Lease, sharing } from "../engine/memory.ts";
import { I16, U8 } from "../engine/slots.ts";
import { describeFilters, FILTER_PIECE, type LoadedBank } from "./bank.ts";
import { type Basis, describeBasis } from "./basis.ts";
import { type DenseBlock, describeRows, ROW_PIECE } from "./rows.ts";
import {
  BOUND_BYTES,
  FACTS_BYTES,
  FIRST_BYTES,
  LEVEL_3,
  LONGEST_FILTER,
  PARTS_BYTES,
  SCALES_BYTES,
  SECOND_BYTES,
} from "./sizes.ts";
import * as slot from "./slots.ts";

/** Where among the facts of a filter its loss is, and later the rounding of each level (`assembly/dense/project.ts`). */
const LOST = 8;
const ERRORS = [0, 8, 16] as const;

/** Bounds of the rows of a block. */
export interface RowBounds {
  readonly basis: Shared<Basis>;
  readonly vectors: number;
  readonly parts: number;
  readonly scales: number;
  /** Which of some filters is the strongest of each row, once it was found (`alike.ts`). */
  landmark?: Uint32Array;
}

/** Bounds of a bank's filters. */
export interface FilterBounds {
  readonly basis: Shared<Basis>;
  /** The layout of the filters they were made for. */
  readonly loaded: LoadedBank;
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

/** Bytes of the bounds of rows and of filters, with what is needed to make them. */
export const bytesOfBounds = (rows: number, filters: number): number =>
  rows * (BOUND_BYTES + PARTS_BYTES + SCALES_BYTES) +
  filters * (2 * FIRST_BYTES + SECOND_BYTES + PARTS_BYTES + FACTS_BYTES + 4 * LEVEL_3);

/** Projects rows. The bounds are a user of the basis; the caller releases them. */
export function boundRows(engine: Engine, block: DenseBlock, basis: Shared<Basis>): Promise<Shared<RowBounds>> {
  const { memory } = engine;
  const make = (lease: Lease) =>
    borrowed(memory, async (own) => {
      const vectors = lease.take(block.rows * BOUND_BYTES);
      const parts = lease.take(block.rows * PARTS_BYTES);
      const scales = lease.take(block.rows * SCALES_BYTES);
      const context = describeBasis(describeRows(new Context(memory, own), block), basis.value, block)
        .set([slot.ROW_BOUNDS, vectors], [slot.ROW_PARTS, parts], [slot.ROW_SCALES, scales])
        .set([slot.WHOLE_ROWS, isWholeHere(block) ? 1 : 0]);
      await engine.run("bound_rows", block.rows, ROW_PIECE, engine.ask("scratch_bounds", context.at), context);
      basis.keep();
      return { basis, vectors, parts, scales };
    });
  return sharing(memory, make, () => basis.release());
}

/** Whether rows fit 16 signed bits. */
function isWholeHere(block: DenseBlock): boolean {
  return block.type === U8 || (block.type === I16 && block.largest <= MOST_16);
}

/** The bounds of rows [from, ...) of a block. */
export function sliceRowBounds(bounds: RowBounds, from: number): RowBounds {
  return {
    ...bounds,
    ...(bounds.landmark && { landmark: bounds.landmark.subarray(from) }),
    vectors: bounds.vectors + from * BOUND_BYTES,
    parts: bounds.parts + from * PARTS_BYTES,
    scales: bounds.scales + from * SCALES_BYTES,
  };
}

/** Projects filters. The bounds are a user of the basis; the caller releases them. */
export function boundFilters(
  engine: Engine,
  loaded: LoadedBank,
  block: DenseBlock,
  basis: Shared<Basis>,
): Promise<Shared<FilterBounds>> {
  const { memory } = engine;
  const { filters, features } = loaded;
  const make = (lease: Lease) =>
    borrowed(memory, async (own) => {
      const first = lease.take(filters * FIRST_BYTES);
      const second = lease.take(Math.ceil(filters / 8) * 8 * SECOND_BYTES);
      const parts = lease.take(filters * PARTS_BYTES);
      const facts = own.take(filters * FACTS_BYTES);
      const coordinates = own.take(filters * LEVEL_3 * 4);
      const context = new Context(memory, own);
      const norm = memory.f64(loaded.norm, filters);
      const common = norm[0];
      const factor = loaded.equal ? 1 : largestFactor(norm);
      const middle = basis.value.filter;
      const whole = loaded.layout === "whole" && middle.whole > 0 && loaded.largest + middle.largest <= MOST_16;
      describeBasis(describeFilters(describeRows(context, block), loaded, block), basis.value, undefined)
        .set([slot.FILTER_FACTS, facts], [slot.COORDINATES, coordinates], [slot.WHOLE_FILTERS, whole ? 1 : 0])
        .set([slot.FILTER_FIRST, first], [slot.FILTER_SECOND, second], [slot.FILTER_PARTS, parts])
        .setF64([slot.COMMON_NORM_F64, common]);
      const scratch = engine.ask("scratch_bounds", context.at);
      const largestFact = async (fact: number): Promise<number> =>
        (await engine.once("largest_fact", filters, 0, context.set([slot.FACT, fact]))).largest;
      const { largest: length } = await engine.run("project_filters", filters, FILTER_PIECE, scratch, context);
      const loss = await largestFact(LOST);
      const scale = length === 0 ? 1 : LONGEST_FILTER / length;
      context.setF64([slot.FILTER_SCALE_F64, scale]);
      await engine.run("finish_filters", filters, FILTER_PIECE, scratch, context);
      const errors = [0, 0, 0] as [number, number, number];
      for (const [level, fact] of ERRORS.entries()) errors[level] = await largestFact(fact);
      const rounding =
        loaded.layout === "whole" ? 0 : (features + 16) * 2 ** -52 * (loaded.longest * factor + middle.length);
      repeatLast(memory.u8(second, Math.ceil(filters / 8) * 8 * SECOND_BYTES), filters);
      const panel = await packPanel(engine, lease, { first, second }, numbersBelow(filters), false);
      const made = { first, second, parts, scale, longest: length + loss, loss, errors, rounding, panel };
      basis.keep();
      return { basis, loaded, ...made };
    });
  return sharing(memory, make, () => basis.release());
}

/** The most by which bringing a filter to the norm of the first stretches it. */
function largestFactor(norm: Float64Array): number {
  let least = norm[0];
  for (let f = 1; f < norm.length; f++) least = Math.min(least, norm[f]);
  return norm[0] / least;
}

/** Fills the records after the last filter's with copies of it: the places of a panel are a multiple of 8. */
function repeatLast(records: Uint8Array, filters: number): void {
  for (let at = filters * SECOND_BYTES; at < records.length; at += SECOND_BYTES) {
    records.copyWithin(at, at - SECOND_BYTES, at);
  }
}

/** Packs the first level of the filters in `order`, filled up to a multiple of 8 with the last, and their second if asked to. */
export function packPanel(
  engine: Engine,
  lease: Lease,
  { first, second }: Pick<FilterBounds, "first" | "second">,
  order: Uint32Array,
  both: boolean,
): Promise<Panel> {
  const { memory } = engine;
  const places = Math.ceil(order.length / 8) * 8;
  const filled = new Uint32Array(places).fill(order[order.length - 1]);
  filled.set(order);
  const list = lease.put(filled);
  const at = lease.take(places * FIRST_BYTES);
  const added = both ? lease.take(places * SECOND_BYTES) : 0;
  return borrowed(memory, async (own) => {
    const context = new Context(memory, own);
    context.set(
      [slot.FILTER_FIRST, first],
      [slot.FILTER_SECOND, second],
      [slot.PANEL, at],
      [slot.PANEL_SECOND, added],
      [slot.ORDER, list],
    );
    await engine.run("pack_filters", places, 1024, 0, context);
    return { at, second: added, order: list, places };
  });
}

/** Tells a context about the bounds of rows and filters, with the panel to look at. */
export function describeBounds(
  context: Context,
  rows: RowBounds,
  filters: FilterBounds,
  panel: Panel,
  common: number,
): Context {
  return describeBasis(context, filters.basis.value, undefined)
    .set([slot.ROW_BOUNDS, rows.vectors], [slot.ROW_PARTS, rows.parts], [slot.ROW_SCALES, rows.scales])
    .set([slot.FILTER_FIRST, filters.first], [slot.FILTER_SECOND, filters.second], [slot.FILTER_PARTS, filters.parts])
    .set(
      [slot.PANEL, panel.at],
      [slot.PANEL_SECOND, panel.second || filters.second],
      [slot.ORDER, panel.order],
      [slot.PLACES, panel.places],
    )
    .setF64(
      [slot.COMMON_NORM_F64, common],
      [slot.FILTER_SCALE_F64, filters.scale],
      [slot.FILTER_LONGEST_F64, filters.longest],
    )
    .setF64([slot.FILTER_ERROR_1_F64, filters.errors[0]], [slot.FILTER_ERROR_2_F64, filters.errors[1]])
    .setF64([slot.FILTER_ERROR_3_F64, filters.errors[2]])
    .setF64([slot.FILTER_LOSS_F64, filters.loss], [slot.ROUNDING_F64, filters.rounding]);
}
