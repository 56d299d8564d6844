/** Rows held out of training: how many of each class, which never, and always the same. */

import fc from "fast-check";
import { expect, it } from "vitest";
import { holdOut } from "../../src/beyond/held-out.ts";
import { generatorOf } from "../../src/random.ts";

it("holds out its share of each class, never a whole class, never a row that must train, by the seed alone", () => {
  const codesOf = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 80 });
  fc.assert(
    fc.property(codesOf, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(20), (list, share, kept) => {
      const codes = Uint32Array.from(list);
      const { train, heldOut } = holdOut(codes, 4, share, generatorOf(3), [kept]);
      expect([...train, ...heldOut].sort((a, b) => a - b)).toEqual([...codes.keys()]);
      expect([...train]).toEqual([...train].sort((a, b) => a - b));
      expect(heldOut).not.toContain(kept);
      for (let c = 0; c < 4; c++) {
        const all = list.filter((code) => code === c).length;
        const mine = [...heldOut].filter((r) => codes[r] === c).length;
        const wanted = Math.min(Math.round(all * share), Math.max(0, all - 1));
        const free = list.filter((code, r) => code === c && r !== kept).length;
        expect(mine).toBe(Math.min(wanted, free));
      }
      expect(holdOut(codes, 4, share, generatorOf(3), [kept])).toEqual({ train, heldOut });
    }),
  );
});
