/**
 * Sums of rows that every process has in memory: each process makes the filters of its own, from rows of any shard, and all are
 * given all filters. Filters take less to send than sums, and rows are added up in the order listed whatever they are made of.
 */

import { inForm, joinBanks } from "../../bank/bank.ts";
import { sliceGroups } from "../../bank/groups.ts";
import { bytesOf } from "../../kernels/rows.ts";
import type { FilterBank, Groups, Sum } from "../../kernels/shapes.ts";
import type { HeldBank, HeldRows, HeldSums } from "../contract.ts";
import { gatherBanks } from "./gather-banks.ts";
import type { ShardedRows } from "./rows.ts";
import { numbersFrom, packSums, unpackSums } from "./wire.ts";

/** Ranking a sum takes about as long as adding this many rows. Measured on bytes. */
const RANK_ROWS = 16;
/** Bytes of rows that are gathered at a time. */
const GATHERED_BYTES = 2 ** 26;

/** Whether groups can be shared out: one of more rows than a fair share would leave the others with nothing to do. */
export function areShareable({ offsets, rows }: Groups, size: number): boolean {
  return mostRows(offsets) * size <= rows.length;
}

function mostRows(offsets: Uint32Array): number {
  let most = 0;
  for (let g = 1; g < offsets.length; g++) most = Math.max(most, offsets[g] - offsets[g - 1]);
  return most;
}

export class OwnedSums implements HeldSums {
  readonly #rows: ShardedRows;
  readonly #groups: Groups;
  readonly #onto: readonly Sum[] | undefined;
  #sums: Promise<Sum[]> | undefined;

  constructor(rows: ShardedRows, groups: Groups, onto: readonly Sum[] | undefined) {
    this.#rows = rows;
    this.#groups = groups;
    this.#onto = onto;
  }

  rank(distribution?: Float64Array): Promise<HeldBank> {
    const { collective, own, source } = this.#rows;
    return this.#rows.local(async () => {
      const form = source.form === "dense" ? "dense" : "sparse";
      const made: HeldBank[] = [];
      try {
        await this.#each(async (held, groups, onto) => {
          made.push(await held.sum(groups, onto).rank(distribution));
        });
        return await lent(made, (banks) => {
          const mine = banks.map((bank) => inForm(bank, form));
          return gatherBanks(collective, mine.length > 0 ? joinBanks(mine) : undefined, own);
        });
      } finally {
        for (const bank of made) bank.release();
      }
    });
  }

  read(): Promise<Sum[]> {
    this.#sums ??= this.#rows.local(async () => {
      const sums: Sum[] = [];
      await this.#each(async (held, groups, onto) => {
        sums.push(...(await held.sum(groups, onto).read()));
      });
      return (await this.#rows.collective.gather(packSums(sums))).flatMap(unpackSums);
    });
    return this.#sums;
  }

  release(): void {}

  /** Calls `visit` on the groups of this process and the rows of all shards; or on some groups after the other, with their rows held by themselves. */
  async #each(visit: (held: HeldRows, groups: Groups, onto?: readonly Sum[]) => Promise<void>): Promise<void> {
    const { collective, source } = this.#rows;
    const { offsets } = this.#groups;
    const begin = startOf(offsets, collective.rank, collective.size);
    const end = startOf(offsets, collective.rank + 1, collective.size);
    if (begin === end) return;
    const all = await this.#rows.all();
    if (all) return visit(all, sliceGroups(this.#groups, begin, end), this.#onto?.slice(begin, end));
    const most = (GATHERED_BYTES * source.rows) / Math.max(1, bytesOf(source));
    for (let from = begin; from < end; ) {
      let to = from + 1;
      while (to < end && offsets[to + 1] - offsets[from] <= most) to++;
      const { rows, ...groups } = sliceGroups(this.#groups, from, to);
      // Each row lies where it is listed.
      const listed = { ...groups, rows: numbersFrom(0, rows.length) };
      await this.#rows.withListed(rows, (held) => visit(held, listed, this.#onto?.slice(from, to)));
      from = to;
    }
  }
}

/** Calls `work` with banks where they are. */
async function lent<T>(held: readonly HeldBank[], work: (banks: readonly FilterBank[]) => Promise<T>): Promise<T> {
  if (held.length === 0) return work([]);
  const [first, ...others] = held;
  const withOthers = (bank: FilterBank): Promise<T> => lent(others, (banks) => work([bank, ...banks]));
  return first.lend ? first.lend(withOthers) : withOthers(await first.read());
}

/** The first group of a process: all have about the same to add and to rank. */
function startOf(offsets: Uint32Array, rank: number, size: number): number {
  const count = offsets.length - 1;
  const cost = (g: number): number => offsets[g] + RANK_ROWS * g;
  const wanted = (cost(count) * rank) / size;
  let [first, last] = [0, count]; // the costs of groups ascend
  while (first < last) {
    const middle = Math.floor((first + last) / 2);
    if (cost(middle) < wanted) first = middle + 1;
    else last = middle;
  }
  return first;
}
