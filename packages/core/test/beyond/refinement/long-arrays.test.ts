import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { Turn } from "../../../src/backends/turn.ts";
import { inChunks, positiveQuantile } from "../../../src/beyond/refinement/long-arrays.ts";

const turn = new Turn();

it("selects what sorting finds", async () => {
  const number = fc.oneof(fc.double({ noNaN: true }), fc.constantFrom(0, -0, 1, 2, 5e-324, 1.5), fc.nat(9));
  await fc.assert(
    fc.asyncProperty(fc.array(number, { maxLength: 60 }), fc.constantFrom(0, 0.1, 0.5, 1), async (list, share) => {
      const values = Float64Array.from(list);
      const sorted = values.filter((value) => value > 0).sort();
      expect(await positiveQuantile(values, share, turn)).toBe(sorted[Math.floor(share * (sorted.length - 1))]);
      expect(values).toEqual(Float64Array.from(list));
    }),
    { numRuns: 300 },
  );
});

it("goes through long arrays once, in order, with turns between", async () => {
  const length = 3_000_001;
  let next = 0;
  let turns = 0;
  // Every look at the clock finds that a stretch of computing is over.
  let now = performance.now();
  const clock = vi.spyOn(performance, "now").mockImplementation(() => {
    now += 1000;
    return now;
  });
  await inChunks(length, turn, (from, to) => {
    expect(from).toBe(next);
    next = to;
    setImmediate(() => turns++);
  });
  clock.mockRestore();
  expect(next).toBe(length);
  expect(turns).toBeGreaterThan(1);
});
