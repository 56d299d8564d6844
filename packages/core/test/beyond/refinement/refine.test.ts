/** How rows move prototypes: what the method decides before any update. */

import { expect, it } from "vitest";
import { ADDING, MULTIPLYING, windowsFor } from "../../../src/beyond/refinement/refine.ts";

it("windows grow with the root of the epochs beyond 12, and no further than a row can lead", () => {
  expect(windowsFor(ADDING, 3)).toEqual(ADDING.windows);
  expect(windowsFor(ADDING, 12)).toEqual(ADDING.windows);
  expect(windowsFor(ADDING, 48)).toEqual(ADDING.windows.map((window) => 2 * window));
  expect(windowsFor(MULTIPLYING, 1_000_000)).toEqual([1, 1]);
});
