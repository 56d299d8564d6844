/** The states of banks in training and in refinement as plain data, and back, checked as models are: what a checkpoint keeps. */

import type { PieceResult } from "../backends/contract.ts";
import { RanksimError } from "../errors.ts";
import type { Saved } from "../model-file/saved.ts";
import { bad, stored, vector } from "../model-file/stored/arrays.ts";
import { bankArrays, readBank, readMembers } from "../model-file/stored/filters.ts";
import { FLAG, record } from "../model-file/stored/record.ts";
import { STEPS } from "../model-file/stored/report.ts";
import type { BankState, Keeper } from "../paper/train.ts";
import type { Run } from "./estimator.ts";

/** The kind of plain data that checkpoints are. */
const KIND = "checkpoint";

/** Keeps the state of one bank in training under a name, if the run has a checkpoint. */
export const bankKeeper = (run: Run, name: string, rows: number, features: number, filters: number) =>
  keeperOf(run, name, saveState, (saved) => readState(saved, rows, features, filters));

/** Keeps banks as they are refined, if the run has a checkpoint. */
export const refinedKeeper = (run: Run, name: string, features: number) =>
  keeperOf(run, `refine-${name}`, saveRefined, (saved) => readRefined(saved, features));

function keeperOf<T>(
  { checkpoint }: Run,
  name: string,
  save: (reached: T) => Saved,
  read: (saved: Saved) => T,
): Keeper<T> | undefined {
  if (!checkpoint) return undefined;
  return {
    async recall() {
      const saved = await checkpoint.recall(name);
      try {
        return saved && read(saved);
      } catch (cause) {
        const found = `it is damaged or of another training: ${(cause as Error).message}`;
        throw new RanksimError("bad-file", `checkpoint, ${name}: ${found}`, { cause });
      }
    },
    async keep(reached) {
      if (await checkpoint.isDue()) await checkpoint.keep(name, save(await reached()));
    },
  };
}

function saveRefined({ banks, numbers }: PieceResult): Saved {
  const steps = banks.map((bank) => ({ kind: KIND, meta: { features: bank.features }, arrays: bankArrays(bank) }));
  return { kind: KIND, meta: {}, arrays: { numbers: stored(numbers) }, steps };
}

function readRefined(saved: Saved, features: number): PieceResult {
  const banks = (saved.steps ?? []).map(readBank);
  if (banks.some((bank) => bank.features !== features)) throw bad(saved, `expected filters of ${features} features`);
  return { banks, numbers: vector(saved, "numbers", Uint32Array) };
}

function saveState({ bank, members, winners, steps, converged }: BankState): Saved {
  const plain = steps.map(({ iteration, moved, empty }) => ({ iteration, moved, empty }));
  return {
    kind: KIND,
    meta: { features: bank.features, reached: { steps: plain, converged } },
    arrays: { ...bankArrays(bank, members), ...(winners && { winners: stored(winners) }) },
  };
}

const REACHED = record({ steps: STEPS, converged: FLAG });

function readState(saved: Saved, rows: number, features: number, filters: number): BankState {
  const bank = readBank(saved);
  if (bank.filters !== filters || bank.features !== features) {
    throw bad(saved, `expected ${filters} filters of ${features} features, found ${bank.filters} of ${bank.features}`);
  }
  const members = readMembers(saved, filters);
  if (!members.rows.every((r) => r < rows)) throw bad(saved, `expected rows below ${rows} for each filter`);
  const winners = saved.arrays.winners && vector(saved, "winners", Uint32Array, rows);
  if (winners?.some((f) => f >= filters)) throw bad(saved, `expected winners below ${filters}`);
  const wrong = REACHED(saved.meta.reached, "reached");
  if (wrong !== undefined) throw bad(saved, wrong);
  const { steps, converged } = saved.meta.reached as unknown as Pick<BankState, "steps" | "converged">;
  return { bank, members, winners, steps, converged };
}
