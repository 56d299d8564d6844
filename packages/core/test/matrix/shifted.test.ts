/** Images and their copies moved by a pixel. */

import { describe, expect, it } from "vitest";
import { Dense } from "../../src/matrix/dense.ts";
import { toCsr } from "../../src/matrix/matrix.ts";
import { COPIES, copiesOf, withShifted } from "../../src/matrix/shifted.ts";

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

it("copiesOf lists rows with their copies", () => {
  expect(copiesOf(Uint32Array.of(0, 3), 5, 3)).toEqual(Uint32Array.of(0, 3, 5, 8, 10, 13));
});
