/** The natural logarithm from + - * / alone: Math.log differs between engines in the last bit. */

/** Terms of the series; with |t| <= 0.172 the next one is below 1e-17. */
const TERMS = 11;

/** ln(x) for x from 1e-300 to 1e300, within 1e-15 of max(1, |ln x|). */
export function naturalLog(x: number): number {
  let mantissa = x;
  let exponent = 0;
  for (; mantissa > Math.SQRT2; exponent++) mantissa /= 2;
  for (; mantissa < Math.SQRT1_2; exponent--) mantissa *= 2;
  // ln m = 2 artanh((m - 1) / (m + 1)).
  const t = (mantissa - 1) / (mantissa + 1);
  let sum = 0;
  for (let j = TERMS - 1; j >= 0; j--) sum = sum * (t * t) + 1 / (2 * j + 1);
  return exponent * Math.LN2 + 2 * t * sum;
}
