/** Searches on the device: products a block at a time, and what is kept of them. */

import type { Groups, TopRows, Turn } from "@ranksim/core/backend";
import type { Planes } from "./bank.ts";
import type { GpuContext } from "./context.ts";
import type { DeviceBuffer } from "./device.ts";
import type { Job } from "./job.ts";
import { bankBytes, moveItems, PAD_ITEMS, padded } from "./layout.ts";
import { type Factors, multiply } from "./multiply.ts";
import { addRows, piecesOf, rankSums } from "./rank.ts";
import type { Part, Resident } from "./resident.ts";
import { select } from "./select.ts";
import { LIST_WORDS, largestValues, listStrongRows, MOST_CANDIDATES, meanResponses } from "./strong-rows.ts";
import { addWinners, partialBytes } from "./winners.ts";

/** Seconds that a dispatch, and a job, may take: systems end long ones, and an abort waits for what was sent off. */
const DISPATCH_SECONDS = 0.1;
const JOB_SECONDS = 0.25;
/** Sums whose ranks are found at a time, in bytes. */
const SUM_BYTES = 2 ** 26;

/** Consecutive rows of a part whose products are computed at once. */
interface Block {
  readonly part: Part;
  /** First row, counted in the part; a multiple of `PAD_ITEMS`. */
  readonly from: number;
  readonly rows: number;
}

/** Cuts rows into blocks by memory, where each takes `rowBytes` for its products or winners, and by time. */
async function blocksOf(
  context: GpuContext,
  { parts, stride }: Resident,
  planes: Planes,
  rowBytes = planes.padded * 4,
): Promise<Block[]> {
  const { rate } = await context.program();
  const byMemory = context.limits.productBytes / rowBytes;
  const byTime = (DISPATCH_SECONDS * rate) / (planes.padded * stride * planes.planes);
  const most = Math.max(1, Math.floor(Math.min(byMemory, byTime) / PAD_ITEMS)) * PAD_ITEMS;
  const blocks: Block[] = [];
  for (const part of parts) {
    for (let from = 0; from < part.rows; from += most)
      blocks.push({ part, from, rows: Math.min(most, part.rows - from) });
  }
  return blocks;
}

/** The k strongest filters of each row: entry 2(r·k + j) is a product, the one behind it its filter. */
export function searchFilters(
  context: GpuContext,
  x: Resident,
  planes: Planes,
  filters: number,
  k: number,
  turn: Turn,
): Promise<Uint32Array> {
  return searchBlocks(context, x, planes, planes.padded * 4, k, turn, async (job, block, products, at, found) => {
    await addProducts(job, context, x, block, planes, products);
    await select(job, products, { filters, stride: planes.padded, k, rows: block.rows, first: at }, found);
  });
}

/** The strongest filter of each row: entry 2r is its product, the one behind it the filter, with `TIED` where it is not alone. */
export async function searchWinners(
  context: GpuContext,
  x: Resident,
  planes: Planes,
  filters: number,
  turn: Turn,
): Promise<Uint32Array> {
  const { multiply: program } = await context.program();
  const rowBytes = partialBytes(program, planes.padded);
  return searchBlocks(context, x, planes, rowBytes, 1, turn, (job, block, partial, at, found) =>
    addWinners(job, program, factorsOf(x, block, planes), filters, partial, block.rows, at, found),
  );
}

/**
 * What `add` finds for each row, k pairs of numbers. It adds a block to a job: its buffer has `rowBytes` for each of the block's rows, and what it
 * finds goes to `found` from row `at` on.
 */
async function searchBlocks(
  context: GpuContext,
  x: Resident,
  planes: Planes,
  rowBytes: number,
  k: number,
  turn: Turn,
  add: (job: Job, block: Block, buffer: DeviceBuffer, at: number, found: DeviceBuffer) => Promise<void>,
): Promise<Uint32Array> {
  const { device, limits } = context;
  const { rate } = await context.program();
  const pairs = new Uint32Array(2 * x.rows * k);
  const most = Math.max(PAD_ITEMS, Math.floor(limits.answerBytes / (8 * k)));
  const blocks = (await blocksOf(context, x, planes, rowBytes)).flatMap((block) => cut(block, most));
  for (let b = 0; b < blocks.length; ) {
    // A job: blocks whose answers fit and whose time is short.
    const begin = b;
    let rows = 0;
    let work = 0;
    do {
      rows += blocks[b].rows;
      work += padded(blocks[b].rows) * planes.padded * x.stride * planes.planes;
      b++;
    } while (b < blocks.length && rows + blocks[b].rows <= most && work < JOB_SECONDS * rate);
    const first = blocks[begin].part.first + blocks[begin].from;
    // One call after the other: each brings its products, and none of those that wait needs memory for its own.
    const { read } = await context.largeJobs.run(() =>
      device.borrowing(async (borrow) => {
        const buffer = borrow(largest(blocks.slice(begin, b)) * rowBytes);
        const found = borrow(8 * rows * k);
        const job = device.job();
        let at = 0;
        for (const block of blocks.slice(begin, b)) {
          await add(job, block, buffer, at, found);
          at += block.rows;
        }
        const read = job.take(found, 8 * rows * k, (there) =>
          pairs.set(new Uint32Array(there, 0, 2 * rows * k), 2 * first * k),
        );
        job.send();
        return { read };
      }),
    );
    await read;
    await turn.pause();
  }
  return pairs;
}

