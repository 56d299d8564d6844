/** Strokes on small grids, with expectations that can be seen with the eye. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { brushRadius, stroke } from "../src/drawing/brush.ts";

const ink = { low: 0, high: 16, whole: true };

const grid = (values: Float64Array, width: number) =>
  Array.from({ length: values.length / width }, (_, y) => Array.from(values.subarray(y * width, (y + 1) * width)));

describe("the brush", () => {
  it("fills the cells it goes through and half of those it touches", () => {
    const values = new Float64Array(25);
    stroke(values, { width: 5, height: 5 }, { x: 2.5, y: 1.5 }, { x: 2.5, y: 3.5 }, 1, ink, false);
    // Reach is 1.5: full within 0.5 of the line, half at a distance of 1, diagonal ends at sqrt(2).
    const corner = Math.round(16 * (1.5 - Math.SQRT2));
    expect(grid(values, 5)).toEqual([
      [0, corner, 8, corner, 0],
      [0, 8, 16, 8, 0],
      [0, 8, 16, 8, 0],
      [0, 8, 16, 8, 0],
      [0, corner, 8, corner, 0],
    ]);
  });

  it("erases what it drew", () => {
    const values = new Float64Array(25).fill(16);
    const [from, to] = [
      { x: 2.5, y: 2.5 },
      { x: 2.5, y: 2.5 },
    ];
    stroke(values, { width: 5, height: 5 }, from, to, 1, ink, true);
    expect(values[12]).toBe(0);
    expect(values[11]).toBe(8);
    expect(values[0]).toBe(16);
  });

  it("only adds ink when it draws, only takes it when it erases, and stays within the picture's values", () => {
    const point = fc.record({
      x: fc.double({ min: -5, max: 15, noNaN: true }),
      y: fc.double({ min: -5, max: 15, noNaN: true }),
    });
    const before = fc.array(fc.integer({ min: 0, max: 16 }), { minLength: 80, maxLength: 80 });
    fc.assert(
      fc.property(
        before,
        point,
        point,
        fc.double({ min: 0.5, max: 4, noNaN: true }),
        fc.boolean(),
        (given, a, b, r, erase) => {
          const values = Float64Array.from(given);
          stroke(values, { width: 10, height: 8 }, a, b, r, ink, erase);
          values.forEach((value, p) => {
            expect(Number.isInteger(value) && value >= 0 && value <= 16).toBe(true);
            expect(erase ? value <= given[p] : value >= given[p]).toBe(true);
          });
        },
      ),
    );
  });

  it("is about a twentieth of a picture wide to each side, and never too fine to see", () => {
    expect(brushRadius({ width: 28, height: 28 }, 1)).toBeCloseTo(1.4);
    expect(brushRadius({ width: 8, height: 8 }, 1)).toBe(0.55);
  });
});
