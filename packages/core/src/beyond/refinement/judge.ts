/** Which held-out rows a bank, or a committee, gives their class: what refinement makes its choices by. */

import type { HeldRows } from "../../backends/contract.ts";
import { KeptBank } from "../../backends/kept-bank.ts";
import type { FilterBank } from "../../kernels/shapes.ts";
import { type CommitteeBank, keepBanks, voteOfCommittee } from "../committee/committee.ts";

/** Rows that have to be gained at least: with fewer a standard error says nothing. */
const FEWEST = 2;

/** For each held-out row, how many of those asked give it its class. */
export type Marks = Uint32Array;

export const sum = (marks: Marks): number => marks.reduce((total, mark) => total + mark, 0);

/** Whether a is right on more rows than b, by more than `errors` standard errors of the difference. */
export function isBetter(a: Marks, b: Marks, errors: number): boolean {
  let [gain, squares] = [0, 0];
  for (let r = 0; r < a.length; r++) {
    gain += a[r] - b[r];
    squares += (a[r] - b[r]) * (a[r] - b[r]);
  }
  return gain >= FEWEST && gain > errors * Math.sqrt(squares);
}

/** Tells which held-out rows are given their class. */
export class Judge {
  readonly #held: HeldRows;
  readonly #codes: Uint32Array;
  readonly #classes: number;

  constructor(held: HeldRows, codes: Uint32Array, classes: number) {
    this.#held = held;
    this.#codes = codes;
    this.#classes = classes;
  }

  /** 1 for each row that the committee gives its class; that of a single bank gives what the bank gives. */
  async together(banks: readonly CommitteeBank[]): Promise<Marks> {
    const voted = await voteOfCommittee(this.#held, keepBanks(banks, this.#classes), this.#classes);
    return voted.map((c, r) => (c === this.#codes[r] ? 1 : 0));
  }

  /** How many banks give each row its class, added to the counts in `known`. */
  async each(banks: readonly CommitteeBank[], known?: Marks): Promise<Marks> {
    const marks = known?.slice() ?? new Uint32Array(this.#codes.length);
    for (const bank of banks) {
      const own = await this.rightByStrongest(bank);
      for (let r = 0; r < marks.length; r++) marks[r] += own[r];
    }
    return marks;
  }

  /** 1 for each row that the strongest filter of a bank gives its class. */
  async rightByStrongest({ bank, filterClass }: CommitteeBank): Promise<Marks> {
    const keptBank = this.keep(bank);
    return this.rightBy(keptBank, filterClass).finally(() => keptBank.release());
  }

  /** A bank for several questions; the caller's to release. */
  keep(bank: FilterBank): KeptBank {
    return KeptBank.load(bank, this.#held);
  }

  /** The same for a bank that stays. */
  async rightBy(keptBank: KeptBank, filterClass: Uint32Array): Promise<Marks> {
    const { filter } = await this.#held.topFilters(keptBank.on(this.#held), 1);
    return filter.map((f, r) => (filterClass[f] === this.#codes[r] ? 1 : 0));
  }

  release(): void {
    this.#held.release();
  }
}
