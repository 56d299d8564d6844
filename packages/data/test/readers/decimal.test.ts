import fc from "fast-check";
import { expect, test } from "vitest";
import { decimalOf, numberOf } from "../../src/readers/decimal.ts";

const parsed = (text: string) => {
  const bytes = new TextEncoder().encode(`x${text}7`);
  return numberOf(bytes, 1, bytes.length - 1);
};

test("numbers are read as JavaScript reads them, to the last bit", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ min: 0, max: 3 }), (value, form) => {
      const text = [String(value), value.toExponential(), value.toPrecision(12), value.toFixed(4)][form];
      expect(parsed(text)).toBe(Number(text));
    }),
    { numRuns: 5000 },
  );
});

test("numbers of up to 20 digits are rounded once, also at and beside the middle of two", () => {
  // Between 2^53 and 2^54 odd numbers are in the middle of two float64; so are they times and over powers of two.
  const middle = fc
    .tuple(fc.bigInt({ min: 2n ** 52n, max: 2n ** 53n - 1n }), fc.integer({ min: -4, max: 10 }), fc.bigInt(-2n, 2n))
    .map(([half, power, beside]): [bigint, number] => {
      const odd = 2n * half + 1n;
      return power < 0 ? [odd * 5n ** BigInt(-power) + beside, -power] : [odd * 2n ** BigInt(power) + beside, 0];
    });
  const any = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.integer({ min: 0, max: 26 }));
  fc.assert(
    fc.property(fc.oneof(middle, any), fc.boolean(), ([whole, decimals], isNegative) => {
      const spelled = String(whole).padStart(decimals + 1, "0");
      const point = spelled.length - decimals;
      const text = `${isNegative ? "-" : ""}${spelled.slice(0, point)}.${spelled.slice(point)}`;
      expect(parsed(text)).toBe(Number(text));
      expect(parsed(`${whole}e-${decimals}`)).toBe(Number(`${whole}e-${decimals}`));
    }),
    { numRuns: 5000 },
  );
});

test("long digits, leading zeros, signs and exponents take the careful way", () => {
  for (const text of [
    "00012.50",
    "+.5",
    "5.",
    "9007199254740993",
    "0.1234567890123456789",
    "1e23",
    "1E-30",
    "-0",
    "4.9e-324",
  ]) {
    expect(parsed(text)).toBe(Number(text));
  }
});

test("what is no decimal number is NaN", () => {
  for (const text of ["", "-", ".", "e5", "1e", "1e+", "1.2.3", "0x10", "1_0", "1 2", "inf", "Infinity", "nan", "１"]) {
    expect(parsed(text)).toBeNaN();
  }
});

test("decimals are the numbers that their digits spell", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
      fc.integer({ min: 0, max: 100 }),
      (digits, scale) => {
        const spelled =
          digits < 0n ? `-${String(-digits).padStart(scale + 1, "0")}` : String(digits).padStart(scale + 1, "0");
        const text = scale === 0 ? spelled : `${spelled.slice(0, -scale)}.${spelled.slice(-scale)}`;
        expect(decimalOf(digits, scale)).toBe(Number(text));
      },
    ),
    { numRuns: 2000 },
  );
});
