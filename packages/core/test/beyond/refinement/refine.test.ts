/** How rows move prototypes: what the method decides before any update. */

import { expect, it } from "vitest";
import { ADDING, MULTIPLYING, searchesFor, windowsFor } from "../../../src/beyond/refinement/refine.ts";

it("windows grow with the root of the epochs beyond 12, and no further than a row can lead", () => {
  expect(windowsFor(ADDING, 3)).toEqual(ADDING.windows);
  expect(windowsFor(ADDING, 12)).toEqual(ADDING.windows);
  expect(windowsFor(ADDING, 48)).toEqual(ADDING.windows.map((window) => 2 * window));
  expect(windowsFor(MULTIPLYING, 1_000_000)).toEqual([1, 1]);
});

it("searches filters twice in any number of epochs that has room for it, and oftener in many", () => {
  const searched = (epochs: number) => {
    const { refresh, late } = searchesFor(ADDING, epochs);
    const all = Array.from({ length: epochs }, (_, epoch) => epoch);
    return all.filter((epoch) => epoch > 0 && epoch % refresh === 0 && epoch + late < epochs);
  };
  expect(searched(1)).toEqual([]);
  expect(searched(2)).toEqual([1]);
  expect(searched(3)).toEqual([1, 2]);
  expect(searched(6)).toEqual([2, 4]);
  expect(searched(12)).toEqual([4, 8]);
  expect(searched(24)).toEqual([4, 8, 12, 16, 20]);
  expect(searched(26)).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22]);
  expect(searchesFor(MULTIPLYING, 4)).toEqual({ refresh: 1, late: 0 });
});
