/** Golden vectors of ranks: doubled average-tie ranks, and draws from a distribution with ties averaged. */

import { Dense } from "@ranksim/core";
import { expect, it } from "vitest";
import { rankSumsOn } from "../backends/handles.ts";
import { platforms } from "../platforms.ts";
import { readGolden } from "./read-golden.ts";

const golden =
  readGolden<{ values: number[]; doubledRanks: number[]; distribution: number[]; weights: number[] }[]>("ranks");

it.each(platforms)("ranks on $title", async ({ open }) => {
  const backend = await open();
  const one = { offsets: Uint32Array.of(0, 1), rows: Uint32Array.of(0) };
  for (const { values, doubledRanks, distribution, weights } of golden) {
    const held = await backend.hold(Dense.of(Float64Array.from(values), 1, values.length));
    expect([...(await rankSumsOn(held, one)).weights]).toEqual(doubledRanks);
    const drawn = (await rankSumsOn(held, one, Float64Array.from(distribution))).weights;
    for (let i = 0; i < weights.length; i++) expect(Math.abs(drawn[i] - weights[i])).toBeLessThan(1e-9 * weights[i]);
    held.release();
  }
  await backend.close();
});
