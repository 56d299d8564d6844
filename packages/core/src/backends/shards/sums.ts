/**
 * Sums over the shards of all processes, in the order of the rows. Whole numbers are added up by all at once. Others take the chain:
 * the sums so far go from one process to the next, which adds its rows to them, some filters at a time, so that the processes
 * work on different filters at once.
 */

import { joinBanks } from "../../bank/bank.ts";
import type { FilterBank, Sum } from "../../kernels/shapes.ts";
import type { HeldBank, HeldSums } from "../contract.ts";
import { inFormOf, rankGivenSums } from "../host/given-sums.ts";
import type { ShardedRows } from "./rows.ts";
import { numbersFrom, packBank, packSums, unpackBank, unpackSums } from "./wire.ts";

/** Parts of the chain for each process. */
const PARTS = 4;
/** Sums that are added up at a time, in bytes. */
const SUM_BYTES = 2 ** 26;

export class ShardedSums implements HeldSums {
  readonly #rows: ShardedRows;
  readonly #count: number;
  readonly #isWhole: boolean;
  readonly #add: (filters: Uint32Array, onto?: readonly Sum[]) => HeldSums;
  readonly #onto: readonly Sum[] | undefined;
  #sums: Promise<Sum[]> | undefined;

  /** `add` gives the sums of this process's rows for some of `count` filters, on top of what is given. */
  constructor(
    rows: ShardedRows,
    count: number,
    isWhole: boolean,
    add: (filters: Uint32Array, onto?: readonly Sum[]) => HeldSums,
    onto: readonly Sum[] | undefined,
  ) {
    this.#rows = rows;
    this.#count = count;
    this.#isWhole = isWhole && rows.source.form === "dense" && !onto;
    this.#add = add;
    this.#onto = onto;
  }

  /** Each process ranks its share of the sums, and all have all filters. */
  rank(distribution?: Float64Array): Promise<HeldBank> {
    const { collective, own, features, source } = this.#rows;
    return this.#rows.local(async () => {
      const hold = (rows: Parameters<typeof own.backend.hold>[0]) => own.backend.hold(rows, { turn: own.turn });
      const banks: FilterBank[] = [];
      for await (const sums of this.#shares()) {
        let mine = new Uint8Array(0);
        if (sums.length > 0) {
          const ranked = await rankGivenSums(sums, features, distribution, hold);
          const bank = await inFormOf(ranked, own, source.form === "dense" ? "dense" : "sparse");
          mine = packBank(await bank.read()) as Uint8Array<ArrayBuffer>;
          bank.release();
        }
        const parts = (await collective.gather(mine)).filter(({ byteLength }) => byteLength > 0);
        banks.push(...parts.map(unpackBank));
      }
      return own.load(joinBanks(banks));
    });
  }

  /** This process's share of the sums, of some filters after the other; the shares of all processes are all of those filters in order. */
  async *#shares(): AsyncGenerator<Sum[]> {
    const { features, collective } = this.#rows;
    const { rank, size } = collective;
    if (this.#sums || !this.#isWhole) {
      const sums = await this.read();
      yield sums.slice(shareOf(this.#count, rank, size), shareOf(this.#count, rank + 1, size));
      return;
    }
    for await (const flat of this.#flat()) {
      const count = flat.length / features;
      const counts = Array.from(
        { length: size },
        (_, r) => (shareOf(count, r + 1, size) - shareOf(count, r, size)) * features,
      );
      yield cut(await collective.sumShare(flat, counts), features);
    }
  }

  read(): Promise<Sum[]> {
    this.#sums ??= this.#rows.local(() => (this.#isWhole ? this.#allAtOnce() : this.#alongTheChain()));
    return this.#sums;
  }

  release(): void {}

  async #allAtOnce(): Promise<Sum[]> {
    const { features, collective } = this.#rows;
    const sums: Sum[] = [];
    for await (const flat of this.#flat()) sums.push(...cut(await collective.sum(flat), features));
    return sums;
  }

  /** The sums of this process's rows one after the other, of some filters at a time. */
  async *#flat(): AsyncGenerator<Float64Array> {
    const { features } = this.#rows;
    const most = Math.max(1, Math.floor(SUM_BYTES / (8 * features)));
    const own = await this.#add(numbersFrom(0, this.#count)).read();
    for (let from = 0; from < this.#count; from += most) {
      const part = own.slice(from, from + most);
      const flat = new Float64Array(part.length * features);
      part.forEach(({ indices, values }, s) => {
        if (!indices) flat.set(values, s * features);
        else for (let e = 0; e < indices.length; e++) flat[s * features + indices[e]] = values[e];
      });
      yield flat;
    }
  }

  async #alongTheChain(): Promise<Sum[]> {
    const { collective, isRead } = this.#rows;
    const { rank, size } = collective;
    // Rows that are read are read once, for all filters.
    const parts = isRead ? 1 : Math.max(1, Math.min(this.#count, PARTS * size));
    const done: Sum[][] = [];
    for (let p = 0; p < parts; p++) {
      const [from, to] = [0, 1].map((more) => Math.floor((this.#count * (p + more)) / parts));
      const before = rank === 0 ? this.#onto?.slice(from, to) : unpackSums(await collective.receive(rank - 1));
      const sums = await this.#add(numbersFrom(from, to), before).read();
      if (rank + 1 < size) await collective.send(packSums(sums), rank + 1);
      else done.push(sums);
    }
    return unpackSums(await collective.broadcast(packSums(done.flat()), size - 1));
  }
}

/** The first of `count` that belongs to a process. */
const shareOf = (count: number, rank: number, size: number): number => Math.floor((count * rank) / size);

/** Sums that lie one after the other. */
function cut(flat: Float64Array, features: number): Sum[] {
  return Array.from({ length: flat.length / features }, (_, s) => ({
    values: flat.subarray(s * features, (s + 1) * features),
  }));
}
