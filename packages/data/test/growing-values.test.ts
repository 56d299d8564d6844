import { narrowest } from "@ranksim/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { GrowingIndices, GrowingValues, narrowed } from "../src/growing-values.ts";

const number = fc.oneof(
  fc.integer({ min: 0, max: 255 }),
  fc.integer({ min: -40000, max: 70000 }),
  fc.constantFrom(255, 256, 65535, 65536, -1, -32768, -32769, 32767, 32768, 0.5, 0.1, 2 ** 24, 2 ** 24 + 1, 1e300),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

test("numbers end in the type that core chooses, in whatever order they come", () => {
  fc.assert(
    fc.property(fc.array(number, { maxLength: 40 }), (numbers) => {
      const growing = new GrowingValues();
      for (const value of numbers) growing.push(value);
      const expected = narrowest(Float64Array.from(numbers, (value) => value + 0));
      expect(growing.finish()).toEqual(expected);
      const inRows = new GrowingValues();
      for (let i = 0; i < numbers.length; i += 3) {
        const row = numbers.slice(i, i + 3);
        expect(inRows.pushAll(Float64Array.of(Number.NaN, ...row), [...row.keys(), 0])).toBe(false);
        expect(
          inRows.pushAll(
            Float64Array.of(Number.NaN, ...row),
            row.map((_, j) => j + 1),
          ),
        ).toBe(true);
      }
      expect(inRows.finish()).toEqual(expected);
      expect(narrowed(Float64Array.from(numbers))).toEqual(narrowest(Float64Array.from(numbers)));
    }),
    { numRuns: 2000 },
  );
});

test("lists grow", () => {
  const values = new GrowingValues();
  const indices = new GrowingIndices();
  for (let i = 0; i < 10000; i++) {
    values.push(i % 300);
    indices.push(i * 400000);
  }
  expect(values.finish()).toEqual(Uint16Array.from({ length: 10000 }, (_, i) => i % 300));
  expect(indices.finish()).toEqual(Uint32Array.from({ length: 10000 }, (_, i) => i * 400000));
});

test("an array that is narrow already is not copied", () => {
  const bytes = Uint8Array.of(1, 2);
  expect(narrowed(bytes)).toBe(bytes);
});
