/** Which filter each row belongs to, among several processes. */

import { groupByCode, pickGroups } from "../../bank/groups.ts";
import type { Groups, Sum } from "../../kernels/shapes.ts";
import type { Assignment, HeldSums } from "../contract.ts";
import { compareWinners } from "../host/rows.ts";
import type { ShardedRows } from "./rows.ts";
import { ShardedSums } from "./sums.ts";
import { joined, packArrays, unpackArrays } from "./wire.ts";

/** An assignment, and that of the shard of this process. */
export interface ShardedAssignment extends Assignment {
  readonly own: Assignment;
}

/** The filters of all rows, in the order of the processes. */
async function allWinners({ collective }: ShardedRows, own: Assignment): Promise<Uint32Array> {
  const parts = await collective.gather(packArrays([await own.winners()]));
  return joined(
    Uint32Array,
    parts.map((part) => unpackArrays(part)[0]),
  );
}

/** Of rows in memory: every process knows the filter of each row, and can add up the rows of any filter. */
export class KnownAssignment implements ShardedAssignment {
  readonly moved: number;
  readonly wins: Uint32Array;
  readonly changed: Uint8Array;
  readonly own: Assignment;
  readonly #rows: ShardedRows;
  readonly #winners: Uint32Array;
  #groups: Groups | undefined;

  constructor(
    rows: ShardedRows,
    own: Assignment,
    winners: Uint32Array,
    filters: number,
    before: Uint32Array | undefined,
  ) {
    this.#rows = rows;
    this.own = own;
    this.#winners = winners;
    ({ moved: this.moved, wins: this.wins, changed: this.changed } = compareWinners(before, winners, filters));
  }

  static async of(
    rows: ShardedRows,
    own: Assignment,
    filters: number,
    before: Assignment | undefined,
  ): Promise<KnownAssignment> {
    return new KnownAssignment(rows, own, await allWinners(rows, own), filters, await before?.winners());
  }

  sums(filters: Uint32Array, onto?: readonly Sum[]): HeldSums {
    return this.#rows.sum(pickGroups(this.#members(), filters), onto);
  }

  async winners(): Promise<Uint32Array> {
    return this.#winners;
  }

  async members(): Promise<Groups> {
    return this.#members();
  }

  release(): void {
    this.own.release();
  }

  #members(): Groups {
    this.#groups ??= groupByCode(this.#winners, this.wins.length);
    return this.#groups;
  }
}

/** Of rows that are read: every process knows of its shard, and all know the counts. */
export class ReadAssignment implements ShardedAssignment {
  readonly moved: number;
  readonly wins: Uint32Array;
  readonly changed: Uint8Array;
  readonly own: Assignment;
  readonly #rows: ShardedRows;
  #winners: Promise<Uint32Array> | undefined;

  constructor(rows: ShardedRows, own: Assignment, counts: Pick<Assignment, "moved" | "wins" | "changed">) {
    this.#rows = rows;
    this.own = own;
    ({ moved: this.moved, wins: this.wins, changed: this.changed } = counts);
  }

  static async of(rows: ShardedRows, own: Assignment): Promise<ReadAssignment> {
    const { moved, wins, changed } = own;
    const all = await rows.collective.sum(joined(Float64Array, [[moved], wins, changed]));
    const filters = wins.length;
    return new ReadAssignment(rows, own, {
      moved: all[0],
      wins: Uint32Array.from(all.subarray(1, 1 + filters)),
      changed: Uint8Array.from(all.subarray(1 + filters), (marks) => (marks > 0 ? 1 : 0)),
    });
  }

  sums(filters: Uint32Array, onto?: readonly Sum[]): HeldSums {
    const add = (some: Uint32Array, sums?: readonly Sum[]) =>
      this.own.sums(
        some.map((j) => filters[j]),
        sums,
      );
    return new ShardedSums(this.#rows, filters.length, this.#rows.isWhole, add, onto);
  }

  winners(): Promise<Uint32Array> {
    this.#winners ??= this.#rows.local(() => allWinners(this.#rows, this.own));
    return this.#winners;
  }

  async members(): Promise<Groups> {
    return groupByCode(await this.winners(), this.wins.length);
  }

  release(): void {
    this.own.release();
  }
}
