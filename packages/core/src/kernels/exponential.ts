/** exp and ln from + - * / alone: those of Math differ between engines in the last bit. */

/** exp(x) for |x| <= 1/100: its Taylor polynomial, within 1e-16. */
export function smallExp(x: number): number {
  return 1 + x * (1 + (x / 2) * (1 + (x / 3) * (1 + (x / 4) * (1 + (x / 5) * (1 + (x / 6) * (1 + x / 7))))));
}

/** exp(x) for x from -1,000 to 0 within 1e-10 of itself: exp(x / 2^17), squared 17 times. */
export function tailExp(x: number): number {
  let power = smallExp(x / 131_072);
  for (let j = 0; j < 17; j++) power *= power;
  return power;
}

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
