/** The one form in which a bank is stored: by the definition, on either side of where it changes. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalBank } from "../../src/bank/bank.ts";
import type { DenseBank } from "../../src/kernels/shapes.ts";

/** Weights that are not their filter's most frequent one, by counting each. */
function exceptionsOf({ filters, features, weights }: DenseBank): number {
  let sum = 0;
  for (let f = 0; f < filters; f++) {
    const own = Array.from(weights.subarray(f * features, (f + 1) * features));
    sum += features - Math.max(...own.map((weight) => own.filter((each) => each === weight).length));
  }
  return sum;
}

describe("the stored form of a bank", () => {
  it("is sparse where that takes less than half the bytes", () => {
    const forms = new Set<string>();
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 2, max: 80 }),
        fc.array(fc.integer({ min: 0, max: 29 }), { minLength: 400, maxLength: 400 }),
        fc.integer({ min: 1, max: 30 }),
        (filters, features, drawn, others) => {
          // One in `others` weights differs from the common one.
          const weights = Uint16Array.from({ length: filters * features }, (_, e) =>
            Math.max(0, drawn[e] - 30 + others),
          );
          const bank: DenseBank = {
            form: "dense",
            filters,
            features,
            weights,
            norm: new Float64Array(filters).fill(1),
          };
          const isSparse = 2 * (exceptionsOf(bank) * 6 + 12 * filters) < filters * features * 2;
          const { form } = canonicalBank(bank);
          forms.add(form);
          expect(form).toBe(isSparse ? "sparse" : "dense");
        },
      ),
      { numRuns: 300, seed: 1 },
    );
    expect([...forms].sort()).toEqual(["dense", "sparse"]);
  });
});
