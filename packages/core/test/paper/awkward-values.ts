/** Columns of numbers that are hard on a density: heavy tails, tiny spreads, few distinct values, large offsets. */

import fc from "fast-check";

/** Between `least` and `most` numbers of one kind. */
export function awkwardValues(least: number, most: number): fc.Arbitrary<number[]> {
  const unit = fc.integer({ min: -1e9, max: 1e9 }).map((u) => u / 1e9);
  const kinds: fc.Arbitrary<number>[] = [
    unit,
    unit.map((u) => Math.tan(1.57 * u)), // heavy tails: up to 1,000 times the usual size
    unit.map((u) => 1e6 + 1e-3 * u),
    unit.map((u) => 1e-7 * u),
    unit.map((u) => 1e5 * u),
    fc.constantFrom(0, 1),
    fc.constantFrom(-2, 0, 0.5),
    fc.oneof({ weight: 30, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: unit }),
    fc.integer({ min: 0, max: 255 }),
  ];
  return fc.oneof(...kinds.map((kind) => fc.array(kind, { minLength: least, maxLength: most, size: "max" })));
}
