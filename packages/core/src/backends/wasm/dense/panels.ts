/** Filters packed for scores with all of them (`assembly/dense/panels.ts`), and when that is less work than other searches. */

import type { HostBank } from "../../host/bank.ts";
import type { Shared } from "../../host/counted.ts";
import { Context, type Engine } from "../engine/engine.ts";
import { borrowed, type Lease, type Memory, sharing } from "../engine/memory.ts";
import { U16 } from "../engine/slots.ts";
import type { Answer } from "../shared/rows.ts";
import { describeFilters, FILTER_PIECE, isNarrow, type LoadedBank } from "./bank.ts";
import { type DenseBlock, describeRows, ROW_PIECE } from "./rows.ts";
import * as slot from "./slots.ts";

/** Fewest filters, and rows that a bank has to meet, for which packing pays. */
const FEWEST_FILTERS = 16;
const FEWEST_ROWS = 16;
/** Largest k: beyond, answers take longer to collect than responses to compute. */
const MOST_SOUGHT = 64;
/** Up to this many features scores surely fit 32 bits. */
const MOST_FEATURES = 2 ** 15;
/** Lengths of filters outside these could round in ways that no allowance covers. */
const SHORT = 1e-100;
const LONG = 1e100;
/** Length of the longest filter in units. */
const LONGEST = 30_000;

/** Filters in panels. */
export interface Panels {
  /** The layout of the filters they were made for. */
  readonly loaded: LoadedBank;
  /** Whether products with rows like those they were made for are exact. */
  readonly isExact: boolean;
  readonly at: number;
  readonly scale: number;
  readonly loss: number;
}

/** The panels of a bank, where they promise to pay and its filters can be compared by scores; the caller releases them. */
export async function usePanels(
  engine: Engine,
  bank: HostBank,
  loaded: LoadedBank,
  block: DenseBlock,
  k: number,
): Promise<Shared<Panels> | undefined> {
  const { filters, features, longest } = loaded;
  if (filters < FEWEST_FILTERS || k > MOST_SOUGHT || bank.pairs < FEWEST_ROWS * filters) return undefined;
  if (!loaded.positive || !loaded.equal || features > MOST_FEATURES || !(longest > SHORT && longest < LONG))
    return undefined;
  const isExact = isNarrow(loaded, block) && block.type !== U16;
  return bank.part<Panels>(
    "panels",
    (panels) => panels.loaded === loaded && panels.isExact === isExact,
    () => sharing(engine.memory, (lease) => pack(engine, lease, loaded, block, isExact)),
  );
}

function pack(engine: Engine, lease: Lease, loaded: LoadedBank, block: DenseBlock, isExact: boolean): Promise<Panels> {
  const { memory } = engine;
  const { filters, stride } = loaded;
  const blocks = Math.ceil(filters / 8);
  const at = lease.take(blocks * stride * 16);
  return borrowed(memory, async (own) => {
    const context = describeFilters(describeRows(new Context(memory, own), block), loaded, block);
    let scale = 0;
    if (!isExact) {
      context.setF64([slot.PANEL_CENTRE_F64, centreOf(engine.memory, loaded)]);
      const square = (await engine.run("measure_panels", filters, FILTER_PIECE, 0, context)).largest;
      scale = LONGEST / Math.max(Math.sqrt(square), loaded.longest * Number.EPSILON);
    }
    context.set([slot.PANELS, at]).setF64([slot.PANEL_SCALE_F64, scale]);
    const { largest: loss } = await engine.run("pack_panels", blocks, FILTER_PIECE / 8, 0, context);
    return { loaded, isExact, at, scale, loss };
  });
}

/** About the mean weight: products with what is left are as different, and smaller. */
function centreOf(memory: Memory, { layout, weights, features }: LoadedBank): number {
  if (layout === "whole") return 0;
  const first = layout === "f32" ? memory.f32(weights, features) : memory.f64(weights, features);
  let sum = 0;
  for (let i = 0; i < features; i++) sum += first[i];
  return sum / features;
}

/** The k strongest filters of each row, by scores. Returns the responses computed. */
export function searchPanels(engine: Engine, block: DenseBlock, panels: Panels, answer: Answer): Promise<number> {
  const { loaded, at, scale, loss } = panels;
  const taken = loaded.layout === "whole" ? loaded.features + 1 : 0; // off the weights, which were longer before
  return borrowed(engine.memory, async (lease) => {
    const context = describeFilters(describeRows(new Context(engine.memory, lease), block), loaded, block)
      .set([slot.PANELS, at], [slot.K, answer.k], [slot.OUT_ID, answer.ids], [slot.OUT_VALUE, answer.values])
      .setF64([slot.PANEL_SCALE_F64, scale], [slot.PANEL_LOSS_F64, loss], [slot.PANEL_LONGEST_F64, LONGEST + 1])
      .setF64([slot.LONGEST_F64, loaded.longest + taken * Math.sqrt(loaded.features)]);
    const scratch = engine.ask("scratch_panels", context.at);
    return (await engine.run("top_filters_panels", block.rows, ROW_PIECE, scratch, context)).sum;
  });
}
