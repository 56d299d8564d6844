/** The reference back end: the kernels as they are written. For small data, and as the definition that the others are tested against. */

import { inMemory, numbersBelow } from "../kernels/rows.ts";
import type { RowSource, Rows } from "../kernels/shapes.ts";
import type { Backend } from "./contract.ts";
import { CpuContext } from "./host/bank.ts";
import { type Machine, PlainBlock } from "./host/block.ts";
import { RefiningInPlace } from "./host/refine.ts";
import { HostRows } from "./host/rows.ts";
import { UNINTERRUPTED } from "./turn.ts";

/** Multiply-adds of a second, roughly. */
const RATE = 1e9;

/** Opens the back end of plain loops; `note` says why, in the report of what is trained, where it stands in for another. */
export function openReference(note?: string): Backend {
  const context = new CpuContext();
  const all = (source: RowSource): Rows | Promise<Rows> => inMemory(source) ?? source.gather(numbersBelow(source.rows));
  const machine: Machine = {
    takesComputed: false,
    place: async (source, tally) => {
      if (note !== undefined) tally.notes.add(note);
      return new PlainBlock(await all(source), tally);
    },
    refine: async (source, _whole, start, _bytes, { turn }) =>
      new RefiningInPlace(await all(source), start, turn, (bank) => context.own(bank)),
  };
  const backend: Backend = {
    name: "reference",
    threads: 1,
    estimate: ({ values, filters, searches, bytes }) => ({ seconds: (values * filters * searches) / RATE, bytes }),
    hold: (source, { turn = UNINTERRUPTED } = {}) => HostRows.hold(source, machine, backend, turn, context),
    close: async () => {},
  };
  return backend;
}
