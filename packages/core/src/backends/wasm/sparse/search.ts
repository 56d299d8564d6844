/**
 * The searches on a block of sparse rows: by an inverted index, or with filters written out in full. Both give the same
 * answer; what is decided here only changes how long it takes.
 */

import { placesOf } from "../../../bank/groups.ts";
import { numbersBelow } from "../../../kernels/rows.ts";
import type { HostBank } from "../../host/bank.ts";
import type { Since } from "../../host/block.ts";
import type { Shared } from "../../host/counted.ts";
import { Context, type Engine } from "../engine/engine.ts";
import { borrowed, type Lease, sharing } from "../engine/memory.ts";
import { ANSWER_BYTES, type Answer } from "../shared/rows.ts";
import { type CsrBank, describeCsrBank } from "./bank.ts";
import { type CsrIndex, describeIndex, makeIndex } from "./inverted-index.ts";
import { type CsrBlock, describeCsr, ROW_PIECE } from "./rows.ts";
import * as slot from "./slots.ts";

/** Filters side by side; up to FEW_FILTERS are searched one by one. */
const WIDTH = 8;
const FEW_FILTERS = 2;
/** Rows of a piece of `searchCsrRows` at least, and pieces at most. */
const PIECE_ROWS_LEAST = 256;
const MOST_PIECES = 64;

/** The k strongest filters of an index for each row, or for the listed rows, whose answers so far are in their places. Returns the products computed in full. */
export function searchIndex(
  engine: Engine,
  block: CsrBlock,
  bank: CsrBank,
  index: CsrIndex,
  answer: Answer,
  known?: Uint32Array,
): Promise<number> {
  return borrowed(engine.memory, async (lease) => {
    const context = describeIndex(opened(engine, lease, block, bank), index);
    describeAnswer(context, answer).set([slot.LIST, known ? lease.put(known) : 0], [slot.KNOWN, known ? 1 : 0]);
    const scratch = engine.ask("scratch_index_csr", context.at);
    return (await engine.run("top_filters_csr", known?.length ?? block.rows, ROW_PIECE, scratch, context)).sum;
  });
}

/** The same with the filters written out. */
export function searchDirect(
  engine: Engine,
  block: CsrBlock,
  bank: CsrBank,
  written: WrittenOut,
  answer: Answer,
): Promise<number> {
  return borrowed(engine.memory, async (lease) => {
    const context = describeAnswer(opened(engine, lease, block, bank).set(...written), answer);
    const scratch = engine.ask("scratch_direct_csr", context.at);
    return (await engine.run("top_filters_direct_csr", block.rows, ROW_PIECE, scratch, context)).sum;
  });
}

/**
 * The strongest filter of each row, given the winners of an earlier bank. A row whose winner did not become weaker need
 * only look at the filters that changed; the others look at all.
 */
export function searchIndexSince(
  engine: Engine,
  block: CsrBlock,
  bank: CsrBank,
  whole: () => Promise<Shared<CsrIndex>>,
  isWhole: boolean,
  answer: Answer,
  since: Since,
): Promise<number> {
  const { memory } = engine;
  return borrowed(memory, async (lease) => {
    const context = opened(engine, lease, block, bank);
    const to = block.first + block.rows;
    const verdict = lease.take(block.rows);
    describeAnswer(context, answer)
      .set([slot.WINNER, lease.put(since.winners.filter.subarray(block.first, to))], [slot.VERDICT, verdict])
      .set([slot.WINNER_VALUE, lease.put(since.winners.response.subarray(block.first, to))])
      .set([slot.CHANGED, lease.put(since.changed)]);
    let exact = (await engine.run("first_answers_csr", block.rows, ROW_PIECE, 64, context)).sum;
    const [some, all] = [0, 1].map((mark) => placesOf(memory.u8(verdict, block.rows), mark));
    const changed = placesOf(since.changed, 1);
    if (some.length > 0 && changed.length > 0) {
      const index = await makeIndex(engine, lease, bank, changed, { whole: isWhole, byNorm: true });
      exact += await searchIndex(engine, block, bank, index, answer, some);
    }
    if (all.length > 0) {
      const index = await whole();
      try {
        exact += await searchIndex(engine, block, bank, index.value, answer, all);
      } finally {
        index.release();
      }
    }
    return exact;
  });
}

