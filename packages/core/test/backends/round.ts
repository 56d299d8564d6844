/** One round of everything the contract offers, as plain data: what every back end must answer alike. */

import type { Backend, HeldRows } from "../../src/backends/contract.ts";
import { membersOf } from "../../src/bank/assignment.ts";
import { pickGroups, singletons } from "../../src/bank/groups.ts";
import { inMemory, sourceOf } from "../../src/kernels/rows.ts";
import type { FilterBank, RowSource, Rows } from "../../src/kernels/shapes.ts";

/** The same rows as if they had to be read: asynchronous, and nothing to see before it is asked for. */
export function unread(x: Rows): RowSource {
  const { form, rows, features, entries, valueBytes } = sourceOf(x);
  return {
    form,
    rows,
    features,
    entries,
    valueBytes,
    async *blocks(bytes) {
      for await (const block of sourceOf(x).blocks(bytes)) yield block;
    },
    gather: async (list) => sourceOf(x).gather(list),
    slice: (from, to) => unread(inMemory(sourceOf(x).slice(from, to)) as Rows),
  };
}

const weightsOf = (bank: FilterBank) =>
  bank.form === "dense" ? [...bank.weights] : [[...bank.base], [...bank.offsets], [...bank.indices], [...bank.weights]];

/** Asks all questions; whatever happens, everything is released. */
export async function round(backend: Backend, source: RowSource, filters: number): Promise<unknown> {
  const held = await backend.hold(source);
  try {
    return await ask(held, filters);
  } finally {
    held.release();
  }
}

async function ask(held: HeldRows, filters: number): Promise<unknown> {
  const rows = Uint32Array.from({ length: filters }, (_, f) => Math.floor((f * held.rows) / filters));
  const bank = await held.rank(singletons(rows));
  const first = await held.assign(bank);
  const won = Uint32Array.from({ length: filters }, (_, f) => f).filter((f) => first.wins[f] > 0);
  const fresh = await held.rank(pickGroups(membersOf(first), won));
  const next = await bank.replace(won, fresh);
  const k = Math.min(3, filters);
  try {
    const second = await held.assign(next, first);
    const top = await held.topFilters(next, k);
    const some = await held.topFilters(
      next,
      k,
      Uint32Array.from({ length: held.rows >> 1 }, (_, j) => 2 * j),
    );
    const leaders = await held.leaders(next);
    const strong = await held.topRows(next, won.subarray(0, 5), Math.min(2, held.rows));
    const sums = await held.sum(pickGroups(membersOf(second), won.subarray(0, 2)));
    const onto = await held.rank(singletons(rows.subarray(0, 2)), undefined, sums.slice(0, Math.min(2, filters)));
    const added = weightsOf(await onto.read());
    onto.release();
    return {
      winners: [...second.winners],
      moved: second.moved,
      wins: [...second.wins],
      changed: [...second.changed],
      bank: weightsOf(await next.read()),
      top: [[...top.filter], [...top.response]],
      some: [[...some.filter], [...some.response]],
      leaders: [[...leaders.filter], [...leaders.tied]],
      strong: [[...strong.row], [...strong.value]],
      sums: sums.map(({ indices, values }) => [indices && [...indices], [...values]]),
      added,
    };
  } finally {
    for (const each of [bank, fresh, next]) each.release();
  }
}
