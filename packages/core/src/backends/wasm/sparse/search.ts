/**
 * The searches on a block of sparse rows: by an inverted index, or with filters written out in full. Both give the same
 * answer; what is decided here only changes how long it takes.
 */

import { placesOf } from "../../../bank/groups.ts";
import type { Since } from "../../host/rows.ts";
import { Context, type Engine } from "../engine/engine.ts";
import type { Limits } from "../engine/limits.ts";
import { borrowed, type Lease, type Shared } from "../engine/memory.ts";
import type { Answer, More } from "../shared/search.ts";
import { type CsrBank, describeCsrBank } from "./bank.ts";
import {
  ASKED,
  CHANGED,
  DIRECT,
  DIRECT_COUNT,
  DIRECT_LIST,
  DIRECT_WIDTH,
  DIVISOR,
  FIRST_ROW,
  K,
  KNOWN,
  LAST,
  LIST,
  OUT_ID,
  OUT_VALUE,
  PIECE_COUNT,
  PIECE_ID,
  PIECE_K,
  PIECE_ROWS,
  PIECE_VALUE,
  ROW_COUNT,
  VERDICT,
  WINNER,
  WINNER_VALUE,
} from "./context.ts";
import { type CsrIndex, describeIndex, makeIndex } from "./inverted-index.ts";
import { type CsrBlock, describeCsr, ROW_PIECE } from "./rows.ts";

/** Bytes of filters written out at a time. */
const DIRECT_BYTES = 2 ** 26;
/** Filters side by side; up to FEW_FILTERS are searched one by one. */
const WIDTH = 8;
const FEW_FILTERS = 2;
/** Rows of a piece of `searchCsrRows` at least, and pieces at most. */
const PIECE_ROWS_LEAST = 256;
const MOST_PIECES = 64;

/** The k strongest filters of an index for each row, or for the listed rows. Returns the products computed in full. */
export function searchIndex(
  engine: Engine,
  block: CsrBlock,
  bank: CsrBank,
  index: CsrIndex,
  answer: Answer,
  more: More,
  rows?: Uint32Array,
): Promise<number> {
  return borrowed(engine.memory, async (lease) => {
    const context = describeIndex(opened(engine, lease, block, bank), index);
    describeAnswer(context, answer, more).set([LIST, rows ? lease.put(rows) : 0]);
    const scratch = engine.ask("scratch_index_csr", context.at);
    return (await engine.run("top_filters_csr", rows?.length ?? block.rows, ROW_PIECE, scratch, context)).sum;
  });
}

/** The same with every filter of the bank written out. */
export function searchDirect(
  engine: Engine,
  block: CsrBlock,
  bank: CsrBank,
  answer: Answer,
  more: More,
  bytes: number,
): Promise<number> {
  return borrowed(engine.memory, async (lease) => {
    const context = opened(engine, lease, block, bank);
    let exact = 0;
    await writeOut(engine, context, bank, undefined, bank.filters, bytes, async (first, last) => {
      describeAnswer(context, answer, {
        known: more.known || first > 0,
        last: more.last && last === bank.filters,
      });
      const scratch = engine.ask("scratch_direct_csr", context.at);
      exact += (await engine.run("top_filters_direct_csr", block.rows, ROW_PIECE, scratch, context)).sum;
    });
    return exact;
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
    describeAnswer(context, answer, { known: true, last: true })
      .set([WINNER, lease.put(since.winners.filter.subarray(block.first, to))], [VERDICT, verdict])
      .set([WINNER_VALUE, lease.put(since.winners.response.subarray(block.first, to))])
      .set([CHANGED, lease.put(since.changed)]);
    let exact = (await engine.run("first_answers_csr", block.rows, ROW_PIECE, 64, context)).sum;
    const [some, all] = [0, 1].map((mark) => placesOf(memory.u8(verdict, block.rows), mark));
    const changed = placesOf(since.changed, 1);
    const more = { known: true, last: true };
    if (some.length > 0 && changed.length > 0) {
      const index = await makeIndex(engine, lease, bank, changed, { whole: isWhole, byNorm: true });
      exact += await searchIndex(engine, block, bank, index, answer, more, some);
    }
    if (all.length > 0) {
      const index = await whole();
      try {
        exact += await searchIndex(engine, block, bank, index.value, answer, more, all);
      } finally {
        index.release();
      }
    }
    return exact;
  });
}

