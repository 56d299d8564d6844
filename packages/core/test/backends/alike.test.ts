/** Rows that are searched next to rows like them, where there are many filters, have the answers of the plain loops. */

import { type Backend, Dense, type HeldBank, openBackend } from "@ranksim/core";
import { describe, expect, it } from "vitest";
import { membersOf } from "../../src/bank/assignment.ts";
import { pickGroups, singletons } from "../../src/bank/groups.ts";
import { drawBelow, generatorOf } from "../../src/random.ts";
import { isFull } from "../tier.ts";

const ROWS = 1500;
const FEATURES = 200;
const KINDS = 12;

/** Rows of some kinds, by turns. */
function makeRows(): Dense {
  const generator = generatorOf(5);
  const kinds = Uint8Array.from({ length: KINDS * FEATURES }, () => drawBelow(generator, 200));
  const values = new Uint8Array(ROWS * FEATURES);
  for (let r = 0; r < ROWS; r++) {
    for (let i = 0; i < FEATURES; i++) {
      values[r * FEATURES + i] = kinds[(r % KINDS) * FEATURES + i] + drawBelow(generator, 50);
    }
  }
  return Dense.of(values, ROWS, FEATURES);
}

const x = makeRows();
const numbers = (count: number, step = 1): Uint32Array => Uint32Array.from({ length: count }, (_, j) => j * step);

/** Winners of three rounds, the strongest filters of some rows, and the work done. */
async function answers(backend: Backend, filters: number, small = false) {
  const held = await backend.hold(x, { filters, searches: 5 });
  // Rows that were first searched for few filters know of no landmarks.
  const few = small ? [...(await held.topFilters(await held.rank(singletons(numbers(300))), 1)).filter] : [];
  let bank: HeldBank = await held.rank(singletons(numbers(filters)));
  let before: Awaited<ReturnType<typeof held.assign>> | undefined;
  const rounds: number[][] = [];
  for (let round = 0; round < 3; round++) {
    const assignment = await held.assign(bank, before);
    rounds.push([...assignment.winners]);
    const won = numbers(filters).filter((f) => assignment.wins[f] > 0 && (round === 0 || assignment.changed[f] === 1));
    const fresh = await held.rank(pickGroups(membersOf(assignment), won));
    bank = await bank.replace(won, fresh);
    before = assignment;
  }
  const { filter, response } = await held.topFilters(bank, 3, numbers(500, 3));
  const { pairs, exact } = held.work();
  held.release();
  return { found: { few, rounds, filter, response }, share: exact / pairs };
}

describe("rows next to rows like them", () => {
  it.each(isFull ? [1023, 1024, 1100] : [1024])(
    "have the answers of the plain loops to %i filters",
    async (filters) => {
      const [plain, fast] = [await openBackend("reference"), await openBackend("wasm")];
      for (const small of [false, true]) {
        const expected = await answers(plain, filters, small);
        const { found, share } = await answers(fast, filters, small);
        expect(found).toEqual(expected.found);
        expect(share).toBeLessThan(0.5); // by bounds, so that there was an order
      }
      await plain.close();
      await fast.close();
    },
  );
});
