/** Images and their copies moved by a pixel. */

import { describe, expect, it } from "vitest";
import { Dense } from "../../src/matrix/dense.ts";
import { copiesOf, shiftedCopy } from "../../src/matrix/shifted.ts";

describe("shiftedCopy", () => {
  // Two pixels across, two down, two values each.
  const image = [1, 2, 3, 4, 5, 6, 7, 8];
  const [left, right, up, down] = [
    [3, 4, 3, 4, 7, 8, 7, 8],
    [1, 2, 1, 2, 5, 6, 5, 6],
    [5, 6, 7, 8, 5, 6, 7, 8],
    [1, 2, 3, 4, 1, 2, 3, 4],
  ];
  const x = Dense.of(Uint8Array.from([...image, ...image, ...image]), 3, 8);

  it("moves pixels with all their values, images in turn in other directions", () => {
    const moved = (copy: number, first: number) =>
      Array.from(shiftedCopy(x, { width: 2, channels: 2 }, copy, first).values);
    expect(moved(1, 0)).toEqual([...left, ...right, ...up]);
    expect(moved(2, 0)).toEqual([...right, ...up, ...down]);
    expect(moved(1, 2)).toEqual([...up, ...down, ...left]);
    expect(moved(4, 0)).toEqual([...down, ...left, ...right]);
  });
});

it("copiesOf lists rows with their copies", () => {
  expect(copiesOf(Uint32Array.of(0, 3), 5, 3)).toEqual(Uint32Array.of(0, 3, 5, 8, 10, 13));
});
