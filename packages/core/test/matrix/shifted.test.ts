/** Images and their copies moved by a pixel. */

import { describe, expect, it } from "vitest";
import { Dense } from "../../src/matrix/dense.ts";
import { toCsr } from "../../src/matrix/matrix.ts";
import { COPIES, copiesOf, shiftedCopy, withShifted } from "../../src/matrix/shifted.ts";

describe("withShifted", () => {
  const x = Dense.of(Uint16Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), 2, 6);

  it("moves images of 3 x 2 pixels to each side and repeats their edges", () => {
    const all = withShifted(x, 3);
    expect(all.rows).toBe(2 * COPIES);
    expect(all.values).toBeInstanceOf(Uint16Array);
    const first = Array.from({ length: COPIES }, (_, copy) => Array.from(all.row(2 * copy)));
    expect(first).toEqual([
      [1, 2, 3, 4, 5, 6],
      [2, 3, 3, 5, 6, 6],
      [1, 1, 2, 4, 4, 5],
      [4, 5, 6, 4, 5, 6],
      [1, 2, 3, 1, 2, 3],
    ]);
    expect(Array.from(all.row(3))).toEqual([8, 9, 9, 11, 12, 12]);
  });

  it("refuses rows that are not images of that width", () => {
    expect(() => withShifted(x, 4)).toThrow("expected a width that divides the 6 features of a row, found 4");
    expect(() => withShifted(toCsr(x), 3)).toThrow("expected dense rows");
  });
});

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