/** The k strongest rows of the listed filters (numbers within `bank`), by an index of them or directly. */
export function searchCsrRows(
  engine: Engine,
  block: CsrBlock,
  bank: CsrBank,
  index: CsrIndex | undefined,
  filters: Uint32Array,
  divisor: Float64Array,
  answer: Answer,
  more: More,
  { answerBytes, bankBytes }: Pick<Limits, "answerBytes" | "bankBytes">,
): Promise<number> {
  return borrowed(engine.memory, async (lease) => {
    const context = opened(engine, lease, block, bank);
    const most = Math.floor(answerBytes / (12 * filters.length * Math.min(answer.k, block.rows)));
    const pieces = Math.max(1, Math.min(MOST_PIECES, most, Math.ceil(block.rows / PIECE_ROWS_LEAST)));
    const pieceRows = Math.ceil(block.rows / pieces);
    const pieceCount = Math.ceil(block.rows / pieceRows);
    const pieceK = Math.min(answer.k, pieceRows);
    const room = pieceCount * filters.length * pieceK;
    describeAnswer(context, answer, more)
      .set([FIRST_ROW, block.first], [ROW_COUNT, block.rows], [PIECE_ROWS, pieceRows], [PIECE_COUNT, pieceCount])
      .set([PIECE_K, pieceK], [PIECE_ID, lease.take(room * 4)], [PIECE_VALUE, lease.take(room * 8)])
      .set([DIVISOR, lease.put(divisor.subarray(block.first, block.first + block.rows))]);
    if (index) {
      describeIndex(context, index).set([ASKED, filters.length]);
      const scratch = engine.ask("scratch_index_csr", context.at);
      const { sum } = await engine.run("top_rows_csr", pieceCount, 1, scratch, context);
      await engine.run("join_pieces_csr", filters.length, ROW_PIECE, 0, context);
      return sum;
    }
    let exact = 0;
    const list = lease.put(filters);
    await writeOut(engine, context, bank, list, filters.length, bankBytes, async (first, last) => {
      const { k, ids, values } = answer;
      describeAnswer(context, { k, ids: ids + first * k * 4, values: values + first * k * 8 }, more);
      context.set([ASKED, last - first]);
      const scratch = engine.ask("scratch_direct_csr", context.at);
      exact += (await engine.run("top_rows_direct_csr", pieceCount, 1, scratch, context)).sum;
      await engine.run("join_pieces_csr", last - first, ROW_PIECE, 0, context);
    });
    return exact;
  });
}

/** A context that knows the rows and the filters. */
function opened(engine: Engine, lease: Lease, block: CsrBlock, bank: CsrBank): Context {
  return describeCsrBank(describeCsr(new Context(engine.memory, lease), block), bank);
}

/** Writes out `count` filters, those of a list or the first ones, as many as there is room for at a time, and calls `use`. */
async function writeOut(
  engine: Engine,
  context: Context,
  bank: CsrBank,
  list: number | undefined,
  count: number,
  room: number,
  use: (first: number, last: number) => Promise<void>,
): Promise<void> {
  if (!list && bank.filters === 1 && !bank.sparse && bank.weightBytes === 8) {
    // It is written out as it is.
    context.set([DIRECT, bank.weights], [DIRECT_WIDTH, 1], [DIRECT_COUNT, 1], [DIRECT_LIST, 0]);
    return use(0, 1);
  }
  const width = count <= FEW_FILTERS ? 1 : WIDTH;
  const bytes = bank.features * width * 8;
  const most = Math.min(Math.ceil(count / width), Math.max(1, Math.floor(Math.min(DIRECT_BYTES, room) / bytes)));
  return borrowed(engine.memory, async (lease) => {
    const at = lease.take(most * bytes);
    const numbers = list ?? lease.put(Uint32Array.from({ length: count }, (_, f) => f));
    for (let first = 0; first < count; first += most * width) {
      const last = Math.min(count, first + most * width);
      context.set(
        [DIRECT, at],
        [DIRECT_WIDTH, width],
        [DIRECT_COUNT, last - first],
        [DIRECT_LIST, numbers + first * 4],
      );
      await engine.run("write_out_csr", Math.ceil((last - first) / width), 1, 0, context);
      await use(first, last);
    }
  });
}

function describeAnswer(context: Context, { k, ids, values }: Answer, { known, last }: More): Context {
  return context.set([K, k], [OUT_ID, ids], [OUT_VALUE, values], [KNOWN, known ? 1 : 0], [LAST, last ? 1 : 0]);
}
