/** The state of a bank in training as plain data, and back, checked: what a checkpoint keeps. */

import type { Made } from "../backends/contract.ts";
import type { RefinementKeeper } from "../beyond/refinement/apart.ts";
import { RanksimError } from "../errors.ts";
import type { FilterBank, Groups, Weights } from "../kernels/shapes.ts";
import type { Saved, SavedArray } from "../model-file/saved.ts";
import type { BankKeeper, BankState } from "../paper/train.ts";
import type { Checkpoint, Run } from "./estimator.ts";

/** The kind of plain data that checkpoints are. */
const KIND = "checkpoint";

/** The checkpoint of a part of a call, whose names are its own. */
export function checkpointOf({ checkpoint }: Run, part: string): { checkpoint?: Checkpoint } {
  if (!checkpoint) return {};
  return {
    checkpoint: {
      recall: (name) => checkpoint.recall(`${part}.${name}`),
      isDue: () => checkpoint.isDue(),
      keep: (name, state) => checkpoint.keep(`${part}.${name}`, state),
    },
  };
}

/** Keeps the state of one bank under a name, if the run has a checkpoint. */
export function bankKeeper({ checkpoint }: Run, name: string): BankKeeper | undefined {
  if (!checkpoint) return undefined;
  return {
    async recall(rows, features, filters) {
      const saved = await checkpoint.recall(name);
      return saved && readState(saved, name, rows, features, filters);
    },
    isDue: () => checkpoint.isDue(),
    keep: (state) => checkpoint.keep(name, saveState(state)),
  };
}

/** Keeps banks as they are refined, if the run has a checkpoint. */
export function refinementKeeper({ checkpoint }: Run, features: number): RefinementKeeper | undefined {
  if (!checkpoint) return undefined;
  const nameOf = (name: string) => `refine-${name}`;
  return {
    async recall(name) {
      const saved = await checkpoint.recall(nameOf(name));
      return saved && readMade(saved, nameOf(name), features);
    },
    isDue: () => checkpoint.isDue(),
    keep: (name, made) => checkpoint.keep(nameOf(name), saveMade(made)),
  };
}

function saveMade({ banks, numbers }: Made): Saved {
  const shapes = banks.map(({ form, filters, features }) => ({ form, filters, features }));
  const arrays = banks.map((bank, b) => vectors(arraysOf(bank), `bank_${b}_`));
  return { kind: KIND, meta: { shapes }, arrays: Object.assign({}, ...arrays, vectors({ numbers })) };
}

function readMade(saved: Saved, name: string, features: number): Made {
  const { shapes } = saved.meta;
  const numbers = saved.arrays.numbers?.values;
  if (saved.kind !== KIND || !Array.isArray(shapes) || !(numbers instanceof Uint32Array)) {
    throw damaged(name, "refined filters");
  }
  const banks = shapes.map((shape, b) => {
    const { form, filters } = shape as { form: unknown; filters: unknown };
    if (typeof filters !== "number" || (shape as { features: unknown }).features !== features) {
      throw damaged(name, `filters of ${features} features`);
    }
    return readBank(reading(saved, name, `bank_${b}_`), name, form, filters, features);
  });
  return { banks, numbers };
}

function saveState({ bank, members, winners, steps, converged }: BankState): Saved {
  const { form, filters, features } = bank;
  const plain = steps.map(({ iteration, moved, empty }) => ({ iteration, moved, empty }));
  return {
    kind: KIND,
    meta: { form, filters, features, steps: plain, converged },
    arrays: {
      ...vectors({ ...arraysOf(bank), offsets: members.offsets, rows: members.rows }),
      ...(winners ? vectors({ winners }) : {}),
    },
  };
}

/** The arrays of a bank. */
function arraysOf(bank: FilterBank): { readonly [name: string]: SavedArray["values"] } {
  const { weights, norm } = bank;
  if (bank.form === "dense") return { weights, norm };
  return { weights, norm, base: bank.base, bank_offsets: bank.offsets, bank_indices: bank.indices };
}

function vectors(
  arrays: { readonly [name: string]: SavedArray["values"] },
  before = "",
): { [name: string]: SavedArray } {
  const entries = Object.entries(arrays);
  return Object.fromEntries(entries.map(([name, values]) => [before + name, { shape: [values.length], values }]));
}

const damaged = (name: string, what: string): RanksimError =>
  new RanksimError("bad-file", `checkpoint, ${name}: expected ${what}: it is damaged or of another training`);

/** Gives the arrays of a state, each of one of these types and of this length. */
type ReadArray = <T extends SavedArray["values"]>(
  key: string,
  types: readonly { new (length: number): T }[],
  length?: number,
) => T;

function reading(saved: Saved, name: string, before = ""): ReadArray {
  return (key, types, length) => {
    const { values } = saved.arrays[before + key] ?? {};
    const Type = types.find((type) => values instanceof type);
    if (!Type || (length !== undefined && values?.length !== length))
      throw damaged(name, `${length ?? "some"} values as ${key}`);
    return values as never;
  };
}

const U32 = [Uint32Array] as const;
const F64 = [Float64Array] as const;
const WEIGHTS = [Uint16Array, Uint32Array, Float64Array] as const;

function readBank(array: ReadArray, name: string, form: unknown, filters: number, features: number): FilterBank {
  const common = { filters, features, norm: array("norm", F64, filters) };
  if (form === "dense") return { form, ...common, weights: array<Weights>("weights", WEIGHTS, filters * features) };
  const [offsets, indices] = [array("bank_offsets", U32, filters + 1), array("bank_indices", U32)];
  if (!areGroups({ offsets, rows: indices }, features)) throw damaged(name, `exceptions below ${features}`);
  const weights = array<Weights>("weights", WEIGHTS, indices.length);
  return { form: "sparse", ...common, base: array("base", F64, filters), offsets, indices, weights };
}

function readState(saved: Saved, name: string, rows: number, features: number, filters: number): BankState {
  const { form, steps, converged } = saved.meta;
  if (saved.kind !== KIND || saved.meta.filters !== filters || saved.meta.features !== features) {
    const found = `found ${saved.meta.filters} of ${saved.meta.features}`;
    throw damaged(name, `${filters} filters of ${features} features, ${found}`);
  }
  const array = reading(saved, name);
  const members = { offsets: array("offsets", U32, filters + 1), rows: array("rows", U32) };
  if (!areGroups(members, rows)) throw damaged(name, `rows below ${rows} for each filter`);
  const winners = saved.arrays.winners && array("winners", U32, rows);
  if (winners?.some((f) => f >= filters)) throw damaged(name, `winners below ${filters}`);
  const bank = readBank(array, name, form, filters, features);
  if (!Array.isArray(steps) || typeof converged !== "boolean") throw damaged(name, "a list of iterations");
  return { bank, members, winners, steps: steps as unknown as BankState["steps"], converged };
}

/** Whether the offsets rise to the number of rows, all of which are below `below`. */
function areGroups({ offsets, rows }: Groups, below: number): boolean {
  if (offsets[0] !== 0 || offsets[offsets.length - 1] !== rows.length) return false;
  for (let g = 1; g < offsets.length; g++) if (offsets[g] < offsets[g - 1]) return false;
  return rows.every((r) => r < below);
}
