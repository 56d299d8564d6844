/** Assignments and sums of rows of the GPU back end: the host knows which rows they are of, the rows make what is asked for. */

import { groupByCode, pickGroups } from "../../bank/groups.ts";
import type { Groups, Sum } from "../../kernels/shapes.ts";
import type { Assignment, HeldBank, HeldSums } from "../contract.ts";
import { compareWinners } from "../host/rows.ts";
import type { GpuRows } from "./rows.ts";

/** Which filter each row belongs to. The winners are read once: who asks about them needs them all. */
export class GpuAssignment implements Assignment {
  readonly moved: number;
  readonly wins: Uint32Array;
  readonly changed: Uint8Array;
  readonly filter: Uint32Array;
  readonly #rows: GpuRows;
  #groups: Groups | undefined;

  constructor(rows: GpuRows, filter: Uint32Array, filters: number, before: Uint32Array | undefined) {
    this.#rows = rows;
    this.filter = filter;
    ({ wins: this.wins, moved: this.moved, changed: this.changed } = compareWinners(before, filter, filters));
  }

  sums(filters: Uint32Array, onto?: readonly Sum[]): HeldSums {
    return this.#rows.sum(pickGroups(this.#members(), filters), onto);
  }

  async winners(): Promise<Uint32Array> {
    return this.filter;
  }

  async members(): Promise<Groups> {
    return this.#members();
  }

  release(): void {}

  #members(): Groups {
    this.#groups ??= groupByCode(this.filter, this.wins.length);
    return this.#groups;
  }
}

/** Sums of groups of rows, made when they are asked for. */
export class GpuSums implements HeldSums {
  readonly #rows: GpuRows;
  readonly #groups: Groups;
  readonly #onto: readonly Sum[] | undefined;

  constructor(rows: GpuRows, groups: Groups, onto: readonly Sum[] | undefined) {
    this.#rows = rows;
    this.#groups = groups;
    this.#onto = onto;
  }

  rank(distribution?: Float64Array): Promise<HeldBank> {
    return this.#rows.rankSums(this.#groups, this.#onto, distribution);
  }

  read(): Promise<Sum[]> {
    return this.#rows.readSums(this.#groups, this.#onto);
  }

  release(): void {}
}
