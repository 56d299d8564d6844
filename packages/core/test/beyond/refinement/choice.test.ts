/** Refinement as it was chosen with other rows: epoch by epoch what one bank by itself does. */

import { Dense, openBackend } from "@ranksim/core";
import { expect, it } from "vitest";
import { refineAs } from "../../../src/beyond/refinement/choice.ts";
import { prepareBank, refineBank, scheduleFor } from "../../../src/beyond/refinement/refine.ts";
import type { FilterBank } from "../../../src/kernels/shapes.ts";
import { drawBelow, generatorOf } from "../../../src/random.ts";

const generator = generatorOf(6);
const codes = Uint32Array.from({ length: 90 }, (_, r) => r % 3);
const x = Dense.fromRows(
  Array.from(codes, (c) => Array.from({ length: 12 }, (_, i) => drawBelow(generator, 20) + (i % 3 === c ? 6 : 0))),
);
const weights = Uint16Array.from({ length: 36 }, (_, j) => ((j % 12) + 5 * Math.floor(j / 12)) % 12);
const bank: FilterBank = { form: "dense", filters: 3, features: 12, weights, norm: Float64Array.of(1, 1, 1) };
const banks = [{ bank, filterClass: Uint32Array.of(0, 1, 2) }];
const all = Uint32Array.from(codes.keys());

it("makes as many epochs as were chosen, with the window that was chosen, of all rows", async () => {
  const backend = await openBackend("reference");
  const task = {
    x,
    codes,
    copies: 1,
    classes: 3,
    banks,
    distribution: undefined,
    epochs: 6,
    window: undefined,
    backend,
  };
  const chosen = { refined: true, heldOutRows: 9, before: 0.5, after: 0.6, window: 0.04, epochs: 4 };
  const told: number[] = [];
  const onEpoch = async (share: number) => void told.push(share);
  const found = await refineAs(chosen, { ...task, generator: generatorOf(8), onEpoch });
  expect(told).toEqual([1, 2, 3, 4].map((epoch) => epoch / 6));

  const held = await backend.hold(x, { filters: 3, searches: 6 });
  const schedule = await scheduleFor(x);
  const prepared = await prepareBank(held, true, bank, banks[0].filterClass, undefined, codes, all, schedule);
  let wanted: FilterBank | undefined;
  const onPart = async (done: number, filters: () => Promise<FilterBank>) => {
    if (done === 4) wanted = await filters();
  };
  const settings = { window: 0.04, epochs: 6, until: 4, onEpoch: async () => {}, onPart };
  await refineBank(prepared, schedule, settings, generatorOf(8));
  held.release();
  expect(found.banks[0].bank).toEqual(wanted);
  expect(found.banks[0].bank).not.toEqual(bank);
  expect(found.report).toMatchObject({ refined: true, window: 0.04, epochs: 4 });

  const plain = { refined: false, heldOutRows: 9, before: 0.5, after: 0.5 };
  expect((await refineAs(plain, { ...task, generator: generatorOf(8), onEpoch })).banks).toBe(banks);
  expect(told).toHaveLength(4);
  await backend.close();
});