/**
 * The k strongest rows of the listed filters by response over the row's mean response; undefined where more rows than are listed
 * may be among them.
 */
export async function searchRows(
  context: GpuContext,
  x: Resident,
  planes: Planes,
  filters: number,
  listed: Uint32Array,
  k: number,
  turn: Turn,
): Promise<TopRows | undefined> {
  const { device } = context;
  const { features, stride } = x;
  const row = new Uint32Array(listed.length * k);
  const value = new Float64Array(listed.length * k);
  const most = Math.max(1, Math.floor(context.limits.answerBytes / (4 * LIST_WORDS)));
  const meansBytes = 16 * x.rows;
  return device.borrowing(async (borrow) => {
    const means = borrow(meansBytes);
    const first = device.job();
    await addMeans(first, context, x, planes, filters, means, borrow);
    const read = first.read(means, meansBytes);
    first.send();
    let divisor: Float64Array | undefined;
    for (let from = 0; from < listed.length; from += most) {
      const part = listed.subarray(from, Math.min(listed.length, from + most));
      const picked: Planes = {
        ...planes,
        padded: padded(part.length),
        buffer: borrow(bankBytes(part.length, features)),
      };
      const pairs = borrow(8 * part.length);
      device.write(
        pairs,
        0,
        Uint32Array.from({ length: 2 * part.length }, (_, j) => (j % 2 === 0 ? part[j / 2] : (j - 1) / 2)),
      );
      const blocks = await blocksOf(context, x, picked);
      const products = borrow(largest(blocks) * picked.padded * 4);
      const maxima = borrow(1024 * part.length);
      const lists = borrow(4 * LIST_WORDS * part.length);
      const job = device.job();
      for (const plane of [0, 1]) {
        const source = { buffer: planes.buffer, first: plane * planes.padded };
        await moveItems(job, pairs, part.length, stride, source, {
          buffer: picked.buffer,
          first: plane * picked.padded,
        });
      }
      job.clear(lists);
      for (const pass of ["maxima", "lists"]) {
        for (const block of blocks) {
          await addProducts(job, context, x, block, picked, products);
          const on = {
            ...{ products, stride: picked.padded, rows: block.rows },
            ...{ first: block.part.first + block.from, filters: part.length },
          };
          if (pass === "maxima") await largestValues(job, on, means, maxima);
          else await listStrongRows(job, on, k, means, maxima, lists);
        }
      }
      const answer = job.read(lists, 4 * LIST_WORDS * part.length);
      job.send();
      const found = new Uint32Array(await answer);
      divisor ??= divisorsOf(new Uint32Array(await read));
      for (let j = 0; j < part.length; j++) {
        const list = found.subarray(j * LIST_WORDS, (j + 1) * LIST_WORDS);
        if (list[0] > MOST_CANDIDATES) return undefined;
        strongest(list, divisor, k, row, value, (from + j) * k);
      }
      await turn.pause();
    }
    return { filters: listed.length, k, row, value };
  });
}

/** Filters of groups of rows: the ranks of their sums, on the device. The caller frees them. */
export async function rankGroups(context: GpuContext, x: Resident, groups: Groups, turn: Turn): Promise<DeviceBuffer> {
  const { device } = context;
  const { features, stride } = x;
  const filters = groups.offsets.length - 1;
  const buffer = device.allocate(bankBytes(filters, features));
  try {
    const most = Math.max(1, Math.floor(SUM_BYTES / (4 * features)));
    for (let from = 0; from < filters; from += most) {
      const to = Math.min(filters, from + most);
      await device.borrowing(async (borrow) => {
        const sums = borrow(4 * features * (to - from));
        const job = device.job();
        job.clear(sums);
        for (const part of x.parts) {
          const own = x.parts.length === 1 ? groups : within(groups, part);
          const pieces = piecesOf(own.offsets, from, to);
          if (pieces.length === 0) continue;
          const [list, cuts] = [borrow(own.rows.byteLength), borrow(pieces.byteLength)];
          device.write(list, 0, own.rows);
          device.write(cuts, 0, pieces);
          await addRows(job, part.buffer, stride, features, cuts, pieces.length / 4, list, sums);
        }
        const plane = padded(filters) * stride;
        await rankSums(job, sums, to - from, features, stride, { buffer, first: from, plane });
        job.send();
      });
      await turn.pause();
    }
    return buffer;
  } catch (error) {
    buffer.free();
    throw error;
  }
}

