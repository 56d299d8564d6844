/** Drawings that are counted into blocks, and drawings that count back to what was counted. */

import { loadDigits } from "@ranksim/data";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countInk, drawingSize, spreadInk } from "../src/drawing/ink-blocks.ts";

const size = { width: 8, height: 8 };

describe("ink in blocks", () => {
  it("is counted pixel by pixel: four of a drawing are one of the data's", () => {
    const drawing = new Float64Array(64 * 64);
    const ink = (x: number, y: number) => {
      for (const at of [0, 1, 64, 65]) drawing[2 * y * 64 + 2 * x + at] = 1;
    };
    for (const [x, y] of [
      [0, 0],
      [3, 3],
      [4, 0],
      [31, 31],
    ])
      ink(x, y);
    const counts = countInk(drawing, size, 4);
    expect([counts[0], counts[1], counts[63]]).toEqual([2, 1, 1]);
    expect(counts.reduce((sum, value) => sum + value)).toBe(4);
    expect(drawingSize(size, 4)).toEqual({ width: 64, height: 64 });
  });

  it("spreads so that it counts back, for any numbers and for all digits", async () => {
    const counted = fc.array(fc.integer({ min: 0, max: 16 }), { minLength: 64, maxLength: 64 });
    fc.assert(
      fc.property(counted, (numbers) => {
        const values = Float64Array.from(numbers);
        expect(countInk(spreadInk(values, size, 4), size, 4)).toEqual(values);
      }),
      { numRuns: 50 },
    );
    const { x } = await loadDigits();
    for (let row = 0; row < x.rows; row += 97) {
      const values = Float64Array.from(x.slice(row, row + 1).values);
      expect(countInk(spreadInk(values, size, 4), size, 4)).toEqual(values);
    }
  });

  it("spreads a bar as a bar: no pixel of ink stands alone", () => {
    // The middle column half inked, its right neighbour full: the ink of the half goes to the side of the full one.
    const values = Float64Array.from({ length: 64 }, (_, j) => (j % 8 === 3 ? 8 : j % 8 === 4 ? 16 : 0));
    const drawing = spreadInk(values, size, 4);
    for (let y = 0; y < 64; y++) {
      const line = Array.from(drawing.subarray(y * 64 + 24, y * 64 + 40));
      expect(line).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    }
  });
});
