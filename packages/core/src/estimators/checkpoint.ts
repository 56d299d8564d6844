/** The state of a bank in training as plain data, and back, checked: what a checkpoint keeps. */

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

function saveState({ bank, members, winners, steps, converged }: BankState): Saved {
  const { form, filters, features } = bank;
  const plain = steps.map(({ iteration, moved, empty }) => ({ iteration, moved, empty }));
  return {
    kind: KIND,
    meta: { form, filters, features, steps: plain, converged },
    arrays: {
      ...vectors({ weights: bank.weights, norm: bank.norm, offsets: members.offsets, rows: members.rows }),
      ...(bank.form === "sparse"
        ? vectors({ base: bank.base, bank_offsets: bank.offsets, bank_indices: bank.indices })
        : {}),
      ...(winners ? vectors({ winners }) : {}),
    },
  };
}

function vectors(arrays: { readonly [name: string]: SavedArray["values"] }): { [name: string]: SavedArray } {
  return Object.fromEntries(Object.entries(arrays).map(([name, values]) => [name, { shape: [values.length], values }]));
}

function readState(saved: Saved, name: string, rows: number, features: number, filters: number): BankState {
  const wrong = (what: string) =>
    new RanksimError("bad-file", `checkpoint, ${name}: expected ${what}: it is damaged or of another training`);
  const { form, steps, converged } = saved.meta;
  if (saved.kind !== KIND || saved.meta.filters !== filters || saved.meta.features !== features) {
    throw wrong(`${filters} filters of ${features} features, found ${saved.meta.filters} of ${saved.meta.features}`);
  }
  const array = <T extends SavedArray["values"]>(
    key: string,
    types: readonly { new (length: number): T }[],
    length?: number,
  ): T => {
    const { values } = saved.arrays[key] ?? {};
    const Type = types.find((type) => values instanceof type);
    if (!Type || (length !== undefined && values?.length !== length))
      throw wrong(`${length ?? "some"} values as ${key}`);
    return values as T;
  };
  const u32 = [Uint32Array];
  const f64 = [Float64Array];
  const members = { offsets: array("offsets", u32, filters + 1), rows: array("rows", u32) };
  if (!areGroups(members, rows)) throw wrong(`rows below ${rows} for each filter`);
  const winners = saved.arrays.winners && array("winners", u32, rows);
  if (winners?.some((f) => f >= filters)) throw wrong(`winners below ${filters}`);
  const weights = [Uint16Array, Uint32Array, Float64Array] as const;
  const common = { filters, features, norm: array("norm", f64, filters) };
  const bank: FilterBank =
    form === "dense"
      ? { form, ...common, weights: array<Weights>("weights", weights, filters * features) }
      : {
          ...{ form: "sparse", ...common, base: array("base", f64, filters) },
          ...{ offsets: array("bank_offsets", u32, filters + 1), indices: array("bank_indices", u32) },
          weights: array<Weights>("weights", weights, array("bank_indices", u32).length),
        };
  if (bank.form === "sparse" && !areGroups({ offsets: bank.offsets, rows: bank.indices }, features)) {
    throw wrong(`exceptions below ${features}`);
  }
  if (!Array.isArray(steps) || typeof converged !== "boolean") throw wrong("a list of iterations");
  return { bank, members, winners, steps: steps as unknown as BankState["steps"], converged };
}

/** Whether the offsets rise to the number of rows, all of which are below `below`. */
function areGroups({ offsets, rows }: Groups, below: number): boolean {
  if (offsets[0] !== 0 || offsets[offsets.length - 1] !== rows.length) return false;
  for (let g = 1; g < offsets.length; g++) if (offsets[g] < offsets[g - 1]) return false;
  return rows.every((r) => r < below);
}