async function addProducts(
  job: Job,
  context: GpuContext,
  x: Resident,
  block: Block,
  planes: Planes,
  products: DeviceBuffer,
): Promise<void> {
  const { multiply: program } = await context.program();
  await multiply(job, program, factorsOf(x, block, planes), products);
}

function factorsOf({ stride }: Resident, { part, from, rows }: Block, planes: Planes): Factors {
  return {
    ...{ rows: part.buffer, first: from, count: padded(rows), stride },
    ...{ weights: planes.buffer, filters: planes.padded, planes: planes.planes },
  };
}

/** Adds to a job: each row's response to all filters together, as four sums of bytes. */
async function addMeans(
  job: Job,
  { device }: GpuContext,
  x: Resident,
  { buffer, padded, stride }: Planes,
  filters: number,
  means: DeviceBuffer,
  borrow: (bytes: number) => DeviceBuffer,
): Promise<void> {
  const { features } = x;
  // The filters of each plane are rows to be added up: those of the high bytes to the first sum, those of the low bytes to the second.
  const list = Uint32Array.from({ length: 2 * filters }, (_, j) => (j < filters ? j : padded + j - filters));
  const pieces = piecesOf(Uint32Array.of(0, filters, 2 * filters), 0, 2);
  const [order, cuts, sums] = [borrow(list.byteLength), borrow(pieces.byteLength), borrow(8 * features)];
  device.write(order, 0, list);
  device.write(cuts, 0, pieces);
  job.clear(sums);
  await addRows(job, buffer, stride, features, cuts, pieces.length / 4, order, sums);
  for (const part of x.parts) await meanResponses(job, { ...x, ...part }, sums, part.first, means);
}

/** Row numbers of groups that lie in a part, counted there. */
function within({ offsets, rows }: Groups, { first, rows: count }: Part): { offsets: Uint32Array; rows: Uint32Array } {
  const own = new Uint32Array(rows.length);
  const ends = new Uint32Array(offsets.length);
  let found = 0;
  for (let g = 0; g + 1 < offsets.length; g++) {
    for (let e = offsets[g]; e < offsets[g + 1]; e++) {
      if (rows[e] >= first && rows[e] < first + count) own[found++] = rows[e] - first;
    }
    ends[g + 1] = found;
  }
  return { offsets: ends, rows: own.subarray(0, found) };
}

/** Mean responses from their four sums of bytes: whole numbers below 2^53. */
function divisorsOf(parts: Uint32Array): Float64Array {
  const divisors = new Float64Array(parts.length / 4);
  for (let r = 0; r < divisors.length; r++) {
    const at = 4 * r;
    divisors[r] = parts[at] + 2 ** 8 * parts[at + 1] + 2 ** 16 * parts[at + 2] + 2 ** 24 * parts[at + 3];
  }
  return divisors;
}

/** The k strongest of a list of candidates, by the exact value. */
function strongest(
  list: Uint32Array,
  divisor: Float64Array,
  k: number,
  row: Uint32Array,
  value: Float64Array,
  at: number,
): void {
  const candidates = Array.from({ length: list[0] }, (_, j) => {
    const r = list[2 + 2 * j];
    return { r, v: divisor[r] === 0 ? 0 : list[3 + 2 * j] / divisor[r] };
  });
  candidates.sort((a, b) => b.v - a.v || a.r - b.r);
  for (let j = 0; j < k; j++) {
    row[at + j] = candidates[j].r;
    value[at + j] = candidates[j].v;
  }
}

function cut({ part, from, rows }: Block, most: number): Block[] {
  const step = Math.floor(most / PAD_ITEMS) * PAD_ITEMS;
  const blocks: Block[] = [];
  for (let at = 0; at < rows; at += step) blocks.push({ part, from: from + at, rows: Math.min(step, rows - at) });
  return blocks;
}

/** Rows of the largest block, with padding. */
function largest(blocks: readonly Block[]): number {
  return blocks.reduce((most, { rows }) => Math.max(most, padded(rows)), PAD_ITEMS);
}