/** The k strongest rows of the listed filters, by an index of them or directly. */
export function searchCsrRows(
  engine: Engine,
  block: CsrBlock,
  bank: CsrBank,
  index: CsrIndex | undefined,
  filters: Uint32Array,
  divisor: Float64Array,
  answer: Answer,
): Promise<number> {
  return borrowed(engine.memory, async (lease) => {
    const context = opened(engine, lease, block, bank);
    const most = Math.floor(ANSWER_BYTES / (12 * filters.length * Math.min(answer.k, block.rows)));
    const pieces = Math.max(1, Math.min(MOST_PIECES, most, Math.ceil(block.rows / PIECE_ROWS_LEAST)));
    const pieceRows = Math.ceil(block.rows / pieces);
    const pieceCount = Math.ceil(block.rows / pieceRows);
    const pieceK = Math.min(answer.k, pieceRows);
    const room = pieceCount * filters.length * pieceK;
    describeAnswer(context, answer)
      .set([slot.ROW_COUNT, block.rows], [slot.PIECE_ROWS, pieceRows], [slot.PIECE_COUNT, pieceCount])
      .set([slot.PIECE_K, pieceK], [slot.PIECE_ID, lease.take(room * 4)], [slot.PIECE_VALUE, lease.take(room * 8)])
      .set([slot.DIVISOR, lease.put(divisor)], [slot.ASKED, filters.length]);
    if (index) describeIndex(context, index);
    else context.set(...(await writeOut(engine, lease, bank, filters)));
    const [kernel, scratch] = index
      ? (["top_rows_csr", "scratch_index_csr"] as const)
      : (["top_rows_direct_csr", "scratch_direct_csr"] as const);
    const { sum } = await engine.run(kernel, pieceCount, 1, engine.ask(scratch, context.at), context);
    await engine.run("join_pieces_csr", filters.length, ROW_PIECE, 0, context);
    return sum;
  });
}

/** A context that knows the rows and the filters. */
function opened(engine: Engine, lease: Lease, block: CsrBlock, bank: CsrBank): Context {
  return describeCsrBank(describeCsr(new Context(engine.memory, lease), block), bank);
}

/** Filters that are written out: what a context must be told of them. */
type WrittenOut = readonly (readonly [slot: number, value: number])[];

/** All filters of a bank, written out and kept with it; the caller releases them. */
export function useWrittenOut(engine: Engine, bank: HostBank, loaded: CsrBank): Promise<Shared<WrittenOut>> {
  return bank.part<WrittenOut>(
    "written out",
    () => true,
    () => sharing(engine.memory, (lease) => writeOut(engine, lease, loaded, numbersBelow(loaded.filters))),
  );
}

/** Writes out the listed filters of a bank in memory of the lease. */
function writeOut(engine: Engine, lease: Lease, bank: CsrBank, filters: Uint32Array): Promise<WrittenOut> {
  const count = filters.length;
  const width = count <= FEW_FILTERS ? 1 : WIDTH;
  const blocks = Math.ceil(count / width);
  const at = lease.take(blocks * width * bank.features * 8);
  const written = [
    [slot.DIRECT, at],
    [slot.DIRECT_WIDTH, width],
    [slot.DIRECT_COUNT, count],
    [slot.DIRECT_LIST, lease.put(filters)],
  ] as const;
  return borrowed(engine.memory, async (own) => {
    const context = describeCsrBank(new Context(engine.memory, own), bank);
    context.set([slot.FEATURES, bank.features], ...written);
    await engine.run("write_out_csr", blocks, 1, 0, context);
    return written;
  });
}

function describeAnswer(context: Context, { k, ids, values }: Answer): Context {
  return context.set([slot.K, k], [slot.OUT_ID, ids], [slot.OUT_VALUE, values]);
}
